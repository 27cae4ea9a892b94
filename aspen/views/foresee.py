"""Foresee: at least how many pairs a plan's joins look at, so that the hopeless never begins.

    COUNT(routing_edge a, routing_edge b, routing_edge c)     6,388³ = 260,000,000,000 pairs

Law:        where rows are counted, a plan that would stay within its steps is not refused: every
            guess is a low one, and only ten times the steps are too many.
Source:     own.
"""

from __future__ import annotations

from math import sqrt

from aspen.algebra.expr import Const, Expr, Op, conjuncts
from aspen.algebra.plan import (
    AntiJoin,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    RecursiveRef,
    Scan,
    Ship,
    TopK,
    Union,
    Values,
    Window,
    children,
)
from aspen.views.choose import KnownCounts
from aspen.views.work import UNBOUNDED, WorkExceeded

HOPELESS = 10
"""Times the steps a query may take; less is tried."""
_KEPT = 0.1  # own guess, a low one: the part of the rows that a selection keeps


class Hopeless(WorkExceeded, code="aspen.views.hopeless"):
    """A query that would take many times the work that one may."""


def refuse_hopeless(plan: Plan, known: KnownCounts, most_steps: int) -> None:
    """Refuse a plan whose joins alone look at many times the pairs that it may.

    Args:
        most_steps: UNBOUNDED for any.

    Raises:
        Hopeless: it would take at least HOPELESS times as many.
    """
    if most_steps == UNBOUNDED:
        return
    _, pairs = _Foresight(known).of(plan)
    if pairs >= HOPELESS * most_steps:
        raise Hopeless(
            f"its joins would look at about {pairs:,.0f} pairs of rows, and one query may take"
            f" {most_steps:,} steps",
            found=f"about {pairs:,.0f} pairs",
            exists=(f"up to {most_steps:,} steps an epoch",),
            attempt="join on equal columns, or select before you join",
        )


class _Foresight:
    """Looks at each part of a plan once: an inlined view occurs as often as it is read."""

    def __init__(self, known: KnownCounts) -> None:
        self._known = known
        self._seen: dict[int, tuple[float, float]] = {}

    def of(self, plan: Plan) -> tuple[float, float]:
        """Returns a low guess of a plan's rows, and of the pairs that its joins look at."""
        known = self._seen.get(id(plan))
        if known is None:
            below = [self.of(child) for child in children(plan)]
            rows, looked_at = self._at(plan, [rows for rows, _ in below])
            known = self._seen[id(plan)] = rows, looked_at + sum(pairs for _, pairs in below)
        return known

    def _at(self, plan: Plan, below: list[float]) -> tuple[float, float]:
        rows = below[0] if below else 1.0
        match plan:
            case Scan():
                return self._known.rows(plan.relation) or 1.0, 0.0
            case Values():
                return float(len(plan.rows)), 0.0
            case RecursiveRef() | Window():
                return 1.0, 0.0  # nobody has counted them
            case Fixpoint() | Project() | Ship():
                return rows, 0.0
            case Filter():
                fixed = any(map(_has_constant, conjuncts(plan.predicate)))
                return (1.0 if fixed else max(1.0, rows * _KEPT)), 0.0
            case Join():
                both = min(below) if plan.on else below[0] * below[1]
                kept = both if plan.residual is None else max(1.0, both * _KEPT)
                return kept, 0.0 if plan.on else both
            case AntiJoin() | OuterJoin() | MarkJoin():
                pairs = 0.0 if plan.on or plan.residual is None else below[0] * below[1]
                return max(1.0, rows * _KEPT), pairs
            case Union():
                return sum(below), 0.0
            case GroupBy():
                return (sqrt(rows) if plan.keys else 1.0), 0.0
            case TopK():
                return (rows if plan.limit is None else min(rows, float(plan.limit))), 0.0
            case _:
                return sqrt(rows), 0.0


def _has_constant(one: Expr) -> bool:
    """Whether a condition fixes a value."""
    if not isinstance(one, Op) or one.symbol != "=":
        return False
    return isinstance(one.left, Const) or isinstance(one.right, Const)
