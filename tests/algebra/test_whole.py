"""Whole numbers have 64 bits: what DuckDB refuses is refused, and everything else is the same."""

from __future__ import annotations

from datetime import timedelta

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aspen.algebra.whole import OutOfRange
from aspen.model.delta import delta_of
from aspen.model.schema import INT_LEAST, INT_MOST
from aspen.streamsql import compile_query
from aspen.streamsql.errors import SyntaxRefused
from aspen.views.evaluate_once import evaluate_once
from tests.streamsql.test_differential_duckdb import CATALOG

NUMBERS = st.one_of(
    st.integers(-9, 9),
    st.integers(INT_LEAST, INT_MOST),
    st.sampled_from([INT_LEAST, INT_LEAST + 1, INT_MOST, INT_MOST - 1, 3037000500, 3037000499]),
)
FORMS = (
    "v.x + v.y",
    "v.x - v.y",
    "v.x * v.y",
    "-v.x",
    "abs(v.x)",
    "v.x / nullif(v.y, 0)",
    "v.x + v.y - v.y",
    "CASE WHEN v.x < 10 THEN v.x - 100 ELSE v.x - v.y END",
    "CASE WHEN v.x > v.y THEN 1 WHEN v.x * v.x > 5 THEN 2 ELSE v.y END",
    "coalesce(CASE WHEN v.x > 0 THEN v.x END, v.y * v.y, 3)",
    "TRY_CAST(CAST(v.x AS FLOAT) * 2 AS BIGINT) IS NULL",
    "CAST(CAST(v.x AS FLOAT) * 2 AS BIGINT) IS NULL",
)
REFUSED = "out of range"
CONNECTION = duckdb.connect()
quick = settings(max_examples=100, deadline=timedelta(seconds=5))


def ours(query):
    try:
        return [row for row, n in evaluate_once(of(query), ()).items() for _ in range(n)]
    except OutOfRange:
        return REFUSED


def of(query):
    return compile_query(query, CATALOG).plan


def theirs(query):
    query = query.replace("FLOAT", "DOUBLE").replace("/", "//")
    try:
        return CONNECTION.execute(query).fetchall()
    except (duckdb.OutOfRangeException, duckdb.ConversionException):
        return REFUSED


def alike(one, other):
    return one == other or (REFUSED not in (one, other) and bag(one) == bag(other))


def bag(rows):
    return delta_of((row, 1) for row in rows)


def table(pairs):
    rows = (f"(CAST({x} AS BIGINT), CAST({y} AS BIGINT))" for x, y in pairs)
    return f"(VALUES {', '.join(rows)}) v(x, y)"


@given(st.sampled_from(FORMS), st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=3))
@example("v.x / nullif(v.y, 0)", [(INT_LEAST, -1)])
@example("-v.x", [(INT_LEAST, 1)])
@example("abs(v.x)", [(INT_LEAST, 1), (3, 3)])
@example(FORMS[7], [(INT_LEAST, 5)])
@quick
def test_differential_expressions(form, pairs):
    query = f"SELECT {form} FROM {table(pairs)}"
    assert alike(ours(query), theirs(query))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=3))
@example([(INT_MOST, INT_MOST)])
@quick
def test_conditions_that_cannot_fail_come_first(pairs):
    rows = table(pairs)
    both = f"SELECT v.x FROM {rows} WHERE v.x * v.x < 50 AND v.x BETWEEN -1000 AND 1000"
    assert bag(ours(both)) == bag((x,) for x, _ in pairs if x * x < 50)
    either = f"SELECT v.x FROM {rows} WHERE v.x > 500 OR v.x < -500 OR v.x * v.x < 50"
    assert bag(ours(either)) == bag((x,) for x, _ in pairs if abs(x) > 500 or x * x < 50)


@given(st.lists(NUMBERS, min_size=1, max_size=5))
@example([INT_MOST, 1])
@example([INT_LEAST, INT_LEAST, 1, INT_MOST, INT_MOST])
@quick
def test_a_sum_counts_when_all_are_in_it(values):
    query = f"SELECT sum(v.x) FROM {table((x, 0) for x in values)}"
    ((total,),) = CONNECTION.execute(query).fetchall()
    assert ours(query) == ([(total,)] if INT_LEAST <= total <= INT_MOST else REFUSED)


def test_the_error_says_what_came_out_and_what_to_do():
    with pytest.raises(OutOfRange) as caught:
        evaluate_once(of(f"SELECT {INT_MOST} + 1"), ())
    error = caught.value.as_dict()
    assert error["code"] == "aspen.algebra.out_of_range"
    assert error["found"] == f"{INT_MOST} + 1"
    assert "CAST(x AS FLOAT)" in error["try"]


def test_an_overflow_that_is_never_reached_is_none():
    assert ours(f"SELECT CASE WHEN 1 = 1 THEN 5 ELSE {INT_MOST} + 1 END") == [(5,)]


def test_literals():
    assert ours(f"SELECT {INT_LEAST}") == [(INT_LEAST,)]
    assert ours(f"SELECT - {INT_LEAST}") == REFUSED
    for large in (f"{INT_MOST + 1}", f"-{-INT_LEAST + 1}", "9" * 5000):
        with pytest.raises(SyntaxRefused, match="too large"):
            ours(f"SELECT {large}")
