"""What every search asks of a query: its and-or graph, node by node, and the costs in it.

An OR node is an expression with a property it must have; an AND node is one way to it: an
operator over at most two OR nodes. These are the external functions of the rules
[Liu, Ives and Loo, SIGMOD 2016, section 3.2].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from aspen.errors import AspenError

NONE = "-"
"""Stands for a child that is not there."""
SCAN = "scan"

Node = tuple[str, str]
"""An OR node: expression and property."""


class NoPlan(AspenError):
    """There is no way to bring the answer to where it is wanted."""

    code = "federation.search.no_plan"


@dataclass(frozen=True, slots=True, order=True)
class And:
    """An AND node, in the columns of SearchSpace; their order is that of equally good plans."""

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
    """The external functions; all answers are the same at every call."""

    @property
    def goal(self) -> Node:
        """The query and the property its answer must have."""
        ...

    def is_leaf(self, expr: str) -> bool:
        """Say whether an expression is one relation (Fn_isleaf)."""
        ...

    def split(self, expr: str, prop: str) -> tuple[And, ...]:
        """Returns every way to an OR node but scans: joins (Fn_split) and enforcers."""
        ...

    def scans(self, expr: str, prop: str) -> tuple[str, ...]:
        """Returns the scans that deliver a property (Fn_phyOp)."""
        ...

    def scan_summary(self, expr: str, prop: str) -> str:
        """Describe what a scan gives (Fn_scansummary)."""
        ...

    def nonscan_summary(self, way: And) -> str:
        """Describe what an operator gives (Fn_nonscansummary)."""
        ...

    def scan_cost(self, expr: str, prop: str, phy: str) -> int:
        """Returns the cost of a scan (Fn_scancost)."""
        ...

    def nonscan_cost(self, way: And) -> int:
        """Returns the cost of an operator without its children (Fn_nonscancost)."""
        ...

    def upwards(self) -> Iterable[Node]:
        """Returns every OR node that may be asked for, children before those that stand on them."""
        ...


def fn_sum(*costs: int) -> int:
    """Add the costs of children and operator (Fn_sum); they are whole numbers, so exactly."""
    return sum(costs)


def ways(space: Space, node: Node) -> tuple[And, ...]:
    """Returns every way to an OR node, in order."""
    expr, prop = node
    found = list(space.split(expr, prop))
    if space.is_leaf(expr):
        found += [And(expr, prop, 0, SCAN, phy) for phy in space.scans(expr, prop)]
    return tuple(sorted(found))


def own_cost(space: Space, way: And) -> int:
    """Returns the cost of an AND node's operator alone."""
    if way.log == SCAN:
        return space.scan_cost(way.expr, way.prop, way.phy)
    return space.nonscan_cost(way)


@dataclass(frozen=True, slots=True)
class PlanTree:
    """A plan: a way, and the plans of its children."""

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


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found."""

    cost: int
    plan: PlanTree


def unfold(goal: Node, best: dict[Node, tuple[int, And]]) -> PlanTree:
    """Follow the best ways down from an OR node.

    Raises:
        NoPlan: the node has no way.
    """
    if goal not in best:
        raise NoPlan("no plan brings the answer there", found=" ".join(goal))
    cost, way = best[goal]
    return PlanTree(way, cost, tuple(unfold(child, best) for child in way.children))
