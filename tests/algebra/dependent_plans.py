"""Random plans with Apply, whose right sides read the rows of their left sides."""

from __future__ import annotations

from dataclasses import replace

from algebra.plans import Names, groups, over, plans, predicates, renamed
from hypothesis import strategies as st

from aspen.algebra.expr import Col, Expr, IsNull, Op, Outer, conjunction, substitute
from aspen.algebra.plan import (
    AntiJoin,
    Apply,
    ApplyKind,
    Filter,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
)
from aspen.model.schema import Column, Type

INSIDE = (
    "filter",
    "project",
    "join",
    "anti",
    "outer",
    "mark",
    "union",
    "distinct",
    "group",
    "set",
    "top",
    "over",
)


@st.composite
def reading(draw, plan: Plan, around: tuple[Column, ...]) -> Filter:
    """The rows of a plan that pass conditions, one of which reads a row around."""
    pairs = [(a.name, b.name) for a in around for b in plan.columns if a.type is b.type]
    outer = draw(st.sampled_from(around))
    tests: list[Expr] = [IsNull(Outer(outer.name))]
    if pairs:
        one, other = draw(st.sampled_from(pairs))
        symbol = draw(st.sampled_from(["=", "=", "=", "<>", "<"]))
        if next(c.type for c in around if c.name == one) is Type.BOOL:
            symbol = "="
        tests = [Op(symbol, Outer(one), Col(other))]
    if draw(st.booleans()):
        own = draw(predicates(plan.columns + around))
        tests.append(substitute(own, {c.name: Outer(c.name) for c in around}))
    predicate = conjunction(tests)
    assert predicate is not None
    return Filter(plan, predicate)


@st.composite
def applies(
    draw, left: Plan, names: Names, kinds=tuple(ApplyKind), forms=INSIDE, *, nested: bool = True
) -> Apply:
    """A dependent join whose right reads the left rows, perhaps below further nodes."""
    right: Plan = renamed(draw(plans(draw(st.integers(0, 1)), names)), names.fresh())
    right = draw(reading(right, left.columns))
    if nested and draw(st.integers(0, 2)) == 0:
        inner = draw(applies(right, names, (ApplyKind.EXISTS, ApplyKind.VALUE), nested=False))
        both = draw(reading(inner.right, left.columns))
        right = replace(inner, right=both) if both.columns == inner.right.columns else inner
    for form in draw(st.lists(st.sampled_from(forms), min_size=forms != INSIDE, max_size=1)):
        right = draw(over(form, right, names, 1))
        if isinstance(right, Join | OuterJoin | AntiJoin | MarkJoin) and draw(st.booleans()):
            right = replace(right, right=draw(reading(right.right, left.columns)))
    kind = draw(st.sampled_from(kinds))
    if kind is ApplyKind.VALUE:
        if draw(st.booleans()):
            right = replace(draw(groups(right, names)), keys=())
        value = draw(st.sampled_from(right.columns))
        right = Project(right, ((value, Col(value.name)),))
        output = Column(f"{names.fresh()}.value", value.type, value.unit, True)
        return Apply(left, right, kind, output)
    output = Column(f"{names.fresh()}.mark", Type.BOOL) if kind is ApplyKind.MARK else None
    return Apply(left, right, kind, output)


@st.composite
def dependent(draw) -> Plan:
    """A plan over an Apply, or over several."""
    names = Names()
    plan: Plan = draw(applies(draw(plans(draw(st.integers(0, 2)), names)), names))
    for form in draw(st.lists(st.sampled_from(["apply", "filter", "project", "join"]), max_size=2)):
        plan = draw(applies(plan, names) if form == "apply" else over(form, plan, names, 1))
    return plan
