"""Border 5: plan → federated plan. Every node gets a site, every border a Ship.

For each device stream that is sent as it is measured, the motes may run a longer or shorter piece
of the chain of selections above its scan. Where a plan holds the newest row of each device, the
motes may instead answer epoch by epoch: selected, joined or aggregated (`federation.regions`);
there the search decides. The cheapest wins, the others are kept for EXPLAIN.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from aspen.algebra.expr import conjuncts
from aspen.algebra.plan import Plan, Ship, children, map_children, with_children
from aspen.algebra.renaming import filtered
from aspen.model.catalog import Catalog
from federation.accesses import Fetch
from federation.arrange import arranged, chosen_fetches
from federation.choices import StreamChoice, choice_of, counted, device_scans, sending
from federation.cost import Cost, Weights
from federation.regions import Path, Region, Search
from federation.search.bottom_up import bottom_up
from federation.search.joins import MICRO, JoinSpace
from federation.search.space import PlanTree
from federation.sites import ENGINE, SensorSite
from federation.statistics import Statistics


@dataclass(frozen=True)
class Decision:
    """A way to bring all streams of a region.

    Args:
        found: the plan of the search, with its weighed cost.
        fetches: what it uses, by stream.
    """

    region: Region
    found: PlanTree
    fetches: tuple[Fetch, ...]

    @property
    def runs(self) -> bool:
        """Whether a piece of it runs in the network."""
        return any(one.piece is not None for one in self.fetches)

    @property
    def names(self) -> tuple[str, ...]:
        """The fetches' names."""
        return tuple(one.name for one in self.fetches)

    @property
    def cost(self) -> Cost:
        """What the network's part costs."""
        return reduce(Cost.beside, (one.cost for one in self.fetches), Cost())

    @property
    def weighed(self) -> float:
        """The cost of the whole region, by the metric; what the search minimises."""
        return self.found.cost / MICRO


