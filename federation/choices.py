"""Choices: how much of the selections above a device stream the motes run before they send.

That is for streams that are sent as they are measured. Every sound cut is an alternative; the
cheapest wins, the others are kept for EXPLAIN.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce

from aspen.algebra.explain import node_text
from aspen.algebra.expr import Expr
from aspen.algebra.plan import Filter, Plan, Project, Scan, children
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, Type
from aspen.motes.kinds import sample_mj
from federation.cost import MICRO_BATCH_MS, Cost, Weights, in_network, rows_per_s
from federation.network import Network
from federation.pieces import USUAL_PERIOD_S
from federation.regions import Path
from federation.sites import MOTES, Accepted, SensorSite
from federation.statistics import Statistics


@dataclass(frozen=True, slots=True)
class Alternative:
    """One sound position of the border between motes and engine.

    Args:
        cut: nodes of the chain that run on the motes, the scan counted.
        motes: what runs there.
        remainder: predicate the engine checks right behind the border, None if there is none.
        cost: of bringing the stream to the engine this way.
    """

    cut: int
    motes: Plan
    remainder: Expr | None
    cost: Cost


@dataclass(frozen=True, slots=True)
class StreamChoice:
    """What was decided for one device stream.

    Args:
        path: where its scan stands in the logical plan.
        alternatives: all sound ones, the shortest cut first.
        chosen: the one taken.
        refused: the first node above the longest cut, and why it cannot run on the motes.
    """

    stream: str
    alias: str
    path: Path
    alternatives: tuple[Alternative, ...]
    chosen: Alternative
    refused: tuple[str, str]


def counted(known: Statistics, catalog: Catalog, streams: Iterable[str]) -> Statistics:
    """Fill in what nobody measured, so that all ways of asking the devices are priced alike.

    Devices are counted by their rate; of a network nobody looked at, one guess serves all.
    """
    devices = {one.name: one.device for one in catalog if one.device}
    counts = {name: max(1.0, known.rate_hz(name) * USUAL_PERIOD_S) for name in devices}
    there = {name: count for name, count in known.counts.items() if count or name not in devices}
    filled = replace(known, counts={**counts, **there}, devices={**devices, **known.devices})
    if known.network is not None:
        return filled
    sensors = {
        name: (
            devices[name],
            max(1, round(filled.counts[name])),
            [column.name for column in catalog.get(name).columns if column.type is Type.TEXT],
        )
        for name in sorted(set(streams))
        if devices.get(name) in MOTES
    }
    return replace(filled, network=Network.guessed(sensors)) if sensors else filled


def choice_of(  # as assign_sites
    plan: Plan,
    path: Path,
    relation: Relation,
    network: SensorSite,
    known: Statistics,
    weighing: Weights,
) -> StreamChoice:
    """Choose how a stream is sent as it is measured."""
    chain, refused = sound_chain(plan, path, network)
    wired = relation.device in network.soft
    found = tuple(
        Alternative(
            cut,
            one.node,
            one.remainder,
            _wired(one.node, relation.name, known)
            if wired
            else in_network(one.node, relation.name, known),
        )
        for cut, one in enumerate(chain, start=1)
    )
    chosen = min(found, key=lambda one: (weighing.total(one.cost), one.cut))
    scan = node_at(plan, path)
    assert isinstance(scan, Scan)
    return StreamChoice(relation.name, scan.alias, path, found, chosen, refused)


def _wired(plan: Plan, stream: str, known: Statistics) -> Cost:
    """Returns what a stream costs that no radio carries."""
    return Cost(latency_ms=MICRO_BATCH_MS, rows_per_s=rows_per_s(plan, stream, known))


def sending(
    choice: StreamChoice, relation: Relation, known: Statistics, awake: frozenset[str]
) -> Cost:
    """What a stream costs as it is measured, samples included; no more where it is awake."""
    cost = choice.chosen.cost
    if choice.stream in awake:
        return cost.awaited
    sampling = known.rate_hz(choice.stream) * sample_mj(relation.device)
    return replace(cost, energy_mj_per_s=cost.energy_mj_per_s + sampling)


def device_scans(plan: Plan, catalog: Catalog, path: Path = ()) -> Iterator[tuple[Path, Scan]]:
    """Returns the scans of streams that devices measure, and where they stand."""
    if isinstance(plan, Scan):
        if plan.stream and plan.relation in catalog and catalog.get(plan.relation).device:
            yield path, plan
        return
    for index, child in enumerate(children(plan)):
        yield from device_scans(child, catalog, (*path, index))


def node_at(plan: Plan, path: Path) -> Plan:
    """Returns the node at a path."""
    return reduce(lambda node, index: children(node)[index], path, plan)


def sound_chain(
    plan: Plan, path: Path, network: SensorSite
) -> tuple[list[Accepted], tuple[str, str]]:
    """Returns what the network accepts from a scan upwards, and what stops it.

    Only selections and projections are asked for: what keeps state (a ROWS window!) sees rows
    that a selection above it must not have taken away.

    Returns:
        The chain, the scan first; then the text of the node that ends it and the reason.
    """
    chain = [Accepted(node_at(plan, path))]
    for length in range(len(path) - 1, -1, -1):
        node = node_at(plan, path[:length])
        accepted = network.accept(node) if isinstance(node, Filter | Project) else None
        if accepted is not None:
            chain.append(accepted)
        if accepted is None or accepted.remainder is not None:
            return chain, (node_text(node), network.refusal(node))
    return chain, ("", "")
