"""A recursion under demand holds what is demanded, and little else."""

from __future__ import annotations

from algebra.recursions import closures, recursions, scan, tables
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.algebra.expr import Col, Const, Op
from aspen.algebra.plan import Filter, Fixpoint, Join, Project, Values, children
from aspen.algebra.read import read_plan
from aspen.algebra.rewrite import rewrite, rewrite_steps
from aspen.algebra.rewrite.demand import demanded
from aspen.algebra.rewrite.magic import already_bound, restrict
from aspen.algebra.rewrite.rules.linear import closure, turned
from aspen.model.schema import Column, Type
from tests.oracle import evaluate

_ASKED = st.sampled_from([(0,), (1,), (0, 1)])


def test_demand_of_a_join_is_demand_of_whatever_side_has_the_column_or_its_equal():
    asked = {}
    edges, marks = scan("edge", "e"), scan("mark", "m")
    join = Join(edges, marks, (("e.dst", "m.node"),))
    demand = (("e.dst", "k.c0"), ("m.kind", "k.c1"))
    assert (
        demanded(join, demand, lambda plan, pairs: asked.setdefault(plan, pairs) and None) is None
    )
    assert asked == {
        join: demand,
        edges: (("e.dst", "k.c0"),),
        marks: (("m.node", "k.c0"), ("m.kind", "k.c1")),
    }


def fixpoints(plan):
    own = [plan] if isinstance(plan, Fixpoint) else []
    return own + [found for child in children(plan) for found in fixpoints(child)]


@settings(max_examples=300, deadline=None)
@given(recursions(), _ASKED, st.lists(st.tuples(*[st.integers(0, 4)] * 2), max_size=3), tables())
def test_law_demanded_rows_are_the_same(plan, bound, asked, data):
    wanted = {row[: len(bound)] for row in asked}
    columns = tuple(Column(f"k.c{place}", Type.INT) for place in bound)
    demand = Values(columns, tuple(tuple(map(Const, row)) for row in sorted(wanted)))
    made = restrict(plan, bound, demand)
    if made is None:
        return
    assert made.plan.columns == plan.columns
    assert already_bound(made.plan) >= {*bound}
    whole, part = evaluate(plan, data), evaluate(made.plan, data)
    assert part.items() <= whole.items()
    for row, weight in whole.items():
        if tuple(row[place] for place in bound) in wanted:
            assert part.get(row) == weight, row
    assert read_plan(plan_text(made.plan)) == made.plan


@settings(max_examples=150, deadline=None)
@given(closures(), tables())
def test_law_a_closure_is_the_same_the_other_way_round(plan, data):
    found = closure(plan)
    assert found is not None
    other = turned(plan, found)
    assert evaluate(other, data) == evaluate(plan, data)
    assert closure(other).invariant == found.changed


@settings(max_examples=300, deadline=None)
@given(recursions() | closures(), st.data(), tables())
def test_oracle_every_step_keeps_the_rows(plan, drawn, data):
    asked = drawn.draw(st.sampled_from(["constant", "join", "filtered join"]))
    column = drawn.draw(st.sampled_from(plan.columns)).name
    if asked == "constant":
        whole = Filter(plan, Op("=", Col(column), Const(drawn.draw(st.integers(0, 4)))))
    else:
        askers = scan("ask", "q")
        if asked == "filtered join":
            askers = Filter(askers, Op("=", Col("q.who"), Const(1)))
        whole = Join(askers, plan, (("q.node", column),))
    whole = Project(whole, tuple((column, Col(column.name)) for column in plan.columns))
    expected = evaluate(whole, data)
    for step in rewrite_steps(whole):
        assert step.plan.columns == whole.columns
        assert evaluate(step.plan, data) == expected, step.rule.name
    once = rewrite(whole)
    assert rewrite(once) == once
