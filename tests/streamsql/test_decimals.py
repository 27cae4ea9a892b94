"""Decimals: exact, with the digits of DuckDB, asked once and maintained."""

from __future__ import annotations

from collections import Counter
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.evaluate import compile_predicate
from aspen.algebra.explain import plan_text
from aspen.algebra.whole import OutOfRange
from aspen.errors import AspenError
from aspen.log.entry import Change, Declare, Register, Tick, Transaction, decode, encode
from aspen.model.catalog import Catalog
from aspen.model.decimals import rescaled, text_of, units_of
from aspen.model.schema import Column, Relation, SchemaError, Type
from aspen.runtime.lane import Lane
from aspen.runtime.retries import FIRST_S
from aspen.runtime.rows import RowCheck
from aspen.streamsql import compile_query
from aspen.streamsql.compile import compile_statement
from aspen.streamsql.statement import read_statements
from aspen.streamsql.table_change import table_change
from aspen.views.evaluate_once import evaluate_once

ITEM = Relation(
    "item",
    (
        Column("name", Type.TEXT),
        Column("price", Type("DECIMAL(8,2)"), "", True),
        Column("rate", Type("DECIMAL(5,4)")),
        Column("n", Type.INT),
        Column("f", Type.FLOAT),
    ),
)
CATALOG = Catalog.of([ITEM])
WIDE = Context(prec=60)
COMPUTED = (
    *(
        "price + rate",
        "price - rate",
        "price * rate",
        "price / nullif(rate, 0)",
        "price % 7",
        "-price",
    ),
    *(
        "price + n",
        "n - price",
        "price * n",
        "price / nullif(n, 0)",
        "price + f",
        "price * 1.19",
        "2 * rate",
    ),
    *("price = rate", "price < n", "price >= f", "price <> 12.5", "price = '12.50'", "rate = 1"),
    *("price IN (0.5, 1, 12.5)", "price BETWEEN -1 AND 2.25", "price IS NOT DISTINCT FROM 1"),
    *("round(price)", "round(price, 1)", "round(price, 9)", "round(price, -1)", "round(n, 1)"),
    *("floor(price)", "ceil(price)", "trunc(price)", "abs(price)", "sign(price)"),
    *("greatest(rate, n)", "coalesce(price, rate)", "coalesce(price, 0.5)"),
    *("CASE WHEN n > 0 THEN price ELSE rate END", "CASE WHEN n > 0 THEN price ELSE f END"),
    *("nullif(price, 0)", "CASE WHEN n > 0 THEN 1.5 ELSE price END"),
    *("CAST(price AS TEXT)", "price || ' €'", "CAST(price AS DOUBLE)", "CAST(price AS BOOL)"),
    *("CAST(price AS DECIMAL(9,1))", "CAST(rate AS DECIMAL(3,2))", "CAST(n AS DECIMAL(9,2))"),
    *("CAST(f AS DECIMAL(12,1))", "TRY_CAST(n AS DECIMAL(3,1))", "TRY_CAST(name AS DECIMAL(4,1))"),
    *("TRY_CAST(price AS DECIMAL(3,2))", "CAST(n > 0 AS DECIMAL(3,1))", "price::DECIMAL(12,5)"),
    *("CAST(1.005 AS DECIMAL(9,2))", "CAST(-0.045 AS NUMERIC(4,2))", "CAST('1e2' AS DECIMAL)"),
    *("sqrt(abs(price))", "power(rate, 2)", "atan2(price, rate)", "concat(name, rate)"),
)
QUERIES = (
    "SELECT name, price, rate FROM item",
    "SELECT price, COUNT(*) FROM item GROUP BY price",
    "SELECT name, SUM(price), AVG(price), MIN(price), MAX(rate) FROM item GROUP BY name",
    "SELECT SUM(price * rate), AVG(price * rate), COUNT(DISTINCT price) FROM item",
    "SELECT n, SUM(DISTINCT price) FROM item GROUP BY n HAVING SUM(price) > 1.5",
    "SELECT quantile_disc(price, 0.5), MIN(price), MAX(rate) FROM item WHERE price > -1",
    "SELECT a.n, b.n FROM item a JOIN item b ON a.price = b.rate",
    "SELECT a.n, b.n FROM item a LEFT JOIN item b ON a.price = b.n AND b.rate < 1",
    "SELECT a.name FROM item a JOIN item b USING (price)",
    "SELECT name FROM item WHERE price IN (SELECT n FROM item)",
    "SELECT n FROM item WHERE price > (SELECT AVG(price) FROM item)",
    "SELECT price FROM item UNION SELECT rate FROM item",
    "SELECT price FROM item EXCEPT SELECT n FROM item",
    "SELECT DISTINCT round(price, 1) FROM item",
    "SELECT price FROM item ORDER BY price DESC, rate LIMIT 2",
    "SELECT n, price - LAG(price, 1, 0) OVER (ORDER BY n, price, rate, f, name) FROM item",
    "SELECT n, SUM(price) OVER (ORDER BY rate RANGE 0.25 PRECEDING) FROM item",
    (
        "SELECT n, COUNT(*) OVER (ORDER BY price RANGE BETWEEN 1 PRECEDING AND 0.5 FOLLOWING)"
        " FROM item WHERE price IS NOT NULL"
    ),
    "WITH t AS (SELECT price * 2 AS p, n FROM item) SELECT p, SUM(n) FROM t WHERE p < 9 GROUP BY p",
    "SELECT v.p + rate FROM item, (VALUES (CAST(1.5 AS DECIMAL(4, 2))), (2)) v(p)",
    (
        "WITH RECURSIVE r(x) AS (SELECT price FROM item WHERE price > 0 UNION"
        " SELECT CAST(x + 0.5 AS DECIMAL(8,2)) FROM r WHERE x < 2) SELECT x FROM r"
    ),
)


