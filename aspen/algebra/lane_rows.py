"""Lane rows: one lane's part of a plan over relations of which every lane has rows of its own.

    lanes            0                          1
    sys_queries      (a, running, …, lane 0)    (a, elsewhere, …, lane 1)

Nothing need be parted there: it is, and a column of such a relation says where a row is. What is
computed row by row, or group by group of that column, is computed in every lane. What would have
to see the rows of several lanes at once is refused: rows of that kind do not travel.

Law:    the rows of the parts 0 … n - 1 add up to those of the plan over the rows of all lanes.
Source: own, on top of `splitting`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from aspen.algebra.carried import Carried, PartNode, Root, meets
from aspen.algebra.expr import Col, Const, Expr, IsNull, Not, Op
from aspen.algebra.plan import (
    AntiJoin,
    Filter,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Scan,
)
from aspen.algebra.splitting import Reads, Splitting
from aspen.errors import AspenError
from aspen.model.schema import Type

LANE = "lane"
"""The column that says which lane a row is of."""


class CrossesLanes(AspenError, code="aspen.algebra.crosses_lanes"):
    """A plan would need the rows of several lanes at once."""


def lane_part(
    plan: Plan, relations: frozenset[str], number: int, lanes: int, column: str = LANE
) -> PartNode:
    """Returns what one lane computes of a plan.

    Args:
        plan: over base relations alone.
        relations: those of which every lane has rows of its own.
        column: the one of them that says which.

    Raises:
        CrossesLanes: it is not the sum of what the lanes would compute each for itself; raised
            for every `number` or for none.
    """
    return _LaneRows(Root("", column), number, lanes, relations=relations).part(plan)


@dataclass
class _LaneRows(Splitting):
    relations: frozenset[str] = frozenset()

    def part(self, plan: Plan) -> PartNode:
        found = super().part(plan)
        if found.kept is None and self._reading(plan).root:
            raise _refused(plan)
        return found

    def _scan(self, plan: Scan) -> PartNode:
        return PartNode(plan, self._carried_by(plan))

    def _restricted(self, plan: Plan, column: str | None) -> PartNode:
        """Let each lane have the rows with its number, and the first one all that have none."""
        typed = {one.name: one.type for one in plan.columns}
        if column is None or typed[column] is not Type.INT:
            return super()._restricted(plan, column)
        if self.parts == 1:
            return PartNode(plan, {column: Carried.VALUE})
        mine = _equals(column, self.number)
        if self.number == 0:
            others = [_equals(column, number) for number in range(1, self.parts)]
            mine = Op("OR", Not(reduce(_either, others)), IsNull(Col(column)))
        return PartNode(Filter(plan, mine), {column: Carried.VALUE})

    def _join(self, plan: Join) -> PartNode:
        self._must_meet(plan)
        return super()._join(plan)

    def _beside(self, plan: AntiJoin | OuterJoin | MarkJoin) -> PartNode:
        self._must_meet(plan)
        return super()._beside(plan)

    def _must_meet(self, plan: Join | AntiJoin | OuterJoin | MarkJoin) -> None:
        left, right = self.part(plan.left), self.part(plan.right)
        both = left.kept is not None and right.kept is not None
        if both and not meets(left.kept or {}, right.kept or {}, plan.on):
            raise _refused(plan)

    def _read_by(self, plan: Plan) -> Reads:
        found = super()._read_by(plan)
        own = isinstance(plan, Scan) and plan.relation in self.relations
        return replace(found, root=True) if own else found


def _equals(column: str, number: int) -> Expr:
    return Op("=", Col(column), Const(number))


def _either(left: Expr, right: Expr) -> Expr:
    return Op("OR", left, right)


def _refused(plan: Plan) -> CrossesLanes:
    return CrossesLanes(
        "this needs what the engine says of several lanes at once",
        found=type(plan).__name__,
        attempt=f"keep the column {LANE}: group by it, and join by it",
    )
