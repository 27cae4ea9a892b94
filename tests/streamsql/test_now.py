"""The log's time in a query: what it is called, its types, and that answers follow the ticks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.log.entry import (
    Change,
    Declare,
    OneTimeKind,
    OneTimeQuery,
    Register,
    Tick,
    Transaction,
)
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, columns_of
from aspen.runtime.lane import Lane
from aspen.runtime.own_relations import CLOCK
from aspen.streamsql import compile_query
from aspen.streamsql.errors import UnknownColumn, UnknownFunction
from tests.oracle import evaluate

BOOKING = Relation("booking", columns_of("rid TEXT, starts_s FLOAT, ends_s FLOAT"))
CATALOG = Catalog.of((BOOKING, CLOCK))
NOON_S = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
MOMENT = "2026-11-23 12:00:00+00"
IS_ON = """SELECT rid FROM booking
WHERE to_timestamp(starts_s) <= now() AND now() < to_timestamp(ends_s)"""
QUERIES = (
    IS_ON,
    "SELECT rid, now() - to_timestamp(starts_s) AS since_s FROM booking",
    "SELECT COUNT(*) AS n FROM booking WHERE starts_s > epoch(now())",
    """SELECT rid, MAX(ends_s) AS until_s FROM booking GROUP BY rid
    HAVING MAX(ends_s) > epoch(now())""",
    "SELECT rid, COUNT(*) FILTER (WHERE ends_s < epoch(now())) AS n FROM booking GROUP BY rid",
    """SELECT rid, LEAD(starts_s, 1, epoch(now())) OVER (PARTITION BY rid ORDER BY starts_s) AS s
    FROM booking""",
    "SELECT rid FROM booking ORDER BY abs(starts_s - epoch(now())) LIMIT 1",
    """SELECT a.rid FROM booking a LEFT JOIN booking b ON b.starts_s = a.ends_s
    WHERE b.rid IS NULL AND to_timestamp(a.ends_s) > now()""",
)


def plan_of(sql: str):
    return compile_query(sql, CATALOG).plan


class Driver:
    def __init__(self, lane: Lane | None = None) -> None:
        self.lane, self.position = lane or Lane(), 0
        self.take(Declare(0.0, BOOKING))

    def take(self, *entries):
        batch = list(enumerate(entries, start=self.position + 1))
        self.position += len(batch)
        return self.lane.apply(batch)

    def tables(self):
        return {name: source.table for name, source in self.lane.circuit.sources.items()}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("now()", MOMENT),
        ("NOW()", MOMENT),
        ("current_timestamp", MOMENT),
        ("CURRENT_TIMESTAMP()", MOMENT),
        ("localtimestamp", "2026-11-23 12:00:00"),
        ("current_date", "2026-11-23"),
        ("today()", "2026-11-23"),
        ("current_date + INTERVAL '1 day'", "2026-11-24 00:00:00"),
        ("current_time", "12:00:00"),
        ("EXTRACT(HOUR FROM now() AT TIME ZONE 'Europe/Berlin')", 13),
        ("age(now(), TIMESTAMPTZ '2026-11-23 11:00:00+00')", 3600.0),
    ],
)
def test_it_is_the_ticks(written, value):
    driver = Driver()
    plan = plan_text(plan_of(f"SELECT {written} AS t"))
    driver.take(Register(NOON_S, "v", plan), Tick(NOON_S))
    assert driver.lane.rows("v") == {(value,): 1}
    (answer,) = driver.take(OneTimeQuery(NOON_S, "q", "", (), OneTimeKind.ONCE, plan_text=plan))
    assert answer.delta == {(value,): 1}
    driver.take(Tick(NOON_S + 86_400))
    assert driver.lane.rows("v") == evaluate(plan_of(f"SELECT {written} AS t"), driver.tables())


def test_before_the_first_tick_it_is_null():
    driver = Driver()
    driver.take(Register(0.0, "v", plan_text(plan_of("SELECT now() AS t"))))
    assert driver.lane.rows("v") == {(None,): 1}


def test_it_is_asked_of_the_clock_once():
    plan = plan_of(
        "SELECT rid FROM booking WHERE starts_s < epoch(now()) AND ends_s > epoch(now())"
    )
    assert plan_text(plan).count("Scan clock") == 1


def test_a_column_of_that_name_is_quoted():
    dated = Catalog.of((Relation("note", columns_of("current_date TEXT")), CLOCK))
    plan = compile_query('SELECT "current_date", n.current_date AS other FROM note n', dated).plan
    assert "clock" not in plan_text(plan)


def test_it_takes_no_arguments_and_has_a_name():
    with pytest.raises(UnknownFunction) as caught:
        plan_of("SELECT getdat()")
    assert caught.value.position is not None
    with pytest.raises(UnknownColumn):
        plan_of("SELECT current_dat FROM booking")


bookings = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(-3, 3), st.integers(0, 3)), max_size=5, unique=True
)


@settings(max_examples=25, deadline=None)
@given(st.lists(bookings, min_size=1, max_size=4), st.data())
def test_answers_follow_the_ticks(batches, data):
    driver = Driver()
    plans = {f"v{number}": plan_of(sql) for number, sql in enumerate(QUERIES)}
    driver.take(*[Register(0.0, name, plan_text(plan)) for name, plan in plans.items()])
    held: set = set()
    for number, batch in enumerate(batches):
        now_s = NOON_S + number
        wanted = {(rid, NOON_S + at, NOON_S + at + lasts) for rid, at, lasts in batch}
        changes = [Change("booking", -1, row) for row in sorted(held - wanted)]
        changes += [Change("booking", 1, row) for row in sorted(wanted - held)]
        held = wanted
        driver.take(Transaction(now_s, tuple(changes)), Tick(now_s))
        if data.draw(st.booleans(), label="restart"):
            driver.lane = Lane.restore(driver.lane.snapshot())
        for name, plan in plans.items():
            assert driver.lane.rows(name) == evaluate(plan, driver.tables()), QUERIES[int(name[1:])]
