"""Regions: the parts of a plan where the network leaves a choice, each as a search problem.

    σ(s) ⋈ σ(l) ⋈ m     a group of joins in which device streams are sampled
    γ(σ(t))             an aggregate over one
    σ(t)                a selection above a window

Every way in which motes can bring a region's streams is an access: as measured, selected at
epochs, joined or aggregated in the network. The search chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from aspen.algebra.expr import columns_in
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
    Scan,
    Ship,
    Window,
    children,
)
from aspen.model.catalog import Catalog
from federation.accesses import Fetch, joined_fetches, measured_fetch, selected_fetch
from federation.cost import Cost, Weights
from federation.pieces import grouped_fragment, grouping_refusal
from federation.sampled import Sampled, sampled
from federation.search.from_plan import JoinGroup, group_of, problem_of
from federation.search.problem import JoinProblem
from federation.sites import SensorSite
from federation.statistics import Statistics

Path = tuple[int, ...]
MOST_SEARCHED = 7  # a clique of eight has 6,000 splits
MOST_STREAMS = 8  # own choice: of all joins of one plan; seven in one take a second


@dataclass(frozen=True)
class Region:
    """A part of a plan with a choice.

    Args:
        path: where its top stands.
        needed: columns of the top that are read above it.
        fetches: by the name of their access.
        refused: what cannot run in the network, and why.
    """

    path: Path
    top: Plan
    needed: frozenset[str]
    group: JoinGroup
    problem: JoinProblem
    fetches: Mapping[str, Fetch]
    refused: tuple[tuple[str, str], ...] = ()


@dataclass
class Search:
    """Finds the regions of one plan.

    Args:
        measured: cost of bringing each device stream as it is measured, by the path of its scan.
        refused: streams in no region, and why.
    """

    catalog: Catalog
    statistics: Statistics
    weights: Weights
    network: SensorSite
    measured: Mapping[Path, Cost]
    refused: list[tuple[str, str]] = field(default_factory=list)
    _streams: int = 0

    def regions(self, plan: Plan) -> list[Region]:
        """Returns the regions of a plan, from the root down."""
        if not self.network.runs:
            return []
        everything = plan.names
        return list(self._walk(plan, (), everything))

    def _walk(self, node: Plan, path: Path, needed: frozenset[str]) -> Iterator[Region]:
        if isinstance(node, Fixpoint):
            self._refuse_all(node, "it stands inside a recursion")
            return
        if isinstance(node, GroupBy):
            found = self._grouped(node, path, needed)
            if found is not None:
                yield found
                return
        if isinstance(node, Join):
            yield from self._joined(node, path, needed)
            return
        part = sampled(node, self.catalog, self.network)
        if isinstance(part, Sampled) and (part.keys or not isinstance(node, Project)):
            region = self._alone(node, path, needed, part)
            if region is not None:
                yield region
            return
        if part and not isinstance(part, Sampled):
            self.refused.append((_stream(node), part))
            return
        for index, child in enumerate(children(node)):
            yield from self._walk(child, (*path, index), _needed_below(node, index, needed))

    def _refuse_all(self, node: Plan, reason: str) -> None:
        part = sampled(node, self.catalog, self.network)
        if isinstance(part, Sampled):
            self.refused.append((part.scan.alias, reason))
            return
        for child in children(node):
            self._refuse_all(child, reason)

    def _alone(
        self, node: Plan, path: Path, needed: frozenset[str], part: Sampled
    ) -> Region | None:
        found = selected_fetch("it", node, needed, part, self.statistics, self.network)
        if isinstance(found, str):
            self.refused.append((part.scan.alias, found))
            return None
        cost = self._cost(path, node)
        fetches = [measured_fetch("it", part.scan.alias, cost), found]
        return self._single(node, path, needed, fetches, ())

    def _grouped(self, node: GroupBy, path: Path, needed: frozenset[str]) -> Region | None:
        part = sampled(node.child, self.catalog, self.network)
        if not isinstance(part, Sampled):
            return None
        refusal = grouping_refusal(node, part, self.network)
        if refusal:
            self.refused.append((part.scan.alias, refusal))
            return None
        piece = grouped_fragment(node, part, self.statistics)
        name = part.scan.alias
        fetches = [
            measured_fetch("it", name, self._cost((*path, 0), node.child)),
            Fetch(f"aggregate {name} in the tree", ("it",), piece.estimate.cost, piece=piece),
        ]
        read = _needed_below(node, 0, needed)
        below = selected_fetch("it", node.child, read, part, self.statistics, self.network)
        refused: tuple[tuple[str, str], ...] = ()
        if isinstance(below, Fetch):
            fetches.append(replace(below, above=node))
        else:
            refused = ((f"select {name}", below),)
        return self._single(node, path, needed, fetches, refused)

    def _single(
        self,
        node: Plan,
        path: Path,
        needed: frozenset[str],
        fetches: list[Fetch],
        refused: tuple[tuple[str, str], ...],
    ) -> Region:
        group = JoinGroup({"it": (node, path)})
        return self._region(node, path, needed, group, fetches, refused)

    def _joined(self, node: Join, path: Path, needed: frozenset[str]) -> Iterator[Region]:
        group = group_of(node, path)
        touched = {name for pair in group.equalities for name in pair}
        read = frozenset(needed | touched).union(*map(columns_in, group.conditions))
        parts = {
            alias: part
            for alias, (plan, _) in group.parts.items()
            if isinstance(part := sampled(plan, self.catalog, self.network), Sampled)
        }
        against = self._too_many(len(group.parts), len(parts))
        if not parts or against:
            if parts:
                self.refused.append((", ".join(parts), f"{against}: not searched"))
            for plan, here in group.parts.values():
                if not isinstance(plan, Join):
                    own = plan.names
                    yield from self._walk(plan, here, read & own)
            return
        fetches: list[Fetch] = []
        refused: list[tuple[str, str]] = []
        for alias, part in parts.items():
            plan, here = group.parts[alias]
            cost = self._cost(here, plan)
            fetches.append(measured_fetch(alias, part.scan.alias, cost))
            found = selected_fetch(alias, plan, read, part, self.statistics, self.network)
            if isinstance(found, Fetch):
                fetches.append(found)
            else:
                refused.append((f"select {alias}", found))
        joins, why = joined_fetches(group, parts, needed, self.statistics, self.network)
        yield self._region(node, path, needed, group, [*fetches, *joins], (*refused, *why))
        for alias, (plan, here) in group.parts.items():
            if alias not in parts:
                own = plan.names
                yield from self._walk(plan, here, read & own)

    def _too_many(self, relations: int, streams: int) -> str:
        """Says why a group of joins is not searched; empty if it is."""
        if relations > MOST_SEARCHED:
            return f"more than {MOST_SEARCHED} relations are joined"
        if self._streams + streams > MOST_STREAMS:
            return f"more than {MOST_STREAMS} streams are joined in the whole query"
        self._streams += streams
        return ""

    def _region(
        self,
        node: Plan,
        path: Path,
        needed: frozenset[str],
        group: JoinGroup,
        fetches: list[Fetch],
        refused: tuple[tuple[str, str], ...],
    ) -> Region:
        problem = problem_of(group, self.statistics, self.weights, fetches)
        by_name = {one.name: one for one in fetches}
        return Region(path, node, needed, group, problem, by_name, refused)

    def _cost(self, path: Path, node: Plan) -> Cost:
        while not isinstance(node, Scan):
            (node,) = children(node)
            path = (*path, 0)
        return self.measured[path]


def _stream(node: Plan) -> str:
    while isinstance(node, Filter | Project | Window):
        node = node.child
    return node.alias if isinstance(node, Scan) else ""


def _needed_below(node: Plan, index: int, needed: frozenset[str]) -> frozenset[str]:
    """Returns the columns of a node's input that are read, given those of the node itself.

    Law: a plan gives the same rows when a node below gives only the columns needed of it.
    """
    own = children(node)[index].names
    match node:
        case Project(_, outputs):
            return frozenset[str]().union(*(columns_in(value) for _, value in outputs))
        case Filter(_, predicate):
            return (needed | columns_in(predicate)) & own
        case Window(_, partition_by):
            return (needed | {*partition_by, node.on or ""}) & own
        case GroupBy(_, keys, aggregates):
            return frozenset(keys) | {name for one in aggregates for name in one.reads}
        case Join() | AntiJoin() | OuterJoin() | MarkJoin():
            compared = {name for pair in node.on for name in pair}
            return (needed | compared | columns_in(node.residual)) & own
        case Ship():
            return needed & own
        case _:
            return own  # whole rows are compared, or columns counted from the left
