"""Needs: which columns of a node its reader uses, so that motes need not send the others.

Law: a plan gives the same rows when a node below gives only the columns needed of it.
"""

from __future__ import annotations

from aspen.algebra.expr import columns_in
from aspen.algebra.plan import (
    AntiJoin,
    Filter,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    Ship,
    Window,
    children,
)


def needs_below(node: Plan, index: int, needed: frozenset[str]) -> frozenset[str]:
    """Returns the columns of a node's input that are read.

    Args:
        index: which input.
        needed: columns of the node itself that are read.
    """
    own = frozenset(column.name for column in children(node)[index].columns)
    match node:
        case Project(_, outputs):
            return frozenset[str]().union(*(columns_in(value) for _, value in outputs))
        case Filter(_, predicate):
            return (needed | columns_in(predicate)) & own
        case Window(_, partition_by):
            return (needed | {*partition_by}) & own
        case GroupBy(_, keys, aggregates):
            return frozenset(keys) | {a.argument for a in aggregates if a.argument is not None}
        case Join() | AntiJoin() | OuterJoin() | MarkJoin():
            compared = {name for pair in node.on for name in pair}
            return (needed | compared | columns_in(node.residual)) & own
        case Ship():
            return needed & own
        case _:
            return own  # whole rows are compared, or columns counted from the left
