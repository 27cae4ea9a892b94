"""A reader that Spark does not wait for: the query begins again, in the same Spark."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from aspen.spark import engine as engines
from aspen.spark.engine import Ending, Engine

LATE = "[STREAM_FAILED] Query [id = 1] terminated with exception: " + engines.WORKER_LATE


class Query:
    """One that has ended already.

    Args:
        said: how it failed.
    """

    id, isActive = "generation", False  # noqa: N815  # Spark's names

    def __init__(self, said):
        self.said = said

    def exception(self):
        return RuntimeError(self.said)


@pytest.fixture
def started(config, monkeypatch):
    """Returns a function that runs an engine with queries that fail so, and what came of it."""

    def run(*failures):
        said, starts = [], iter(failures)
        engine = Engine(config, lambda event, **_fields: said.append(event), SimpleNamespace())
        monkeypatch.setattr(Engine, "_start_query", lambda *_: Query(next(starts)))
        return engine.run(), said

    return run


def test_a_query_whose_reader_was_late_begins_again(started):
    ending, said = started(LATE, LATE, "something else")
    assert ending is Ending.FAILED
    assert said.count("query_starts_again") == 2
    assert said.count("query_started") == 3


def test_any_other_failure_ends_the_engine(started):
    ending, said = started("something else", LATE)
    assert ending is Ending.FAILED
    assert "query_starts_again" not in said
