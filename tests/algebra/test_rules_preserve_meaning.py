"""oracle_: rewriting changes no answer, whatever the plan and the data."""

from __future__ import annotations

from dataclasses import replace

import pytest
from algebra.dependent_plans import applies, dependent
from algebra.plans import Names, data, filters, fixpoints, over, plans, windows
from algebra.recursions import closures, recursions, scan, squares, tables
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aspen.algebra.expr import TRUE, Col, Const, Op
from aspen.algebra.plan import (
    AntiJoin,
    Apply,
    ApplyKind,
    Filter,
    Join,
    OuterJoin,
    Project,
    children,
    with_children,
)
from aspen.algebra.rewrite import (
    FLATTENING,
    RULES,
    RewriteDoesNotSettle,
    Rule,
    flat,
    rewrite,
    rewrite_steps,
)
from aspen.algebra.rewrite.dependent import domain_of, outer_names
from aspen.model.schema import Type

pytestmark = pytest.mark.slow

# What to put over a random plan so that a rule finds its shape.
SHAPES = {
    "fold_filter": ["filter"],
    "fold_project": ["project"],
    "fold_join": ["join"],
    "drop_true_filter": ["true"],
    "merge_filters": ["filter", "filter"],
    "merge_projects": ["project", "project"],
    "filter_below_project": ["project", "filter"],
    "filter_below_distinct": ["distinct", "filter"],
    "filter_below_group": ["group", "filter"],
    "filter_below_union": ["union", "filter"],
    "filter_into_join": ["join", "filter"],
    "residual_into_join_keys": ["join"],
    "filter_below_anti_join": ["anti", "filter"],
    "anti_join_below_join": ["join", "anti"],
    "filter_below_range": ["window", "filter"],
    "filter_into_fixpoint": ["fixpoint", "filter"],
    "prune_columns": ["some", "project"],
    "prune_partners": ["some", "partners"],
    "semi_join_groups": ["join", "group", "grouped"],
    "nonlinear_to_linear": ["square"],
    "mutual_to_single": ["mutual"],
    "linear_other_way": ["closure", "constant"],
    "demand_by_constant": ["recursion", "constant"],
    "demand_by_join": ["recursion", "asked"],
    "outer_join_to_join": ["outer", "right test"],
    "filter_below_outer_join": ["outer", "left test"],
    "filter_below_set_operation": ["set", "filter"],
    "distinct_of_set": ["group", "distinct"],
    "drop_identity": ["project"],
    "apply_rows_alone": ["domain rows", "alone"],
    "apply_below_row_by_row": ["domain rows over filter project"],
    "apply_below_union": ["domain rows over union"],
    "apply_below_set": ["domain rows over distinct set top"],
    "apply_below_join": ["domain rows over join anti outer mark"],
    "apply_below_group": ["domain rows over group"],
    "apply_by_domain": ["apply"],
    "apply_value_by_group": ["value of a group"],
    "apply_by_conditions": ["apply"],
    "apply_value_alone": ["value", "alone"],
    "matching_keys": ["outer anti mark"],
    "narrow_above": ["narrow", "filter join anti outer mark"],
    "join_order": ["join", "join", "filter"],
}
EVERY = (*FLATTENING, *(rule for rule in RULES if rule not in FLATTENING))


