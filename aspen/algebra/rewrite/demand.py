"""Demand: rows above a plan ask for some values of its columns; it may leave the others out.

    Join on q.node = w.origin                 Join on q.node = w.origin
      Scan route_request as q        ──►        Scan route_request as q
      Project w.origin = walk.origin, …         Project …
        Fixpoint walk …                           Fixpoint walk_bf …    origins that q has

Demand goes down through every node that handles rows of different values apart, to the recursions
below, and nowhere else: another operator would be doubled by it for nothing.

Source: magic sets; Mumick, Pirahesh, Magic is Relevant (SIGMOD 1990). Own: demand over plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspen.algebra.expr import Col
from aspen.algebra.linearise import open_refs
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Over,
    Plan,
    Project,
    SetOperation,
    Ship,
    TopK,
    Union,
    children,
    with_children,
)

Pairs = tuple[tuple[str, str], ...]
"""Pairs of (column of a plan, column of its demand), equal in every demanded row."""

Restrict = Callable[[Plan, Pairs], Plan | None]
"""Restricts a plan, given pairs of its columns and those of the demand; None where it does not."""


def demanded(plan: Plan, pairs: Pairs, restrict: Restrict) -> Plan | None:
    """Let demand go down a plan as far as it may.

    Args:
        restrict: what to do at a node where demand may end.

    Returns:
        A plan of the same columns; None when nothing below is restricted.

    Law: rows whose demanded columns are demanded are the same before and after; of other rows
        there may be any, so whoever asks must drop them.
    """
    if not pairs:
        return None
    made = restrict(plan, pairs)
    if made is not None:
        return made
    inputs = children(plan)
    asked = _passed_down(plan, pairs)
    below = [
        demanded(child, tuple(own), restrict) for child, own in zip(inputs, asked, strict=True)
    ]
    if not any(below):
        return None
    return with_children(plan, tuple(new or old for new, old in zip(below, inputs, strict=True)))


def _passed_down(plan: Plan, pairs: Pairs) -> tuple[Iterable[tuple[str, str]], ...]:
    """Returns what a node's demand asks of each of its inputs."""
    match plan:
        case Filter() | Distinct() | Ship():
            return (pairs,)
        case Project():
            values = {column.name: expr for column, expr in plan.outputs}
            found = [(values[own], theirs) for own, theirs in pairs]
            return ([(expr.name, theirs) for expr, theirs in found if isinstance(expr, Col)],)
        case GroupBy():
            return ([pair for pair in pairs if pair[0] in plan.keys],)
        case TopK() | Over():
            return ([pair for pair in pairs if pair[0] in plan.partition_by],)
        case Union() | SetOperation():
            names = [column.name for column in plan.columns]
            return tuple(
                [(child.columns[names.index(own)].name, theirs) for own, theirs in pairs]
                for child in children(plan)
            )
        case Join():
            return (_of(plan.left, pairs, plan.on), _of(plan.right, pairs, plan.on))
        case AntiJoin() | OuterJoin() | MarkJoin():
            # The right side's rows only matter to left rows that equal them on the keys.
            lefts = _of(plan.left, pairs, ())
            return (lefts, _of(plan.right, lefts, plan.on))
        case _:
            return ((),) * len(children(plan))


def _of(side: Plan, pairs: Iterable[tuple[str, str]], on: Pairs) -> list[tuple[str, str]]:
    """Returns the demand on one side of a join, by its own columns and those joined with them."""
    types = {column.name: column.type for column in side.columns}
    equal: dict[str, set[str]] = {}
    for one, other in on:
        equal.setdefault(one, {one}).add(other)
        equal.setdefault(other, {other}).add(one)
    found = [(name, theirs) for own, theirs in pairs for name in sorted(equal.get(own, {own}))]
    return [pair for pair in dict.fromkeys(found) if pair[0] in types]


def keeps_apart(plan: Plan) -> bool:
    """Whether a plan reads nothing of a recursion around it."""
    return not open_refs(plan)
