"""Left-deep joins in the order of FROM, but connected sources first.

No cross product stands where an equality could avoid it.
"""

from __future__ import annotations

from collections.abc import Sequence

from aspen.algebra.expr import Col, Expr, Op
from aspen.algebra.plan import Join, Plan


def join_order(sources: Sequence[Plan], predicates: Sequence[Expr]) -> tuple[Plan, list[Expr]]:
    """Join sources.

    Args:
        sources: at least one, in the order of FROM.
        predicates: conditions over their columns.

    Returns:
        The joins, and the conditions they did not use as join keys.
    """
    rest = list(predicates)
    waiting = list(sources[1:])
    plan = sources[0]
    while waiting:
        chosen = next((s for s in waiting if _pairs(plan, s, rest)), waiting[0])
        waiting.remove(chosen)
        used = _pairs(plan, chosen, rest)
        plan = Join(plan, chosen, tuple(dict.fromkeys(pair for _, pair in used)))
        rest = [predicate for predicate in rest if all(predicate is not u for u, _ in used)]
    return plan, rest


def _pairs(
    left: Plan, right: Plan, predicates: Sequence[Expr]
) -> list[tuple[Expr, tuple[str, str]]]:
    lefts = {column.name for column in left.columns}
    rights = {column.name for column in right.columns}
    found: list[tuple[Expr, tuple[str, str]]] = []
    for predicate in predicates:
        match predicate:
            case Op("=", Col(one), Col(other)) if one in lefts and other in rights:
                found.append((predicate, (one, other)))
            case Op("=", Col(one), Col(other)) if one in rights and other in lefts:
                found.append((predicate, (other, one)))
    return found
