"""differential_: arrays are DuckDB's, as values, in tables, and while what they hold changes."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamsql.duck import Duck, Unanswered, hashable
from streamsql.random_sql import CATALOG, TABLES, rows_of

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Transaction, decode, encode
from aspen.model.arrays import Array
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, SchemaError, columns_of
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.streamsql.errors import TypeMismatch, Unsupported
from aspen.views.evaluate_once import evaluate_once

OF_ONE = (
    *("length({0})", "array_length({0})", "len({0})", "{0}[1]", "{0}[-1]", "{0}[{n}]", "{0}[0]"),
    *("{0}[{n}:{m}]", "{0}[{n}:]", "{0}[:{n}]", "list_slice({0}, {n}, {m})", "{0} IS NULL"),
    *("list_extract({0}, {n})", "list_unique({0})", "list_sort({0})", "list_reverse_sort({0})"),
    *("list_reverse({0})", "array_reverse({0})", "list_min({0})", "list_max({0})"),
    *("list_count({0})", "CAST({0} AS TEXT)", "array_to_string({0}, '-')"),
    *("list_sort(list_distinct({0}))", "list_contains({0}, {v})", "list_position({0}, {v})"),
    *("{v} IN {0}", "{v} = ANY({0})", "list_append({0}, {v})", "list_prepend({v}, {0})"),
    *("array_has({0}, {v})", "contains({0}, {v})", "coalesce(NULL, {0})", "nullif({0}, {0})"),
)
OF_TWO = (
    *("{0} = {1}", "{0} <> {1}", "{0} < {1}", "{0} <= {1}", "{0} > {1}", "{0} >= {1}"),
    *("list_concat({0}, {1})", "list_has_any({0}, {1})", "list_has_all({0}, {1})"),
    *("{0} IS DISTINCT FROM {1}", "list_sort(list_intersect({0}, {1}))"),
    *("{0} || {1}", "CASE WHEN {0} < {1} THEN {0} ELSE {1} END"),
)
OF_NUMBERS = ("list_sum({0})", "list_avg({0})")
OF_TEXTS = (
    *("string_split({0}, {1})", "str_split({0}, {1})", "string_to_array({0}, ',')"),
    *("{0}[{n}]", "{0}[{n}:{m}]", "len(string_split({0}, {1}))"),
)
numbers = st.integers(-3, 3)
words = st.sampled_from(
    ["a", "b c", "", "null", "it's", "[x]", "a,b", " x", '"', "k:v", "a=b", "\\"]
)


def written(value):
    return "NULL" if value is None else str(value) if isinstance(value, int) else _text(value)


def _text(value):
    return "'" + value.replace("'", "''") + "'"


def array_of(values):
    """Arrays as they are written, sometimes none."""
    kind = "INT[]" if values is numbers else "VARCHAR[]"
    lists = st.lists(st.none() | values, max_size=4)
    spelt = lists.map(lambda some: f"CAST([{', '.join(map(written, some))}] AS {kind})")
    return spelt | st.just(f"CAST(NULL AS {kind})")


@pytest.fixture(scope="module")
def duck():
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
    return connection


def ours(query):
    plan = compile_query(query, CATALOG).plan
    ((row, _),) = evaluate_once(plan, CATALOG.relations.values()).items()
    return row


def theirs(duck, query):
    (row,) = duck.execute(query).fetchall()
    return hashable(row)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from([numbers, words]))
def test_differential_functions_of_arrays_give_duckdbs_values(duck, data, values):
    one, other = data.draw(array_of(values)), data.draw(array_of(values))
    n, m, v = data.draw(numbers), data.draw(numbers), written(data.draw(values))
    asked = (*OF_ONE, *OF_TWO, *(OF_NUMBERS if values is numbers else ()))
    agree(duck, [template.format(one, other, n=n, m=m, v=v) for template in asked])


@settings(max_examples=20, deadline=None)
@given(st.text("ab, ", max_size=6), st.sampled_from([",", "a", ", ", "", "ab"]), numbers, numbers)
def test_differential_functions_of_texts_give_duckdbs_values(duck, text, between, n, m):
    asked = [template.format(_text(text), _text(between), n=n, m=m) for template in OF_TEXTS]
    agree(duck, asked)


def agree(duck, asked):
    query = f"SELECT {', '.join(asked)}"
    for one, our, their in zip(asked, ours(query), theirs(duck, query), strict=True):
        assert our == their, one


def test_an_array_is_ordered_by_its_values_nulls_last():
    arrays = [Array(one) for one in ((), (1,), (1, 2), (1, None), (2,), (None,), (None, 1))]
    for i, one in enumerate(arrays):
        for k, other in enumerate(arrays):
            found = (one < other, one <= other, one > other, one >= other, one == other)
            assert found == (i < k, i <= k, i > k, i >= k, i == k), (one, other)


QUERIES = (
    "SELECT array_agg(a ORDER BY a) AS x FROM t",
    """SELECT b, array_agg(a ORDER BY a DESC) AS x, list(c ORDER BY c NULLS FIRST) AS y
    FROM t GROUP BY b""",
    "SELECT b, array_agg(b) AS x FROM t GROUP BY b",
    "SELECT c, array_agg(DISTINCT b ORDER BY b NULLS FIRST) AS x FROM t GROUP BY c",
    """SELECT c, array_agg(DISTINCT b ORDER BY b NULLS FIRST) FILTER (WHERE a > 0) AS x
    FROM t GROUP BY c""",
    """SELECT c, list(b ORDER BY b NULLS LAST) FILTER (WHERE b IS NULL OR b > 0) AS x
    FROM t GROUP BY c""",
    """SELECT u.a, (SELECT array_agg(t.c ORDER BY t.c NULLS LAST) FROM t WHERE t.a = u.a) AS x
    FROM u""",
    """SELECT x, COUNT(*) AS n FROM (SELECT array_agg(a ORDER BY a) AS x FROM t GROUP BY c) s
    GROUP BY x""",
    """SELECT u.a, u.d FROM u JOIN (SELECT array_agg(a ORDER BY a) AS x FROM t) s
    ON list_contains(s.x, u.d)""",
    """SELECT MAX(x) AS y, MIN(x) AS z
    FROM (SELECT array_agg(b ORDER BY b NULLS FIRST) AS x FROM t GROUP BY c) s""",
    """SELECT array_agg(a) OVER (ORDER BY a RANGE UNBOUNDED PRECEDING) AS x
    FROM (SELECT DISTINCT a FROM t) s""",
    "SELECT DISTINCT [a, b] AS x, [b, a][1] AS y FROM t",
    "SELECT [a] AS x FROM t EXCEPT SELECT [d] AS x FROM u",
    """WITH RECURSIVE w AS (SELECT a, [a] AS way FROM t UNION ALL
    SELECT u.d, list_append(w.way, u.d) FROM w JOIN u ON u.a = w.a
    WHERE NOT list_contains(w.way, u.d))
    SELECT way, COUNT(*) AS n FROM w GROUP BY way""",
)
changes = st.sampled_from(["t", "t", "u"]).flatmap(
    lambda table: st.tuples(st.just(table), rows_of(table), st.none() | st.integers(0, 9))
)


def take(lane, *entries):
    """Lets a lane take entries as the log spells them."""
    spelt = [decode(encode(entry)) for entry in entries]
    lane.apply(list(enumerate(spelt, start=lane.position + 1)))


@settings(max_examples=12, deadline=None)
@given(st.lists(st.lists(changes, min_size=1, max_size=5), min_size=1, max_size=4))
def test_differential_arrays_follow_changes_and_restarts(history):
    asked, tables, lane = Duck(), {table: [] for table in TABLES}, Lane()
    plans = {f"q{i}": plan_text(compile_query(q, CATALOG).plan) for i, q in enumerate(QUERIES)}
    take(lane, *map(declared, CATALOG), *(Register(0.0, *plan) for plan in plans.items()))
    for drawn in history:
        net = []
        for table, row, place in drawn:
            rows = tables[table]
            goes = place is not None and bool(rows)
            changed = rows.pop(place % len(rows)) if goes else row
            net.append(Change(table, -1 if goes else 1, changed))
            rows += [] if goes else [row]
        take(lane, Transaction(0.0, tuple(net)))
        asked.hold(tables)
        restored = Lane.restore(lane.snapshot())
        for number, query in enumerate(QUERIES):
            found = [one.rows(f"q{number}") for one in (lane, restored)]
            assert found[0] == found[1], query
            with suppress(Unanswered):  # DuckDB waits for itself now and then
                assert found[0] == asked.ask(query), (query, tables)


def declared(relation):
    return Declare(0.0, relation)


TAGGED = Relation("tagged", columns_of("rid TEXT, tags TEXT[] NULL, at FLOAT[]"), key=("rid",))


def test_arrays_in_tables_survive_log_and_restart():
    lane = Lane()
    sql = "SELECT rid, tags[1] AS first, len(at) AS n FROM tagged WHERE list_contains(tags, 'wet')"
    plan = plan_text(compile_query(sql, Catalog.of((TAGGED,))).plan)
    take(lane, declared(TAGGED), Register(0.0, "wet", plan))
    rows = [("a", Array(("wet", None)), Array((1,))), ("b", None, Array()), ("c", Array(), Array())]
    take(lane, Transaction(0.0, tuple(Change("tagged", 1, row) for row in rows)))
    assert lane.rows("wet") == Counter({("a", "wet", 1): 1})
    lane = Lane.restore(lane.snapshot())
    (kept,) = [row for row in lane.circuit.sources["tagged"].table if row[0] == "a"]
    assert [type(value) for value in kept] == [str, Array, Array]
    assert repr(kept[2]) == "(1.0,)"
    take(lane, Transaction(0.0, (Change("tagged", -1, rows[0]),)))
    assert lane.rows("wet") == {}


@pytest.mark.parametrize(
    "wrong", [("a", "wet", Array()), ("a", None, None), ("a", Array((1,)), Array())]
)
def test_what_is_no_array_of_its_type_is_refused(wrong):
    with pytest.raises(SchemaError):
        TAGGED.check(wrong)


@pytest.mark.parametrize(
    ("query", "attempt"),
    [
        ("SELECT []", "CAST([] AS INT[])"),
        ("SELECT [[1]]", "a row for each, or list_concat(a, b) of arrays"),
        ("SELECT [1, 'a']", "quote texts with '…', write numbers bare"),
        ("SELECT list_append([1], 1.5)", "CAST(… AS INT)"),
        ("SELECT CAST(['1'] || ['2'] AS INT[])", "CAST each value before it is put into an array"),
        ("SELECT [1] + 1", None),
        ("SELECT [1, 2, 3][1:3:2]", None),
    ],
)
def test_what_arrays_cannot_do_is_refused_with_what_to_write_instead(query, attempt):
    with pytest.raises((TypeMismatch, Unsupported)) as refused:
        compile_query(query, CATALOG)
    assert refused.value.position is not None
    assert attempt is None or refused.value.attempt == attempt


def test_an_array_that_is_too_long_is_null():
    query = "SELECT string_split(repeat('ab,', {}), ',')"
    assert len(ours(query.format(10_000))[0]) == 10_001
    assert ours(query.format(21_846)) == (None,)


def test_collected_arrays_that_are_too_long_are_null_until_they_are_not():
    plan = plan_text(compile_query("SELECT array_agg(c) AS x FROM t", CATALOG).plan)
    lane, row = Lane(), (0, 0, "x" * 60_000)
    take(lane, *map(declared, CATALOG), Register(0.0, "all", plan))
    take(lane, Transaction(0.0, (Change("t", 1, row), Change("t", 1, row))))
    assert lane.rows("all") == {(None,): 1}
    take(lane, Transaction(0.0, (Change("t", -1, row),)))
    assert lane.rows("all") == {(Array((row[2],)),): 1}
