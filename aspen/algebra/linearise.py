"""Linearise: the step of a recursion → rules, each a block that reads the recursion.

    plan    Project x, z            rule    inputs      r(a0.c0, a0.c1)  r(a1.c0, a1.c1)
              Join on y = y                 conditions  a0.c1 = a1.c0
                RecursiveRef r              outputs     a0.c0, a1.c1
                RecursiveRef r

Inside a recursion rows are a set, so DISTINCT is nothing there.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from aspen.algebra.block import Block, NotABlock, blocks_of, plan_of
from aspen.algebra.plan import AntiJoin, Fixpoint, Plan, RecursiveRef, children
from aspen.errors import AspenError


class NotMaintainable(AspenError, code="aspen.views.not_maintainable"):
    """A recursive step that reads its recursion in a way that has no meaning, or is not kept."""


@dataclass(frozen=True, slots=True)
class RecursiveStep:
    """A step taken apart.

    Args:
        rules: the blocks that read the recursion.
        flat: the branches that do not.
    """

    rules: tuple[Block, ...]
    flat: tuple[Plan, ...]


def linearise(step: Plan, recursion: Collection[str]) -> RecursiveStep:
    """Takes a recursive step apart.

    Args:
        recursion: names of the recursive relations.

    Raises:
        NotMaintainable: the recursion is read below a negation, an aggregate or the like.

    Law: the rules and flat branches together derive the set of rows the step does.
    Source: own; the normal form is that of Datalog.
    """

    def is_input(plan: Plan) -> bool:
        return isinstance(plan, RecursiveRef) or not mentions(plan, recursion)

    try:
        blocks = blocks_of(step, is_input, sets=True)
    except NotABlock as fault:
        raise _refused(fault.node, recursion) from fault
    recursive = [block for block in blocks if any(one.recursive for one in block.inputs)]
    flat = [plan_of(block) for block in blocks if block not in recursive]
    return RecursiveStep(tuple(recursive), tuple(flat))


def mentions(plan: Plan, recursion: Collection[str]) -> bool:
    """Whether a plan reads one of the recursive relations."""
    return not open_refs(plan).isdisjoint(recursion)


def open_refs(plan: Plan) -> frozenset[str]:
    """Returns the relations of recursions around it that a plan reads."""
    if isinstance(plan, RecursiveRef):
        return frozenset((plan.name,))
    found = frozenset[str]().union(*map(open_refs, children(plan)))
    # Inside a recursion, its own relations hide others of their names.
    return found - {one.name for one in plan.relations} if isinstance(plan, Fixpoint) else found


def _refused(plan: Plan, recursion: Collection[str]) -> NotMaintainable:
    read = next(name for name in recursion if mentions(plan, (name,)))
    kind = type(plan).__name__
    cycle = f"{read} → {kind} → {read}"
    if isinstance(plan, AntiJoin) and not mentions(plan.right, recursion):
        return NotMaintainable(
            f"NOT EXISTS in the recursion of {read} compares by more than equality",
            found=cycle,
            attempt="let what must not exist be a view, and match its columns by =",
        )
    return NotMaintainable(
        f"{kind} in a cycle has no least answer: {cycle}",
        found=cycle,
        exists=("joins", "WHERE", "UNION", "MIN or MAX grouped by the other columns"),
        attempt="apply it to the finished view, in a query that reads it",
    )
