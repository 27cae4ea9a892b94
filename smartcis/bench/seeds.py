"""Repeat the seeds' distributed experiments: strategies side by side on simulated query nodes.

Each run has its own network, made from its seed, and every strategy gets the same one in the same
order. Convergence is virtual time plus the computing of the busiest node, since nodes compute side
by side; `cpu_s` is all nodes' computing together, what one core needs. Source: [LTZIL09] section
VIII; the figures' numbers are those of the thesis, chapter 3.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from aspen.runtime.network.exchange import TurnedOut
from aspen.runtime.network.fact import Fact, link, triggered
from aspen.runtime.network.network import QueryNetwork
from aspen.runtime.network.topology import DENSE, SPARSE, transit_stub
from smartcis.bench.report import Target, report

FIGURES = ("12", "13", "14", "15", "16", "17")
RUNS, QUICK_RUNS = 10, 2
NODES = 12
DENSITIES = {"dense": DENSE, "sparse": SPARSE}
ALL = ("absorption-lazy", "absorption-push", "relative", "dred")
BUDGET_S, QUICK_BUDGET_S = 20.0, 2.0
"""Computing allowed to one insertion; the seeds stopped at 5 min of 12 machines."""

FIELD_SENSORS, SPACING_M, NEAR_M, GROUPS = 10, 10.0, 20.0, 5
"""Sensors along each side of a field of 100 m by 100 m, and what the seeds say of them."""

T95 = {2: 12.706, 3: 4.303, 10: 2.262}
"""Student's t for a two-sided 95 % interval of so many runs."""

Sample = dict[str, float]
Say = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much to measure.

    Args:
        runs: networks, each from its own seed.
        budget_s: computing allowed to one insertion.
        deletions: links deleted one at a time.
    """

    runs: int
    budget_s: float
    deletions: int


def run(*, quick: bool, say: Say, figure: str | None = None) -> dict[str, Any]:
    """Repeat one figure or all; give the bench's JSON object."""
    scale = Scale(QUICK_RUNS, QUICK_BUDGET_S, 8) if quick else Scale(RUNS, BUDGET_S, 40)
    figures: dict[str, Any] = {"runs": scale.runs, "nodes": NODES}
    targets: list[Target] = []
    for number in (figure,) if figure else FIGURES:
        say(f"figure {number}")
        figures[number], found = MEASURED[number](scale, say)
        targets += found
    return report("seeds", figures, targets)


def figure_12(scale: Scale, say: Say) -> tuple[dict[str, Any], list[Target]]:
    """Insert a growing share of the links."""
    strategies = ("dred", "absorption-lazy", "relative", "absorption-eager")
    points = {
        strategy: {
            str(share): _interval(scale, partial(_inserted, strategy, scale=scale, share=share))
            for share in (0.25, 0.5, 0.75, 1.0)
        }
        for strategy in strategies
    }
    for strategy in strategies:
        say(f"  {strategy}: {points[strategy]['1.0']}")
    return {"x": "share of the links inserted", "dense": points}, []


def figure_13(scale: Scale, say: Say) -> tuple[dict[str, Any], list[Target]]:
    """Delete links one at a time; means per deletion."""
    points: dict[str, Any] = {}
    for name, density in DENSITIES.items():
        points[name] = {
            strategy: _interval(scale, partial(_deleted, strategy, scale=scale, density=density))
            for strategy in (*ALL, "recompute")
        }
        for strategy, found in points[name].items():
            say(f"  {name} {strategy}: {found}")
    dense = points["dense"]

    def ratio(strategy: str, metric: str) -> float:
        lazy = dense["absorption-lazy"][metric]["mean"]
        return round(float(dense[strategy][metric]["mean"] / lazy), 2)

    return points, [
        Target(
            f"dense deletion, {metric} of {strategy} over absorption-lazy",
            ratio(strategy, metric),
            bound,
            "times",
            at_most=False,
        )
        for strategy, bound in (("dred", 10), ("relative", 2))
        for metric in ("kilobytes", "convergence_s")
    ]


def figure_14(scale: Scale, say: Say) -> tuple[dict[str, Any], list[Target]]:
    """Trigger half of the sensors of a field, then let them go one at a time."""
    points: dict[str, Any] = {}
    for what, drop in (("insert", False), ("delete", True)):
        points[what] = {
            strategy: _interval(scale, partial(_regions, strategy, scale=scale, drop=drop))
            for strategy in (*ALL, "absorption-eager")
        }
        for strategy, found in points[what].items():
            say(f"  {what} {strategy}: {found}")
    return points, []


def figure_15(scale: Scale, say: Say) -> tuple[dict[str, Any], list[Target]]:
    """Insert ever more links into ever larger networks."""
    points: dict[str, Any] = {}
    for name, density in DENSITIES.items():
        for strategy in ("absorption-lazy", "absorption-eager"):
            found = points[f"{strategy} {name}"] = {}
            for transits in (2, 4, 6, 8):
                places = transits * 25
                found[str(round(places * density))] = _interval(
                    scale,
                    partial(_inserted, strategy, scale=scale, density=density, transits=transits),
                )
            say(f"  {strategy} {name}: {found}")
    largest = points["absorption-lazy dense"]["800"]["cpu_s"]["mean"]
    target = Target("lazy, dense, 800 links, one core", largest, 1.0, "s")
    return {"x": "links", **points}, [target]