@dataclass(frozen=True)
class FederatedPlan:
    """A plan with a Ship at each border.

    Args:
        choices: for the streams that are sent as they are measured.
        decisions: for the regions where motes could answer epoch by epoch.
        refused: streams no epoch can give, and why.

    Law: `strip_ships(plan)` has the rows of the logical plan, over all data; it differs only
    where a selection was parted between two sites, and in the order of joins around a piece.
    """

    plan: Plan
    choices: tuple[StreamChoice, ...]
    cost: Cost
    weights: Weights = field(default_factory=Weights)
    decisions: tuple[Decision, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def pieces(self) -> tuple[Fetch, ...]:
        """What runs in the network, epoch by epoch."""
        return tuple(
            one for each in self.decisions for one in each.fetches if one.piece is not None
        )


def assign_sites(  # what is assigned, what is known, and what may be assumed
    plan: Plan,
    catalog: Catalog,
    statistics: Statistics | None = None,
    weights: Weights | None = None,
    sensors: SensorSite | None = None,
    awake: frozenset[str] = frozenset(),
) -> FederatedPlan:
    """Decide where each node runs.

    Args:
        plan: logical, rewritten.
        catalog: says which streams come from devices.
        statistics: rates; those the catalog declares, if None.
        weights: what the optimizer minimises.
        sensors: the sensor network's capabilities.
        awake: streams whose rows are sent as they are measured anyway, for another query.

    Law: the cost is the least of all sound alternatives; the same arguments give the same plan.
    """
    return options(plan, catalog, statistics, weights, sensors, awake).assigned()


@dataclass(frozen=True)
class Options:
    """Every way to assign a plan's nodes to sites.

    Args:
        choices: for each device stream, how it is sent as it is measured, by the path of its scan.
        regions: where motes could answer at epochs instead.
    """

    plan: Plan
    choices: Mapping[Path, StreamChoice]
    regions: tuple[Region, ...]
    weights: Weights
    source: str
    refused: tuple[tuple[str, str], ...]

    def assigned(self, covers: Mapping[Path, Collection[str]] | None = None) -> FederatedPlan:
        """Assigns each node to a site.

        Args:
            covers: names of the fetches a region may use, by its path; the others have all.

        Raises:
            NoPlan: a stream of a region cannot come by the fetches it is left with.
        """
        given = covers or {}
        decisions = tuple(decided(one, given.get(one.path)) for one in self.regions)
        assigning = _Assigning(self.source, ENGINE, self.choices, decisions)
        federated = assigning.built(self.plan, ())
        remaining = tuple(self.choices[path] for path in sorted(assigning.used))
        costs = [choice.chosen.cost for choice in remaining]
        costs += [one.cost for each in decisions for one in each.fetches if one.piece is not None]
        cost = reduce(Cost.beside, costs, Cost())
        return FederatedPlan(federated, remaining, cost, self.weights, decisions, self.refused)


def options(  # as assign_sites
    plan: Plan,
    catalog: Catalog,
    statistics: Statistics | None = None,
    weights: Weights | None = None,
    sensors: SensorSite | None = None,
    awake: frozenset[str] = frozenset(),
) -> Options:
    """Finds every way to assign a plan's nodes; the arguments are those of `assign_sites`."""
    scans = dict(device_scans(plan, catalog))
    streams = (scan.relation for scan in scans.values())
    known = counted(statistics or Statistics.of(catalog), catalog, streams)
    weighing = weights or Weights()
    network = sensors or SensorSite()
    choices = {
        path: choice_of(plan, path, catalog.get(scan.relation), network, known, weighing)
        for path, scan in scans.items()
    }
    measured = {
        path: sending(choice, catalog.get(choice.stream), known, awake)
        for path, choice in choices.items()
    }
    search = Search(catalog, known, weighing, network, measured)
    regions = tuple(search.regions(plan))
    refused = tuple(dict.fromkeys(search.refused))
    return Options(plan, choices, regions, weighing, network.name, refused)


def decided(region: Region, names: Collection[str] | None = None) -> Decision:
    """Searches for the cheapest way to bring a region's streams by some of its fetches.

    Args:
        names: of the fetches; all for None.
    """
    problem = region.problem
    if names is not None:
        problem = replace(
            problem, accesses=tuple(one for one in problem.accesses if one.name in names)
        )
    found = bottom_up(JoinSpace(problem))
    fetches = sorted(chosen_fetches(region, found), key=lambda one: one.aliases)
    return Decision(region, found, tuple(fetches))


class _Assigning:
    """Puts the borders into a plan."""

    def __init__(
        self,
        source: str,
        target: str,
        choices: Mapping[Path, StreamChoice],
        decisions: tuple[Decision, ...],
    ) -> None:
        self.used: set[Path] = set()
        self._sites = source, target
        self._decisions = {one.region.path: one for one in decisions if one.runs}
        self._borders = {
            path[: len(path) - choice.chosen.cut + 1]: (path, choice)
            for path, choice in choices.items()
        }

    def built(self, node: Plan, path: Path) -> Plan:
        """Returns a node's federated plan."""
        decision = self._decisions.get(path)
        if decision is not None:
            return arranged(decision.region, decision.found, self._sites, self.built)
        return self._part(node, path)

    def _part(self, node: Plan, path: Path) -> Plan:
        border = self._borders.get(path)
        if border is None:
            below = children(node)
            inner = (self.built(child, (*path, n)) for n, child in enumerate(below))
            return with_children(node, tuple(inner))
        scan, choice = border
        self.used.add(scan)
        shipped = Ship(choice.chosen.motes, *self._sites)
        return filtered(shipped, conjuncts(choice.chosen.remainder))


def strip_ships(plan: Plan) -> Plan:
    """Returns a federated plan without its borders."""
    if isinstance(plan, Ship):
        return strip_ships(plan.child)
    return map_children(plan, strip_ships)


def sites(plan: Plan, site: str = ENGINE) -> Iterator[tuple[int, Plan, str]]:
    """Returns every node with its depth and its site, from the root down."""
    stack: list[tuple[int, Plan, str]] = [(0, plan, site)]
    while stack:
        depth, node, here = stack.pop()
        yield depth, node, here
        below = node.source if isinstance(node, Ship) else here
        stack.extend((depth + 1, child, below) for child in reversed(children(node)))
