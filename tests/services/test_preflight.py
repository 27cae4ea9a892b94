"""A start on a machine where something is missing: all of it is said, and nothing is begun."""

from __future__ import annotations

import socket

import pytest
from django.db import OperationalError, connection

from smartcis.services.preflight import missing, only_here, runs_already
from tests.ports import free_port


@pytest.mark.django_db
def test_nothing_is_missing_here():
    assert [one for one in missing(free_port()) if "pages are not built" not in one] == []


def test_all_that_is_missing_is_said_at_once(monkeypatch, settings, tmp_path):
    def refuse():
        raise OperationalError("no route to it\nand more")

    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{free_port()}/0")
    monkeypatch.setattr(connection, "ensure_connection", refuse)
    settings.FRONTEND_DIST = tmp_path
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        java, place, redis, database, pages = missing(port)
    assert "Java 17 or newer, and there is no" in java
    assert f"port {port} cannot be had (Address already in use)" in place
    assert "Redis server of REDIS_URL does not answer" in redis
    assert database.endswith("cannot be opened: no route to it")
    assert "pages are not built" in pages


@pytest.mark.parametrize("port", [0, -1, 70_000])
@pytest.mark.django_db
def test_what_is_no_port_is_said(port):
    assert any("no port" in one for one in missing(port))


def test_a_folder_has_one_product_at_a_time(tmp_path):
    first = only_here(tmp_path)
    assert first is not None
    assert only_here(tmp_path) is None
    assert "as process" in runs_already(tmp_path)
    first.close()
    again = only_here(tmp_path)
    assert again is not None
    again.close()
