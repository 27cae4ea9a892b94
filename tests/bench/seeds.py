"""Repeat the seeds' seven distributed experiments: strategies side by side on simulated nodes.

Each run has its own network, made from its seed, and every strategy gets the same one in the same
order. Source: [LTZIL09] section VIII; the figures' numbers are those of the thesis, chapter 3.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.report import Target, report
from tests.bench.seeds_draw import draw
from tests.bench.seeds_measure import (
    DENSITIES,
    NODES,
    SHARED,
    Scale,
    deleted,
    inserted,
    one_view_each,
    regions,
)
from tests.bench.seeds_runs import Measure, Point, Runs, short

RUNS, QUICK_RUNS = 10, 2
BUDGET_S, QUICK_BUDGET_S = 16.0, 1.6
"""Computing allowed to one insertion; the seeds stopped at 5 min of 12 machines.

Three times what lazy needs for the largest network; without AggSel each second fills 70 MB.
"""

ALL = ("absorption-lazy", "absorption-push", "relative", "dred")

Say = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Args:
        title: what it shows.
        x: what its horizontal axis says; numbers make lines, words bars.
        points: by series and position on that axis.
    """

    title: str
    x: str
    points: Mapping[str, Mapping[str, Point]]
    targets: list[Target] = field(default_factory=list)


def run(
    *, quick: bool, say: Say, figure: str | None = None, draw_to: Path | None = None
) -> dict[str, Any]:
    """Repeat one figure or all; give the bench's JSON object.

    Args:
        draw_to: a folder for `seeds-NN.svg`; nothing is drawn when left out.
    """
    # More runs at a time than cores would measure the waiting.
    processes = 1 if quick else min(2, os.cpu_count() or 1)
    scale = (
        Scale(QUICK_RUNS, QUICK_BUDGET_S, 8, transits=(2, 4), query_nodes=(4, 12))
        if quick
        else Scale(RUNS, BUDGET_S, 40, processes)
    )
    figures: dict[str, Any] = {"runs": scale.runs, "nodes": NODES, "processes": scale.processes}
    targets: list[Target] = []
    runs = Runs(scale)
    try:
        for number in (figure,) if figure else FIGURES:
            found = MEASURED[number](runs)
            say(f"figure {number}: {found.title}")
            for series, points in found.points.items():
                for x, point in points.items():
                    say(f"  {series}, {x}: {_summary(point)}")
            figures[number] = {"title": found.title, "x": found.x, "points": found.points}
            targets += found.targets
            if draw_to is not None:
                draw(draw_to / f"seeds-{number}.svg", found.title, found.x, found.points)
    finally:
        runs.close()
    return report("seeds", figures, targets)


def figure_12(runs: Runs) -> Figure:
    """Insert a growing share of the links."""
    shares = (0.25, 0.5, 0.75, 1.0)
    points = {
        strategy: {str(share): runs.point(inserted, strategy, share=share) for share in shares}
        for strategy in ("absorption-lazy", "absorption-eager", "relative", "dred")
    }
    return Figure("reachable, insertion of links, dense", "share of the links inserted", points)


def figure_13(runs: Runs) -> Figure:
    """Delete links one at a time; means per deletion."""
    points = _grid(runs, deleted, (*ALL, "recompute"), {n: {"density": n} for n in DENSITIES})
    targets = [
        Target(
            f"dense deletion, {metric} of {strategy} over absorption-lazy",
            _ratio(points[strategy]["dense"], points["absorption-lazy"]["dense"], metric),
            bound,
            "times",
            at_most=False,
        )
        for strategy, bound in (("dred", 10), ("relative", 2))
        for metric in ("kilobytes", "convergence_s")
    ]
    return Figure("reachable, per deleted link", "", points, targets)


def figure_14(runs: Runs) -> Figure:
    """Trigger half of the sensors of a field, then let them go one at a time."""
    at = {"insertion": {"drop": False}, "per deletion": {"drop": True}}
    points = _grid(runs, regions, (*ALL, "absorption-eager"), at)
    return Figure("activeRegion, half of 100 sensors", "", points)


def figure_15(runs: Runs) -> Figure:
    """Insert ever more links into ever larger networks."""
    points = {
        f"{strategy} {density}": {
            str(round(25 * transits * DENSITIES[density])): runs.point(
                inserted, strategy, density=density, transits=transits
            )
            for transits in runs.scale.transits
        }
        for density in DENSITIES
        for strategy in ("absorption-lazy", "absorption-eager")
    }
    links, largest = list(points["absorption-lazy dense"].items())[-1]
    took_s = largest["cpu_s"]["mean"] if "cpu_s" in largest else runs.scale.budget_s
    target = Target(f"lazy, dense, {links} links, one core", took_s, 1.0, "s")
    return Figure("reachable, insertion into larger networks", "links", points, [target])


