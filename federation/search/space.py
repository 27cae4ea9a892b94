"""What a search asks of a query: its and-or graph, node by node, and the costs in it.

An OR node is an expression with a property it must have; an AND node is one way to it: an
operator over at most two OR nodes [Liu, Ives and Loo, SIGMOD 2016, section 3.2].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from aspen.errors import AspenError

NONE = "-"
"""Stands for a child that is not there."""
SCAN = "scan"
"""The logical operator that reads what is there."""

Node = tuple[str, str]
"""An OR node: expression and property."""


class NoPlan(AspenError, code="federation.search.no_plan"):
    """There is no way to bring the answer to where it is wanted."""


@dataclass(frozen=True, slots=True, order=True)
class And:
    """An AND node; their order is that of equally good plans."""

    expr: str
    prop: str
    index: int
    log: str
    phy: str
    left: str = NONE
    left_prop: str = NONE
    right: str = NONE
    right_prop: str = NONE

    @property
    def node(self) -> Node:
        """The OR node it is a way to."""
        return self.expr, self.prop

    @property
    def children(self) -> tuple[Node, ...]:
        """The OR nodes it stands on."""
        pairs = ((self.left, self.left_prop), (self.right, self.right_prop))
        return tuple(pair for pair in pairs if pair[0] != NONE)


class Space(Protocol):
    """An and-or graph; all answers are the same at every call."""

    @property
    def goal(self) -> Node:
        """The query and the property its answer must have."""
        ...

    def ways(self, node: Node) -> tuple[And, ...]:
        """Returns every way to an OR node, in order."""
        ...

    def cost(self, way: And) -> int:
        """Returns the cost of an operator without its children, a whole number."""
        ...

    def upwards(self) -> Iterable[Node]:
        """Returns every OR node that may be asked for, children before those that stand on them."""
        ...


@dataclass(frozen=True, slots=True)
class PlanTree:
    """A plan: a way, the plans of its children, and what all of it costs."""

    way: And
    cost: int
    children: tuple[PlanTree, ...]

    def lines(self, depth: int = 0) -> list[str]:
        """Print it, one operator a line."""
        own = f"{'  ' * depth}{self.way.log} {self.way.phy}: {self.way.expr} {self.way.prop}"
        return [f"{own}  ({self.cost})", *(s for c in self.children for s in c.lines(depth + 1))]

    @property
    def text(self) -> str:
        """The plan as text; equal plans have equal texts."""
        return "\n".join(self.lines())


def unfold(goal: Node, best: dict[Node, tuple[int, And]]) -> PlanTree:
    """Follow the best ways down from an OR node.

    Raises:
        NoPlan: the node has no way.
    """
    if goal not in best:
        raise NoPlan("no plan brings the answer there", found=" ".join(goal))
    cost, way = best[goal]
    return PlanTree(way, cost, tuple(unfold(child, best) for child in way.children))
