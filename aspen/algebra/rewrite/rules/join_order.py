"""Joins as FROM writes them → joins with keys, connected inputs first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aspen.algebra.expr import Col, Expr, Op, columns_in, conjunction, conjuncts
from aspen.algebra.joined import across
from aspen.algebra.plan import AntiJoin, Filter, Join, MarkJoin, OuterJoin, Plan, Project
from aspen.algebra.renaming import filtered, narrowed
from aspen.algebra.rewrite.dependent import Pairs
from aspen.algebra.rewrite.rule import Rule

_Matching = AntiJoin | OuterJoin | MarkJoin


def _inputs(plan: Plan) -> tuple[list[Plan], list[Expr]]:
    """Takes inner joins apart: their inputs from left to right, and all their conditions."""
    if not isinstance(plan, Join):
        return [plan], []
    left, one = _inputs(plan.left)
    right, other = _inputs(plan.right)
    on = [Op("=", Col(a), Col(b)) for a, b in plan.on]
    return left + right, [*one, *other, *on, *conjuncts(plan.residual)]


def _pairs(
    left: Plan, right: Plan, predicates: Sequence[Expr]
) -> list[tuple[Expr, tuple[str, str]]]:
    found = ((predicate, across(left, right, predicate)) for predicate in predicates)
    return [(predicate, pair) for predicate, pair in found if pair is not None]


def _ordered(plan: Plan) -> Plan | None:
    assert isinstance(plan, Filter)
    waiting, own = _inputs(plan.child)
    rest = [*own, *conjuncts(plan.predicate)]
    joined = waiting.pop(0)
    while waiting:
        chosen = next((one for one in waiting if _pairs(joined, one, rest)), waiting[0])
        waiting = [one for one in waiting if one is not chosen]
        used = _pairs(joined, chosen, rest)
        joined = Join(joined, chosen, tuple(dict.fromkeys(pair for _, pair in used)))
        rest = [part for part in rest if all(part is not one for one, _ in used)]
    return narrowed(filtered(joined, rest), plan.columns)


def _keyed(plan: Plan) -> Plan | None:
    assert isinstance(plan, _Matching)
    on, rest, right = list(plan.on), list[Expr](), list[Expr]()
    for part in conjuncts(plan.residual):
        pair = across(plan.left, plan.right, part)
        if pair is not None:
            on.append(pair)
        elif columns_in(part) and columns_in(part) <= plan.right.names:
            right.append(part)
        else:
            rest.append(part)
    keys: Pairs = tuple(dict.fromkeys(on))
    return replace(plan, right=filtered(plan.right, right), on=keys, residual=conjunction(rest))


def _only_drops(plan: Plan) -> bool:
    """Whether a plan is a projection that leaves columns out, or orders them, and no more."""
    if not isinstance(plan, Project):
        return False
    below = {column.name: column for column in plan.child.columns}
    return all(
        expr == Col(column.name) and below[column.name] == column for column, expr in plan.outputs
    )


def _above(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Project(child) as narrow, predicate) if _only_drops(narrow):
            return Project(Filter(child, predicate), narrow.outputs)
        case Join() | AntiJoin() | OuterJoin() | MarkJoin() if _only_drops(plan.left):
            assert isinstance(plan.left, Project)
            child, beside = plan.left.child, plan.names - plan.left.names
            if plan.residual is not None:
                beside |= plan.right.names
            if not child.names & beside:
                return narrowed(replace(plan, left=child), plan.columns)
    return None


# Claim: a product does not depend on the order of its inputs; which of them are matched by key is
# a matter of which equalities stand over both.
JOIN_ORDER = Rule(
    name="join_order",
    claim="filter[p(a, c) AND q(c, b)](a ⋈ b ⋈ c) = (a ⋈[p] c) ⋈[q] b, columns in their old order",
    counter_example="outer joins do not commute: a ⟕ b keeps rows of a that b ⟕ a loses",
    match=lambda plan: isinstance(plan, Filter) and isinstance(plan.child, Join),
    build=_ordered,
)

# Claim: whether a pair of rows matches is one question, however it is spelt; what a partner must be
# by itself, it may be before it is looked up.
MATCHING_KEYS = Rule(
    name="matching_keys",
    claim="l ⟕[a = b AND p(r) AND q] r = l ⟕[a = b, q] filter[p](r), likewise ▷ and mark",
    counter_example="p(l): a left row that fails it stays beside nulls",
    match=lambda plan: isinstance(plan, _Matching) and plan.residual is not None,
    build=_keyed,
)

# Claim: columns that nobody names are in nobody's way.
# Guard: (in the build) none of them has the name of a column that the join adds or compares.
NARROW_ABOVE = Rule(
    name="narrow_above",
    claim="π[a](l) ⋈ r = π[a, r](l ⋈ r), likewise filter, ▷, ⟕ and mark",
    counter_example="none of meaning; a dropped column named like one of r would be there twice",
    build=_above,
)
