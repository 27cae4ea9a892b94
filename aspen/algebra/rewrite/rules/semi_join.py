"""Semi-join reduction: groups that a selected few ask for are computed for those few."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.expr import Col
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    nodes,
)
from aspen.algebra.rewrite.demand import Pairs, Restrict, demanded, keeps_apart
from aspen.algebra.rewrite.rule import Rule
from aspen.algebra.rewrite.rules.demand import is_selected, may_demand

_Joined = Join | AntiJoin | OuterJoin | MarkJoin

ASKED = "semi"
"""What the columns of a reduction are called by; a group that has some is reduced already."""


def _joins(plan: Plan) -> bool:
    """Whether rows are joined before they are grouped: relations alone are shared by all."""
    return any(isinstance(node, Join | OuterJoin) for node in nodes(plan))


def _is_reduced(plan: Plan) -> bool:
    names = (name for node in nodes(plan) for name in node.names)
    return any(name.startswith(f"{ASKED}.") for name in names)


def _at_groups(demanding: Plan) -> Restrict:
    columns = {column.name: column for column in demanding.columns}

    def at(plan: Plan, pairs: Pairs) -> Plan | None:
        if not isinstance(plan, GroupBy) or not _joins(plan.child) or not keeps_apart(plan):
            return None
        types = {column.name: column.type for column in plan.columns}
        asked = {
            own: columns[theirs]
            for own, theirs in pairs
            if own in plan.keys and types[own] is columns[theirs].type
        }
        if not asked or _is_reduced(plan):
            return None
        names = {own: f"{ASKED}.c{index}" for index, own in enumerate(asked)}
        few = Distinct(
            Project(
                demanding,
                tuple(
                    (replace(theirs, name=names[own]), Col(theirs.name))
                    for own, theirs in asked.items()
                ),
            )
        )
        return replace(plan, child=Join(plan.child, few, tuple(names.items())))

    return at


def _asking(plan: Plan) -> Plan:
    """Returns the part of a join's left side that has all rows of the columns compared."""
    assert isinstance(plan, _Joined)
    asking, names = plan.left, {left for left, _ in plan.on}
    while isinstance(asking, AntiJoin | OuterJoin | MarkJoin):
        if not names <= asking.left.names:
            break
        asking = asking.left
    return asking


def _could_be_reduced(plan: Plan) -> bool:
    return any(isinstance(node, GroupBy) and _joins(node.child) for node in nodes(plan))


def _may_ask(plan: Plan) -> bool:
    asking = _asking(plan)
    return is_selected(asking) and may_demand(asking) and not _could_be_reduced(asking)


def _reduced(plan: Plan) -> Plan | None:
    assert isinstance(plan, _Joined)
    pairs = tuple((right, left) for left, right in plan.on)
    right = demanded(plan.right, pairs, _at_groups(_asking(plan)))
    return None if right is None else replace(plan, right=right)


# Claim: a group with a key that nobody asks for meets no partner; those asked for keep all their
# rows, for demand is on the key.
# Guard: there is a constant in what asks (else it asks for all), and the groups are of joined rows;
# what asks holds no such groups itself, or its copy would be reduced again, and so on.
SEMI_JOIN_GROUPS = Rule(
    name="semi_join_groups",
    claim="σ(l) ⋈[k] γ[k, f](r) = σ(l) ⋈[k] γ[k, f](r ⋉[k] π[k](σ(l)))",
    counter_example="demand on f instead of k: COUNT(*) of the rows asked for is another count",
    match=lambda plan: isinstance(plan, _Joined) and bool(plan.on),
    guard=_may_ask,
    build=_reduced,
)