def decimals(precision, scale):
    most = 10**precision - 1
    small = st.sampled_from([-(10**scale), 0, 10**scale // 2, 10**scale, 2 * 10**scale])
    wide = st.integers(-most // 100, most // 100)
    return (small | wide).map(lambda units: text_of(units, scale))


ROWS = st.tuples(
    st.sampled_from("ab"),
    st.none() | decimals(8, 2),
    decimals(5, 4),
    st.integers(-2, 3),
    st.sampled_from([0.0, 0.5, -2.25, 1.0, 12.5]),
)


@pytest.fixture(scope="module")
def duck():
    connection = duckdb.connect(config={"threads": 1})
    columns = ", ".join(
        f"{c.name} {'DOUBLE' if c.type is Type.FLOAT else c.type.value}" for c in ITEM.columns
    )
    connection.execute(f"CREATE TABLE item ({columns})")
    connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
    yield connection
    connection.close()


@cache
def planned(query):
    return compile_query(query, CATALOG)


def theirs(duck, query, rows):
    duck.execute("DELETE FROM item")
    for row in rows:
        duck.execute("INSERT INTO item VALUES (?, ?, ?, ?, ?)", row)
    return Counter(duck.execute(query).fetchall())


def numbers(rows, columns):
    """Returns rows with their decimals as numbers, having seen that each has all its digits."""
    found = Counter()
    for row, weight in rows.items():
        for value, column in zip(row, columns, strict=True):
            if value is not None and column.type.digits is not None:
                assert (
                    text_of(units_of(value, column.type.digits[1]), column.type.digits[1]) == value
                )
        read = (
            Decimal(value) if value is not None and column.type.digits is not None else value
            for value, column in zip(row, columns, strict=True)
        )
        found[tuple(read)] += weight
    return found


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_differential_what_is_computed_of_decimals(duck, row):
    query = f"SELECT {', '.join(f'{one} AS v{i}' for i, one in enumerate(COMPUTED))} FROM item"
    plan = planned(query).plan
    (ours,) = numbers(evaluate_once(plan, [ITEM], {"item": {row: 1}}), plan.columns)
    (other,) = theirs(duck, query, [row])
    differ = [pair for pair in zip(COMPUTED, ours, other, strict=True) if pair[1] != pair[2]]
    assert [one for one in differ if not nearly(*one[1:])] == []


def nearly(one, other):
    """DuckDB rounds a decimal twice on its way to a DOUBLE."""
    return isinstance(one, float) and other is not None and abs(one - other) <= 1e-15 * abs(one)


def taken(lane, *entries):
    lane.apply(
        [(lane.position + n, decode(encode(entry))) for n, entry in enumerate(entries, start=1)]
    )


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(st.tuples(ROWS, st.none() | st.integers(0, 9)), max_size=3), max_size=5))
def test_differential_maintained_under_any_changes_and_a_restart(duck, epochs):
    compiled = list(map(planned, QUERIES))
    lane, held = Lane(), []
    registered = [Register(0.0, f"v{i}", plan_text(one.plan)) for i, one in enumerate(compiled)]
    taken(lane, Declare(0.0, ITEM), *registered)
    for number, epoch in enumerate(epochs):
        changes = []
        for row, place in epoch:
            goes = place is not None and bool(held)
            one = held.pop(place % len(held)) if goes else row
            held += [] if goes else [one]
            changes.append(Change("item", -1 if goes else 1, one))
        taken(lane, Transaction(1.0, tuple(changes)))
        if number == 2:
            lane = Lane.restore(lane.snapshot())
        for i, (query, one) in enumerate(zip(QUERIES, compiled, strict=True)):
            assert lane.views.by_name[f"v{i}"].error is None, query
            ours = numbers(lane.rows(f"v{i}"), one.plan.columns)
            assert same(ours, theirs(duck, query, held)), f"{query}\nover {held}"


def same(ours, other):
    one, two = ours - other, other - ours
    return len(one) == len(two) and all(
        any(all(a == b or nearly(a, b) for a, b in zip(x, y, strict=True)) for y in two)
        for x in one
    )


@given(st.integers(-(10**18) + 1, 10**18 - 1), st.integers(0, 18), st.integers(0, 18))
def test_oracle_units_and_texts_are_pythons_decimals(units, scale, other):
    exact = Decimal(units).scaleb(-scale)
    assert Decimal(text_of(units, scale)) == exact
    assert units_of(text_of(units, scale), scale) == units
    rounded = exact.quantize(Decimal(1).scaleb(-other), ROUND_HALF_UP, WIDE)
    assert Decimal(rescaled(units, scale, other)).scaleb(-other) == rounded
    assert units_of(str(exact), other) == rescaled(units, scale, other)


@pytest.mark.parametrize("text", ["", "many", "1.2.3", "nan", "inf", "1e99999", "--1", "0x10"])
def test_what_is_no_number_is_none(text):
    assert units_of(text, 2) is None


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e308])
def test_a_float_without_end_is_none(number):
    assert units_of(number, 4) is None


