"""What a rule cannot compute of a row says nothing; a DECIMAL is measured as any number."""

from __future__ import annotations

import pytest

from aspen.algebra.expr import Col, Const, Op
from aspen.model.catalog import Catalog
from aspen.model.schema import INT_MOST, Column, Relation, Type
from aspen.streamsql import compile_query
from aspen.streamsql.alarm_rule import AlarmRule
from smartcis.deliveries.lifecycle import Seen
from smartcis.deliveries.sight import Eye

RULE = AlarmRule(raise_when=Op(">", Op("*", Col("n"), Const(2)), Const(100)), keys=("k",))


@pytest.mark.parametrize(
    ("numbers", "seen"),
    [([60], Seen.HOT), ([7], Seen.COOL), ([INT_MOST], Seen.GONE), ([INT_MOST, 60], Seen.HOT)],
)
def test_a_number_out_of_range(numbers, seen):
    eye = Eye(RULE, (("k", "TEXT", "", False), ("n", "INT", "", False)))
    assert eye.see([("a", n) for n in numbers]) is seen


def test_a_decimal_is_compared_and_told_as_a_number():
    text = "SELECT name, price FROM item OUTPUT TO ALARM KEY (name) RAISE WHEN price >= 9.5"
    item = Relation("item", (Column("name", Type.TEXT), Column("price", Type("DECIMAL(6,2)"), "€")))
    compiled = compile_query(text, Catalog.of([item]))
    (output,) = compiled.outputs
    columns = [(c.name, c.type.value, c.unit, c.nullable) for c in compiled.relation.columns]
    eye = Eye(output.rule, columns)
    assert eye.see([("a", "10.00")]) is Seen.HOT
    assert eye.see([("a", "9.49")]) is Seen.COOL
    assert eye.reading(("a", "10.00")).value == 10.0
    assert eye.reading(("a", "10.00")).unit == "€"
