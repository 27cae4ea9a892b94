"""The constants of a plan that may become parameters, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aspen.algebra.expr import COMPARISONS, Col, Const, Expr, Op, columns_in, conjuncts
from aspen.algebra.plan import Filter, Fixpoint, Plan, Values, Window, children, map_children, nodes
from aspen.algebra.renaming import filtered
from aspen.model.arrays import Array

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def unpushed(plan: Plan) -> Plan:
    """Take filters out of the windows they were pushed into.

    Law: the same rows. A window by time alone keeps or drops each row for itself, and one per
        partition never compares rows that differ in a partition column.
    """
    plan = map_children(plan, unpushed)
    if not isinstance(plan, Window) or not isinstance(plan.child, Filter):
        return plan
    below, free = plan.child, frozenset(plan.partition_by)
    parts = list(conjuncts(below.predicate))
    out = [part for part in parts if plan.bounds.by_time_alone or columns_in(part) <= free]
    if not out:
        return plan
    inside = filtered(below.child, (part for part in parts if part not in out))
    return filtered(unpushed(replace(plan, child=inside)), out)


def comparison(expr: Expr, *, orders: bool = True) -> tuple[str, str, Const] | None:
    """Returns (column, operator, constant) of a comparison that is lifted.

    Args:
        orders: whether others than equality are.
    """
    if not isinstance(expr, Op) or expr.symbol not in COMPARISONS:
        return None
    if isinstance(expr.left, Col) and isinstance(expr.right, Const):
        column, symbol, constant = expr.left, expr.symbol, expr.right
    elif isinstance(expr.left, Const) and isinstance(expr.right, Col):
        column, symbol, constant = expr.right, _MIRRORED[expr.symbol], expr.left
    else:
        return None
    if constant.value is None or isinstance(constant.value, Array) or not (orders or symbol == "="):
        return None
    return column.name, symbol, constant


@dataclass(frozen=True, slots=True)
class Met:
    """A constant that is lifted.

    Args:
        demand: whether it begins the demand of a recursion, and a filter above asks for it too.
    """

    constant: Const
    demand: bool = False


def constants_of(plan: Plan, *, orders: bool = True) -> list[Met]:
    """Returns the constants to lift, in the order in which a lifting meets them.

    Args:
        orders: whether comparisons by order are lifted; see `begins_demand`.
    """
    return list(_met_in(plan, set(), inside=False, orders=orders))


def begins_demand(plan: Plan) -> bool:
    """Whether a plan has a demand that starts with constants.

    Beside it, comparisons by order (a bound on steps) stay in a recursion's shape: lifted, they
    would keep apart the rows of everybody's demand.
    """
    return any(isinstance(node, Values) and node.demand for node in nodes(plan))


def _met_in(plan: Plan, known: set[Plan], *, inside: bool, orders: bool) -> Iterator[Met]:
    if isinstance(plan, Fixpoint):
        if plan in known:
            return
        known.add(plan)
        known, inside = set(), True
        orders = orders and not begins_demand(plan)
    elif isinstance(plan, Values) and inside and plan.demand:
        yield from (Met(constant, demand=True) for constant in plan.rows[0])
    for child in open_children(plan):
        yield from _met_in(child, known, inside=inside, orders=orders)
    if isinstance(plan, Filter):
        for part in conjuncts(plan.predicate):
            compared = comparison(part, orders=orders)
            if compared is not None:
                yield Met(compared[2])


def open_children(plan: Plan) -> tuple[Plan, ...]:
    """Returns the inputs whose constants are lifted.

    A window decides by what it saw since it was opened, so its filters stay its own.
    """
    return () if isinstance(plan, Window) else children(plan)