@st.composite
def shaped(draw, forms):
    names = Names()
    if forms[0] == "window":
        plan = draw(windows(names))
    elif forms[0] == "fixpoint":
        plan = draw(fixpoints(names))
    elif forms[0] == "square":
        plan = draw(squares())
    elif forms[0] == "mutual":
        plan = draw(recursions(relations=2))
    elif forms[0] in ("closure", "recursion"):
        plan = draw(closures() | recursions() if forms[0] == "recursion" else closures())
    elif forms[0] == "some":
        plan = draw(plans(draw(st.integers(1, 3)), names))
    else:
        plan = draw(plans(1, names))
    for form in forms:
        if form == "true":
            plan = Filter(plan, TRUE)
        elif form == "constant":
            column = draw(st.sampled_from(plan.columns[:2]))
            plan = Filter(plan, Op("=", Col(column.name), Const(draw(st.integers(-2, 4)))))
        elif form == "partners":
            other = draw(plans(0, names))
            pairs = [
                (a.name, b.name) for a in other.columns for b in plan.columns if a.type is b.type
            ]
            plan = AntiJoin(other, plan, tuple(draw(st.permutations(pairs))[:1]))
        elif form.startswith("domain rows"):
            some = draw(st.lists(st.sampled_from(plan.columns), min_size=1, max_size=2))
            _, domain = domain_of(plan, frozenset(column.name for column in some))
            inside = form.partition(" over ")[2].split()
            rows = (ApplyKind.ROWS,)
            plan = draw(applies(domain, names, rows, *([inside] if inside else []), nested=False))
        elif form == "alone":
            right = draw(plans(1, names))
            one = right.columns[0]
            kept = ((one, Col(one.name)),)
            output = None if plan.output is None else replace(plan.output, type=one.type)
            plan = replace(plan, right=Project(right, kept), output=output)
        elif form == "apply":
            plan = draw(applies(plan, names))
        elif form == "value":
            plan = draw(applies(plan, names, (ApplyKind.VALUE,)))
        elif form == "value of a group":
            plan = draw(applies(plan, names, (ApplyKind.VALUE,), ["filter"], nested=False))
            group = replace(draw(over("group", plan.right.child, names)), keys=())
            value = group.columns[0]
            plan = replace(plan, right=Project(group, ((value, Col(value.name)),)))
        elif form == "narrow":
            kept = draw(st.lists(st.sampled_from(plan.columns), min_size=1, unique=True))
            plan = Project(plan, tuple((column, Col(column.name)) for column in kept))
        elif form == "grouped":
            few = Filter(scan("ask", "q"), Op("=", Col("q.who"), Const(draw(st.integers(0, 2)))))
            numbers = [c.name for c in plan.columns[: len(plan.keys)] if c.type is Type.INT]
            kind = draw(st.sampled_from([Join, OuterJoin]))
            plan = kind(few, plan, tuple(("q.node", name) for name in numbers[:1]))
        elif form == "asked":
            column = draw(st.sampled_from(plan.columns[:2]))
            plan = Join(draw(plans(0, names)), plan)
            own = [c.name for c in plan.left.columns if c.type is column.type]
            plan = replace(plan, on=((draw(st.sampled_from(own)), column.name),)) if own else plan
        elif form in ("left test", "right test"):
            side = plan.left if form == "left test" else plan.right
            column = draw(st.sampled_from(side.columns))
            test = Op("=", Col(column.name), Col(column.name))
            plan = Filter(plan, Op("AND", test, draw(filters(plan)).predicate))
        else:
            plan = draw(over(draw(st.sampled_from(form.split())), plan, names, 2))
    return plan


def test_every_rule_has_its_shape():
    assert set(SHAPES) == {rule.name for rule in EVERY}


def test_rules_are_told_apart_by_name():
    assert len({rule.name for rule in EVERY}) == len(EVERY)


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.name)
def test_oracle_each_rule_keeps_rows_and_columns(rule):
    applied = []

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
    @given(shaped(SHAPES[rule.name]), data(), tables())
    def holds(plan, rows, more):
        rows = replace(rows, tables={**more, **rows.tables})
        built = rule.apply(plan)
        assume(built is not None)
        applied.append(plan)
        assert built.columns == plan.columns
        assert rows.evaluate(built) == rows.evaluate(plan)

    holds()
    assert applied


@settings(max_examples=80, deadline=None)
@given(plans(), data())
def test_oracle_every_step_of_rewriting_keeps_rows_and_columns(plan, rows):
    expected = rows.evaluate(plan)
    for step in rewrite_steps(plan):
        assert step.plan.columns == plan.columns, step.rule.name
        assert rows.evaluate(step.plan) == expected, step.rule.name


def has_apply(plan):
    return isinstance(plan, Apply) or any(map(has_apply, children(plan)))


@settings(max_examples=80, deadline=None)
@given(dependent(), data())
def test_oracle_every_step_to_joins_keeps_rows_and_columns(plan, rows):
    expected = rows.evaluate(plan)
    for step in rewrite_steps(plan, FLATTENING):
        assert step.plan.columns == plan.columns, step.rule.name
        assert rows.evaluate(step.plan) == expected, step.rule.name
    joined = flat(plan)
    assert not has_apply(joined)
    assert not outer_names(joined)
    assert flat(joined) == joined


@settings(max_examples=30, deadline=None)
@given(plans())
def test_rewriting_settles(plan):
    once = rewrite(plan)
    assert rewrite(once) == once


def test_rules_that_undo_each_other_are_named():
    def turned(plan):
        return with_children(plan, tuple(reversed(children(plan))))

    turn = Rule("turn", "", "", turned, lambda plan: plan.__class__.__name__ == "Union")

    @settings(max_examples=5, deadline=None)
    @given(shaped(["union"]))
    def names_them(plan):
        with pytest.raises(RewriteDoesNotSettle) as caught:
            rewrite(plan, (turn,))
        assert caught.value.found == "turn"
        assert "becomes" in caught.value.message

    names_them()


def test_rules_that_grow_a_plan_for_ever_are_named():
    grow = Rule(
        "grow", "", "", lambda plan: Filter(plan, TRUE), lambda plan: isinstance(plan, Filter)
    )
    still = Rule("still", "", "", lambda plan: plan)
    with pytest.raises(RewriteDoesNotSettle) as caught:
        rewrite(Filter(scan("ask", "q"), TRUE), (still, grow))
    assert caught.value.found == "grow"
    one, _, other = caught.value.message.partition("becomes")
    assert one.count("Filter") + 1 == other.count("Filter")