def figure_16(runs: Runs) -> Figure:
    """Spread the same network over ever more query nodes; insertion, then deletions."""
    measures: dict[str, Measure] = {
        "insertion": inserted,
        "per deletion": partial(deleted, share=0.25),
    }
    points = {
        f"{strategy} {what}": {
            str(nodes): runs.point(measure, strategy, nodes=nodes)
            for nodes in runs.scale.query_nodes
        }
        for strategy in ("absorption-lazy", "dred")
        for what, measure in measures.items()
    }
    return Figure("reachable, dense, over more query nodes", "query nodes", points)


def figure_17(runs: Runs) -> Figure:
    """Order the diagrams' variables depth first, or as the shuffled links come; insertion.

    Annotations are weighed twice: each dumped by itself, as it would travel, and as a node's
    memory holds them all, where they share their parts.
    """
    points = {
        f"{strategy} {name}": {
            density: runs.point(inserted, strategy, density=density, ordered=ordered, shared=True)
            for density in DENSITIES
        }
        for strategy in ("absorption-push", "absorption-eager")
        for name, ordered in (("depth first", True), ("arrival", False))
    }
    targets = []
    for strategy, density in (
        ("absorption-push", "dense"),
        ("absorption-push", "sparse"),
        ("absorption-eager", "sparse"),
    ):
        ordered, arrival = (
            points[f"{strategy} {name}"][density] for name in ("depth first", "arrival")
        )
        for what, metric in (("in memory", SHARED), ("dumped", "provenance_bytes_per_tuple")):
            saved = short(100 * (1 - _ratio(ordered, arrival, metric)))
            name = f"provenance saved by depth-first order, {strategy}, {density}, {what}"
            targets.append(Target(name, saved, 40, "%", at_most=False))
    return Figure("reachable, order of variables, insertion of links", "", points, targets)


def figure_18(runs: Runs) -> Figure:
    """Cheapest and shortest path of every pair, with both selections at once, with one, without.

    "Single" prunes by cost alone; so that fewest hops can be told, too, it must keep the cheapest
    path of each number of hops. "One view each" has a view for each answer, with one selection.
    """
    measures: dict[str, tuple[Measure, str]] = {
        "Multi AggSel": (inserted, "paths-multi"),
        "Single AggSel": (inserted, "paths-single"),
        "one view each": (one_view_each, "paths-cheapest+paths-shortest"),
        "no AggSel": (inserted, "paths-all"),
    }
    points = {
        name: {
            density: runs.point(measure, strategy, each=True, density=density)
            for density in DENSITIES
        }
        for name, (measure, strategy) in measures.items()
    }
    targets = [
        Target(
            f"dense, {metric} of Multi AggSel over {other}",
            _ratio(points["Multi AggSel"]["dense"], points[other]["dense"], metric),
            0.5,
            "times",
        )
        for other in ("Single AggSel", "one view each")
        for metric in ("kilobytes", "convergence_s")
    ]
    ended = points["no AggSel"]["dense"].get("runs_converged", runs.scale.runs)
    targets.append(Target("dense, runs without AggSel that ended", ended, 0, "runs"))
    return Figure("shortest and cheapest paths, insertion of links", "", points, targets)


MEASURED: Mapping[str, Callable[[Runs], Figure]] = {
    "12": figure_12,
    "13": figure_13,
    "14": figure_14,
    "15": figure_15,
    "16": figure_16,
    "17": figure_17,
    "18": figure_18,
}
FIGURES = tuple(MEASURED)


def _grid(
    runs: Runs, measure: Measure, strategies: Iterable[str], at: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Point]]:
    """Measure each strategy at each named position."""
    return {
        strategy: {x: runs.point(measure, strategy, **what) for x, what in at.items()}
        for strategy in strategies
    }


def _ratio(one: Point, other: Point, metric: str) -> float:
    """Compare means; what did not end within its budget counts as infinitely more."""
    if metric not in other:
        return 0.0
    return short(one[metric]["mean"] / other[metric]["mean"])


def _summary(point: Point) -> str:
    if "kilobytes" not in point:
        return f"{point['runs_converged']} of {point['runs_tried']} runs ended in time"
    return ", ".join(f"{name} {point[name]['mean']}" for name in point)
