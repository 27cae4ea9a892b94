"""An error nobody foresaw: the log has its traceback under the id that the user's error carries."""

from __future__ import annotations

from dataclasses import replace

from views.lanes import Driver

from aspen.log.entry import OneTimeQuery
from aspen.runtime import one_time_queries, views
from aspen.views.operators.distinct import DistinctOperator


def fail(*_args, **_kwargs):
    raise ZeroDivisionError("in the works")


def check(error, caplog) -> str:
    """Checks the fields of an error against the log; returns the id."""
    assert error["code"] == "aspen.internal"
    assert "ZeroDivisionError: in the works" in error["message"]
    found = error["found"].rpartition(" ")[2]
    assert found in error["found"]
    assert "id" in error["try"]
    logged = [record for record in caplog.records if found in record.getMessage()]
    assert logged
    assert all(record.exc_info[2].tb_next is not None for record in logged)
    return found


def test_of_an_operator(monkeypatch, caplog) -> None:
    ids = set()
    for _ in range(2):  # every lane and every replay finds the same id
        driver = Driver("either", "last")
        with monkeypatch.context() as patched:
            patched.setattr(DistinctOperator, "step", fail)
            changes = {one.view: one for one in driver.change(("pair", 1, (7, 8)))}
        ids.add(check(changes["either"].error, caplog))
    assert len(ids) == 1


def test_of_a_registration(monkeypatch, caplog) -> None:
    driver = Driver("either")
    entry = driver.lane.views.by_name["either"].entry
    monkeypatch.setattr(views, "inline", fail)
    changes = {one.view: one for one in driver.take(replace(entry, view="another"))}
    check(changes["another"].error, caplog)


def test_of_a_question(monkeypatch, caplog) -> None:
    driver = Driver("reach")
    monkeypatch.setattr(one_time_queries, "answer_rows", fail)
    changes = {one.view: one for one in driver.take(OneTimeQuery(1.0, "q", "reach", (1, 4)))}
    check(changes["why:q"].error, caplog)