def figure_16(scale: Scale, say: Say) -> tuple[dict[str, Any], list[Target]]:
    """Spread the same network over ever more query nodes; insertion, then deletions."""
    points: dict[str, Any] = {}
    for strategy in ("absorption-lazy", "dred"):
        measures: dict[str, Callable[..., Sample | None]] = {
            "insert": _inserted,
            "delete": _deleted,
        }
        for what, measure in measures.items():
            found = points[f"{strategy} {what}"] = {
                str(nodes): _interval(scale, partial(measure, strategy, scale=scale, nodes=nodes))
                for nodes in (4, 8, 12, 16, 20, 24)
            }
            say(f"  {strategy} {what}: {found}")
    return {"x": "query nodes", **points}, []


def figure_17(scale: Scale, say: Say) -> tuple[dict[str, Any], list[Target]]:
    """Order the diagrams' variables depth first, or as the shuffled links come; insertion."""
    points: dict[str, Any] = {
        name: {
            order: _interval(
                scale,
                partial(
                    _inserted,
                    "absorption-push",
                    scale=scale,
                    density=density,
                    ordered=order == "depth first",
                ),
            )
            for order in ("depth first", "arrival")
        }
        for name, density in DENSITIES.items()
    }
    for name, found in points.items():
        say(f"  {name}: {found}")
    ordered, arrival = (
        points["dense"][order]["provenance_bytes_per_tuple"]["mean"]
        for order in ("depth first", "arrival")
    )
    saved = _short(100 * (1 - ordered / arrival))
    return points, [
        Target("provenance saved by depth-first order, dense", saved, 40, "%", at_most=False)
    ]


MEASURED = {
    "12": figure_12,
    "13": figure_13,
    "14": figure_14,
    "15": figure_15,
    "16": figure_16,
    "17": figure_17,
}


def _links(seed: int, density: float, transits: int) -> list[Fact]:
    topology = transit_stub(seed, links_per_place=density, transits=transits)
    facts = [link(*pair) for pair in topology.links]
    Random(seed).shuffle(facts)
    return facts


def _inserted(
    strategy: str,
    seed: int,
    scale: Scale,
    *,
    share: float = 1.0,
    density: float = DENSE,
    transits: int = 4,
    nodes: int = NODES,
    ordered: bool = False,
) -> Sample | None:
    """Insert links; None where that takes more than the budget."""
    links = _links(seed, density, transits)
    network = QueryNetwork(strategy, nodes, ordered=ordered)
    network.exchange.cpu_budget_s = scale.budget_s
    try:
        took_s = network.insert(links[: round(share * len(links))])
    except TurnedOut:
        return None
    return _sample(network, took_s, 1)


def _deleted(
    strategy: str,
    seed: int,
    scale: Scale,
    *,
    density: float = DENSE,
    nodes: int = NODES,
) -> Sample:
    """Insert all links, then delete some, one at a time; means per deletion."""
    links = _links(seed, density, 4)
    network = QueryNetwork(strategy, nodes)
    network.insert(links)
    network.reset()
    took_s = sum(network.delete([fact]) for fact in links[: scale.deletions])
    return _sample(network, took_s, scale.deletions)


def _regions(strategy: str, seed: int, *, scale: Scale, drop: bool) -> Sample | None:
    """Trigger seed sensors and half of the others; give this, or the means per sensor let go."""
    random = Random(seed)
    places = {
        row * FIELD_SENSORS + column: (column * SPACING_M, row * SPACING_M)
        for row in range(FIELD_SENSORS)
        for column in range(FIELD_SENSORS)
    }
    seeds = {sensor: [group] for group, sensor in enumerate(random.sample(sorted(places), GROUPS))}
    facts = triggered(places, seeds, NEAR_M)
    active = [*seeds, *random.sample(sorted(places.keys() - seeds), len(places) // 2)]
    network = QueryNetwork(strategy, NODES)
    network.exchange.cpu_budget_s = scale.budget_s
    try:
        took_s = network.insert(facts[sensor] for sensor in active)
    except TurnedOut:
        return None
    if not drop:
        return _sample(network, took_s, 1)
    network.reset()
    gone = random.sample(active[GROUPS:], scale.deletions)
    took_s = sum(network.delete([facts[sensor]]) for sensor in gone)
    return _sample(network, took_s, len(gone))


def _sample(network: QueryNetwork, took_s: float, changes: int) -> Sample:
    meter, peers = network.meter, network.peers
    rows = max(1, len(network.rows()))
    return {
        "provenance_bytes_per_tuple": sum(peer.provenance_bytes() for peer in peers) / rows,
        "kilobytes": meter.bytes / changes / 1e3,
        "kilobytes_per_node": meter.bytes / changes / len(peers) / 1e3,
        "state_kilobytes_per_node": sum(peer.state_bytes() for peer in peers) / len(peers) / 1e3,
        "convergence_s": (took_s + meter.cpu_busiest_s) / changes,
        "cpu_s": meter.cpu_total_s / changes,
        "messages": meter.packets / changes,
        "tuples_shipped": sum(meter.items.values()) / changes,
    }


def _interval(scale: Scale, measure: Callable[[int], Sample | None]) -> dict[str, Any]:
    """Measure on each seed's network; give means with the half width of their 95 % interval."""
    samples: list[Sample] = []
    for seed in range(scale.runs):
        sample = measure(seed)
        if sample is None:
            # A point without all its runs has no mean; each failure costs the whole budget.
            return {"did_not_converge_within_cpu_s": scale.budget_s}
        samples.append(sample)
    return {name: _mean([sample[name] for sample in samples]) for name in samples[0]}


def _mean(values: Sequence[float]) -> dict[str, float]:
    half = T95[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return {"mean": _short(statistics.fmean(values)), "ci95": _short(half)}


def _short(value: float) -> float:
    """Keep four significant digits."""
    return float(f"{value:.4g}")
