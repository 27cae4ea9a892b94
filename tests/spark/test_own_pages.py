"""Spark's own pages: off unless asked for, and then on the loopback interface alone."""

from __future__ import annotations

import os

import pytest

from smartcis.management.commands import engine as command


class Told(Exception):
    """What the engine would have been started with."""


@pytest.fixture
def started(monkeypatch):
    def engine(config, _say):
        raise Told(dict(config.settings))

    monkeypatch.setattr(command, "Engine", engine)

    def start() -> dict:
        with pytest.raises(Told) as told:
            command.Command().handle(lanes=1, supervised=False)
        return told.value.args[0]

    return start


def test_they_are_off_unless_asked_for(started):
    assert started() == {}


def test_they_are_for_this_host_alone(started, settings):
    settings.SPARK_UI = 4040
    pages = started()
    assert (pages["spark.ui.enabled"], pages["spark.ui.port"]) == ("true", "4040")
    assert pages["spark.ui.killEnabled"] == "false"


def test_nothing_of_spark_is_reached_from_other_hosts(session):
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert session.conf.get("spark.driver.host") == "127.0.0.1"
