"""Queries that differ in their constants are one dataflow, and each finds its rows in it."""

from __future__ import annotations

from dataclasses import replace

from algebra import plans
from algebra.recursions import closures, recursions, scan, tables
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.algebra.expr import Col, Const, Op, with_parts
from aspen.algebra.expr import parts as parts_of
from aspen.algebra.lift import PARAMETERS, lift
from aspen.algebra.lift_constants import unpushed
from aspen.algebra.plan import (
    Filter,
    Fixpoint,
    Join,
    MarkJoin,
    OuterJoin,
    Scan,
    Window,
    children,
    with_children,
)
from aspen.algebra.read import read_plan
from aspen.algebra.rewrite import rewrite
from aspen.model.schema import Column, Type
from tests.oracle import evaluate


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


@settings(max_examples=100, deadline=None)
@given(plans.plans(), plans.data(), st.data())
def test_law_each_query_finds_its_rows_in_the_template(plan, data, drawn):
    lifted = lift(plan)
    if lifted is None:
        return
    alike = [plan, *(changed(plan, drawn.draw) for _ in range(2))]
    found = [lift(one) for one in alike]
    asked = {one.values: 1 for one in found if one.template == lifted.template}
    everybody = replace(data, tables={**data.tables, PARAMETERS: asked})
    rows = everybody.evaluate(lifted.template)
    width = len(lifted.values)
    assert not {row[len(row) - width :] for row in rows} - set(asked)
    for one, own in zip(alike, found, strict=True):
        if own.template != lifted.template:
            continue
        mine = {row[:-width]: w for row, w in rows.items() if row[-width:] == own.values}
        assert mine == data.evaluate(one)


def test_plans_that_differ_in_constants_have_one_shape():
    scan = Scan("t", "t", (Column("t.a", Type.INT), Column("t.c", Type.TEXT)))

    def asked(a, c):
        return Filter(scan, Op("AND", Op("=", Col("t.a"), Const(a)), Op("<", Const(c), Col("t.c"))))

    one, two = lift(asked(1, "x")), lift(asked(7, "y"))
    assert one.template == two.template
    assert (one.values, two.values) == ((1, "x"), (7, "y"))
    assert lift(asked(1.0, "x")).template != one.template
    assert lift(Filter(scan, Op("=", Col("t.a"), Col("t.a")))) is None


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=25, deadline=None)
@given(
    recursions() | closures(),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=2, max_size=3),
    st.sampled_from(["constant", "join", "outer", "mark"]),
    st.sampled_from([0, 1]),
    tables(),
)
def test_law_recursions_under_demand_have_one_shape(plan, asked, form, place, data):
    def question(node, who):
        column = plan.columns[place].name
        if form == "constant":
            return Filter(plan, Op("=", Col(column), Const(node)))
        askers = Filter(scan("ask", "q"), Op("=", Col("q.who"), Const(who)))
        on = (("q.node", column),)
        if form == "join":
            return Join(askers, plan, on)
        chosen = Filter(plan, Op("=", Col(plan.columns[1 - place].name), Const(node)))
        if form == "outer":
            return OuterJoin(askers, chosen, on)
        return MarkJoin(askers, chosen, on, mark=Column("there", Type.BOOL))

    questions = [rewrite(question(*one)) for one in asked]
    found = [lift(one) for one in questions]
    assert len({one.template for one in found}) == 1
    shape, width = found[0].template, len(found[0].values)
    rows = evaluate(shape, {**data, PARAMETERS: {one.values: 1 for one in found}})
    for one, own in zip(questions, found, strict=True):
        mine = {row[:-width]: w for row, w in rows.items() if row[-width:] == own.values}
        assert mine == evaluate(one, data)
    assert read_plan(plan_text(shape)) == shape


def test_a_recursion_carries_its_own_parameters_alone():
    plan = read_plan(WALK)
    lifted = lift(plan)
    assert lifted.values == ("n1", 3, "lab")
    (walk,) = [node for node in plans.nodes(lifted.template) if isinstance(node, Fixpoint)]
    assert [c.name.partition(".")[2] for c in walk.columns[2:]] == ["parameter_1", "parameter_2"]


WALK = """
Join on z = r.node
  Fixpoint walk (x TEXT, z TEXT)
    Project x TEXT = q.node, z TEXT = q.node
      Filter q.node = "n1"
        Scan route_request as q (q.session TEXT, q.node TEXT)
    Project x TEXT = p.x, z TEXT = k.dst
      Join on p.z = k.src
        RecursiveRef walk as p (p.x TEXT, p.z TEXT)
        Filter k.level < 3
          Scan link as k (k.src TEXT, k.dst TEXT, k.level INT)
  Filter r.kind = "lab"
    Scan room as r (r.node TEXT, r.kind TEXT)
"""
