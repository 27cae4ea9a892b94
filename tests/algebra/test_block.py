"""The block: a plan taken apart and put together again has its rows, however it was written."""

from __future__ import annotations

import pytest
from algebra.plans import Names, data, over, plans
from algebra.recursions import scan
from hypothesis import event, given, settings
from hypothesis import strategies as st

from aspen.algebra.block import (
    Block,
    Input,
    NotABlock,
    block_of,
    blocks_of,
    column_name,
    column_of,
    equal_classes,
    equated,
    plan_of,
)
from aspen.algebra.expr import Col, Const, Op, columns_in
from aspen.algebra.joined import joined
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Join,
    Plan,
    PlanError,
    Project,
    Scan,
    Ship,
    Union,
)
from aspen.model.delta import Delta, accumulate

FORMS = ("filter", "project", "join", "join", "union", "anti")
R, S = scan("edge", "r"), scan("edge", "s")


def opaque(plan: Plan) -> bool:
    return not isinstance(plan, Filter | Project | Join | Ship | Union)


def scans(plan: Plan) -> bool:
    return isinstance(plan, Scan)


def negating(plan: Plan) -> bool:
    """Inputs where NOT EXISTS is part of a block."""
    if isinstance(plan, AntiJoin):
        return plan.residual is not None or not negating(plan.right)
    return opaque(plan)


@st.composite
def blocks(draw) -> Plan:
    """Selections, projections, joins, unions and NOT EXISTS over random plans."""
    names = Names()
    plan = draw(plans(1, names))
    for form in draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=4)):
        plan = draw(over(form, plan, names))
    return plan


@settings(max_examples=150, deadline=None)
@given(blocks(), data(), st.sampled_from((opaque, negating)))
def test_law_the_blocks_of_a_plan_have_its_rows(plan, held, is_input) -> None:
    found: Delta = {}
    taken = blocks_of(plan, is_input)
    for block in taken:
        made = plan_of(block)
        assert made.columns == plan.columns
        for row, weight in held.evaluate(made).items():
            accumulate(found, row, weight)
    event(f"{min(3, max(len(block.inputs) for block in taken))} inputs")
    assert found == held.evaluate(plan)


@settings(max_examples=100, deadline=None)
@given(blocks(), data())
def test_law_a_block_is_the_block_of_its_plan(plan, held) -> None:
    for block in blocks_of(plan, opaque):
        again = block_of(plan_of(block), opaque)
        assert len(again.inputs) == len(block.inputs)
        assert len(again.conditions) <= len(block.conditions)  # equal ones are one key
        assert held.evaluate(plan_of(again)) == held.evaluate(plan_of(block))


def test_names_and_order_of_what_stood_between_do_not_show() -> None:
    early = Join(Filter(R, Op("<", Col("r.dst"), Const(3))), S, (("r.dst", "s.src"),))
    late = Filter(
        Join(R, S), Op("AND", Op("<", Col("r.dst"), Const(3)), Op("=", Col("r.dst"), Col("s.src")))
    )
    assert block_of(early) == block_of(late)
    assert block_of(early).conditions == (
        Op("<", Col("a0.c1"), Const(3)),
        Op("=", Col("a0.c1"), Col("a1.c0")),
    )


def test_conditions_are_sorted_by_the_inputs_they_are_over() -> None:
    block = block_of(Filter(Join(R, S, (("r.dst", "s.src"),)), Const(True)))
    own, across = block.by_input()
    assert own == ((Const(True),), ())
    assert equated(across) == (("a0.c1", "a1.c0"),)
    assert [column_of(name) for name in ("a0.c1", "a12.c34")] == [(0, 1), (12, 34)]
    assert equal_classes([("a", "b"), ("c", "b")], "d") == ({"d"}, {"a", "b", "c"})


def test_joined_ties_each_input_to_one_before_it() -> None:
    third = scan("edge", "t")
    conditions = [Op("=", Col("t.src"), Col("r.dst")), Op("=", Col("s.src"), Col("t.dst"))]
    plan = joined([R, S, third], conditions)
    assert isinstance(plan, Join)
    assert plan.on == (("t.dst", "s.src"),)
    assert plan.left == Join(R, third, (("r.dst", "t.src"),))


def test_what_is_no_block_is_refused() -> None:
    with pytest.raises(NotABlock, match="Distinct"):
        block_of(Distinct(R), scans)
    with pytest.raises(NotABlock, match="Union"):
        block_of(Union((R, S)))
    assert len(blocks_of(Distinct(Union((R, S))), scans, sets=True)) == 2
    with pytest.raises(PlanError, match="no input"):
        Block((Input(R),), (), (R.columns[0],), (Col(column_name(1, 0)),))
    assert columns_in(block_of(R).outputs[0]) == {"a0.c0"}
