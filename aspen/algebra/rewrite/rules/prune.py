"""Projection pruning: what nobody reads is not computed."""

from __future__ import annotations

from aspen.algebra.plan import AntiJoin, Distinct, GroupBy, MarkJoin, Plan, Project
from aspen.algebra.rewrite.narrow import narrow
from aspen.algebra.rewrite.rule import Rule


def _root(plan: Plan) -> Plan | None:
    return narrow(plan, plan.names)


# Claim: columns nobody reads may go, through joins, unions and groups; of a recursion, those that
# only serve to compute themselves.
# Guard: only what is computed goes, never a column of a relation; a recursion's only where rows
# that become equal are not counted, or are one per key anyway.
PRUNE_COLUMNS = Rule(
    name="prune_columns",
    claim="π[x](l ⋈ π[y, z](r)) = π[x](l ⋈ π[y](r)), z unread; and so through ⊎, γ and μ",
    counter_example="SELECT src FROM path: without dst, one row where there were as many as ends",
    match=lambda plan: isinstance(plan, Project | GroupBy | Distinct),
    build=_root,
)

# Claim: NOT EXISTS asks whether there is a partner, whatever else its row holds.
PRUNE_PARTNERS = Rule(
    name="prune_partners",
    claim="l ▷[a = b] π[b, z](r) = l ▷[a = b] π[b](r)",
    counter_example="a z that the residual reads must stay",
    match=lambda plan: isinstance(plan, AntiJoin | MarkJoin),
    build=_root,
)