def test_a_row_keeps_the_one_spelling_of_a_number():
    check = RowCheck(Relation("r", (Column("p", Type("DECIMAL(5,2)"), "", True),)))
    for spelling in ("7.5", 7.5, "7.500", " 7.50", "75e-1"):
        assert check((spelling,)) == ("7.50",)
    assert check((7,)) == ("7.00",)
    assert check((None,)) == (None,)
    for wrong in ("1000", 1000, 999.995, "many", True):
        with pytest.raises(SchemaError, match="holds DECIMAL"):
            check((wrong,))


LARGE = "SELECT CAST(price * 1000 AS DECIMAL(8,2)) AS p FROM item"
PRODUCT = "SELECT CAST(n AS DECIMAL(18,0)) * price AS p FROM item"


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        (LARGE, ("x", "1000.00", "1.0000", 1, 0.0)),
        (PRODUCT, ("x", "1000.00", "1.0000", 10**15, 0.0)),
    ],
)
def test_too_many_digits_end_the_view_until_the_row_goes(sql, row):
    lane, few = Lane(), ("a", "1.00", "1.0000", 2, 0.0)
    taken(lane, Declare(0.0, ITEM), Register(0.0, "v", plan_text(compile_query(sql, CATALOG).plan)))
    taken(lane, Tick(1.0), Transaction(1.0, (Change("item", 1, few),)))
    before = lane.rows("v")
    assert len(before) == 1
    taken(lane, Transaction(1.0, (Change("item", 1, row),)))
    error = lane.views.by_name["v"].error
    assert error["code"] == OutOfRange.code
    assert error["try"]
    taken(lane, Transaction(1.0, (Change("item", -1, row),)), Tick(2.0 + FIRST_S))
    assert lane.views.by_name["v"].error is None
    assert lane.rows("v") == before


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("CAST(price AS DECIMAL(19, 2))", "1 to 18 digits"),
        ("CAST(price AS DECIMAL(2, 3))", "1 to 18 digits"),
        ("CAST(price AS DECIMAL(0, 0))", "1 to 18 digits"),
        ("CAST(DATE '2026-01-01' AS DECIMAL(5, 2))", "takes no DATE"),
        ("CAST(n AS DECIMAL(18, 10)) * CAST(n AS DECIMAL(18, 10))", "20 digits"),
        ("price > 'many'", "cannot compare"),
        ("price AND TRUE", "takes BOOL"),
        ("upper(price)", "takes TEXT"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(text, word):
    with pytest.raises(AspenError, match=word) as refused:
        compile_query(f"SELECT {text} AS v FROM item", CATALOG)
    assert refused.value.position is not None
    assert refused.value.attempt


def test_readers_sort_by_the_number_and_not_by_its_text():
    compiled = compile_query("SELECT name, price FROM item ORDER BY price DESC", CATALOG)
    prices = ("9.99", "10.00", "-1.00", "-20.00")
    contents = {"item": {("a", price, "1.0000", 1, 0.0): 1 for price in prices}}
    rows = evaluate_once(compiled.order.plan, [ITEM], contents)
    (key,) = compiled.order.keys
    at = [column.name for column in compiled.order.plan.columns].index(key.column)
    assert key.descending
    assert at >= compiled.order.width
    found = [row[1] for row in sorted(rows, key=lambda row: -row[at])]
    assert found == ["10.00", "9.99", "-1.00", "-20.00"]


def test_what_is_inserted_is_rounded_to_the_columns_digits():
    (statement,) = read_statements("INSERT INTO item VALUES ('a', 1.005, '0.25', 3, 1)")
    change = table_change(statement, ITEM, lambda asked: compile_statement(asked, CATALOG))
    (row,) = evaluate_once(change.compiled.plan, [ITEM])
    assert change.of(row) == (None, ("a", "1.00", "0.2500", 3, 1.0))


def test_an_alarm_compares_the_number():
    text = "SELECT name, price FROM item OUTPUT TO ALARM KEY (name) RAISE WHEN price >= 9.5"
    (output,) = compile_query(text, CATALOG).outputs
    holds = compile_predicate(output.rule.raise_when, compile_query(text, CATALOG).plan.columns)
    assert [holds(("a", price)) for price in ("9.49", "9.50", "10.00", None)] == [
        *(False, True, True, False)
    ]
