"""`manage.py bench scale`: more lanes, more readings, more nodes.

lanes       200 recursions on 1, 2 and 4 lanes, in one JVM and on a cluster of three
networks    a recursion split by floors, whose border rows cross in rounds
readings    20,000 readings/s through log, Spark and a windowed aggregate
campus      nearest machines on 100,000 nodes for 200 requests, doors locked and opened
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.bench import scale_campus_run, scale_lanes, scale_networks, scale_rate
from tests.bench.report import Target, report
from tests.bench.scale_campus import LARGE, SMALL

RATE = 20_000
FURTHER = (40_000, 60_000)
PARTS = ("campus", "readings", "lanes", "networks")

Say = Callable[[str], Any]


def run(*, quick: bool, say: Say, figure: str | None = None) -> dict[str, Any]:
    """Measure all parts, or one; give the bench's JSON object."""
    measured = {
        "campus": lambda: scale_campus_run.measure(
            SMALL if quick else LARGE, 10 if quick else 50, say
        ),
        "readings": lambda: scale_rate.measure(
            RATE // 5 if quick else RATE, 6 if quick else 40, () if quick else FURTHER, say
        ),
        "lanes": lambda: scale_lanes.measure(
            (1, 2) if quick else (1, 2, 4), 1 if quick else 2, 4 if quick else 10, say
        ),
        "networks": lambda: scale_networks.measure(10 if quick else 60, say),
    }
    figures = {part: measured[part]() for part in ((figure,) if figure else PARTS)}
    targets: list[Target] = []
    for part, found in figures.items():
        targets += TARGETS[part](found, quick)
    return report("scale", figures, targets)


def _of_campus(found: dict[str, Any], quick: bool) -> list[Target]:  # noqa: FBT001
    nodes = SMALL.nodes if quick else 100_000
    return [
        Target("campus, nodes", found["nodes"], nodes, "", at_most=False),
        Target("campus, initial load", found["load_s"], 60, "s"),
        Target("campus, one door, p95", found["change_ms"]["p95"], 1_000, "ms"),
    ]


def _of_readings(found: dict[str, Any], quick: bool) -> list[Target]:  # noqa: FBT001
    rate = RATE // 5 if quick else RATE
    return [
        Target("readings sent", found["sent_per_s"], round(0.98 * rate), "/s", at_most=False),
        Target("reading to epoch, p95", found["latency_ms"]["p95"], 2_000, "ms"),
    ]


def _of_lanes(found: dict[str, Any], quick: bool) -> list[Target]:  # noqa: FBT001
    """Returns none: what lanes bring depends on the cores there are; the figures tell."""
    del found, quick
    return []


def _of_networks(found: dict[str, Any], quick: bool) -> list[Target]:  # noqa: FBT001
    del quick
    crossing = found["crossing"]
    shipped, derived = crossing["shipped_rows"], crossing["derived_border_rows"]
    return [Target("networks, rows shipped", shipped, derived, "rows")]


TARGETS = {
    "campus": _of_campus,
    "readings": _of_readings,
    "lanes": _of_lanes,
    "networks": _of_networks,
}
