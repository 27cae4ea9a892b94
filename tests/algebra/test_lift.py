"""Queries that differ in their constants are one dataflow, and each finds its rows in it."""

from __future__ import annotations

from dataclasses import replace

from algebra import plans
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.expr import Col, Const, Op, with_parts
from aspen.algebra.expr import parts as parts_of
from aspen.algebra.lift import PARAMETERS, lift, unpushed
from aspen.algebra.plan import Filter, Scan, Window, children, with_children
from aspen.model.schema import Column, Type


def changed(plan, draw):
    """The same plan with other constants where they are compared with columns."""
    plan = with_children(plan, tuple(changed(child, draw) for child in children(plan)))
    if isinstance(plan, Filter):
        return replace(plan, predicate=varied(plan.predicate, draw))
    return plan


def varied(expr, draw):
    if isinstance(expr, Op) and expr.symbol == "AND":
        return with_parts(expr, [varied(part, draw) for part in parts_of(expr)])
    if isinstance(expr, Op) and expr.symbol in ("=", "<>", "<", "<=", ">", ">="):
        pair = parts_of(expr)
        if {type(part) for part in pair} == {Col, Const}:
            return with_parts(expr, [other(part, draw) for part in pair])
    return expr


def other(part, draw):
    if not isinstance(part, Const) or part.value is None:
        return part
    values = {int: st.integers(-2, 4), str: st.sampled_from("abc"), bool: st.booleans()}
    return Const(draw(values.get(type(part.value), st.sampled_from([-1.0, 0.0, 2.0]))))


@settings(max_examples=200, deadline=None)
@given(plans.plans(), plans.data(), st.data())
def test_law_each_query_finds_its_rows_in_the_shape(plan, data, drawn):
    lifted = lift(plan)
    if lifted is None:
        return
    alike = [plan, *(changed(plan, drawn.draw) for _ in range(2))]
    found = [lift(one) for one in alike]
    asked = {one.values: 1 for one in found if one.shape == lifted.shape}
    everybody = replace(data, tables={**data.tables, PARAMETERS: asked})
    rows = everybody.evaluate(lifted.shape)
    width = len(lifted.values)
    assert not {row[len(row) - width :] for row in rows} - set(asked)
    for one, own in zip(alike, found, strict=True):
        if own.shape != lifted.shape:
            continue
        mine = {row[:-width]: w for row, w in rows.items() if row[-width:] == own.values}
        assert mine == data.evaluate(one)


def test_plans_that_differ_in_constants_have_one_shape():
    scan = Scan("t", "t", (Column("t.a", Type.INT), Column("t.c", Type.TEXT)))

    def asked(a, c):
        return Filter(scan, Op("AND", Op("=", Col("t.a"), Const(a)), Op("<", Const(c), Col("t.c"))))

    one, two = lift(asked(1, "x")), lift(asked(7, "y"))
    assert one.shape == two.shape
    assert (one.values, two.values) == ((1, "x"), (7, "y"))
    assert lift(asked(1.0, "x")).shape != one.shape
    assert lift(Filter(scan, Op("=", Col("t.a"), Col("t.a")))) is None


@settings(max_examples=200, deadline=None)
@given(plans.plans(), plans.data())
def test_law_taking_filters_out_of_windows_changes_no_row(plan, data):
    assert data.evaluate(unpushed(plan)) == data.evaluate(plan)


def test_a_filter_on_a_partition_comes_out_of_the_window():
    columns = (Column("s.k", Type.TEXT), Column("s.v", Type.INT))
    scan = Scan("s", "s", columns, stream=True)
    one, two = Op("=", Col("s.k"), Const("a")), Op("<", Col("s.v"), Const(3))
    newest = Window(Filter(scan, Op("AND", one, two)), ("s.k",), rows=1)
    assert unpushed(newest) == Filter(Window(Filter(scan, two), ("s.k",), rows=1), one)
    recent = Window(Filter(scan, two), range_s=9.0)
    assert unpushed(recent) == Filter(Window(scan, range_s=9.0), two)
    assert unpushed(Window(Filter(scan, two), rows=1)) == Window(Filter(scan, two), rows=1)
