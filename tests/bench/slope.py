"""`manage.py bench slope`: does a deletion cost what it changes, or what the view holds?

    all pairs on chains              one source, cheapest paths
    ──►──►──►──►──►   (10 links,     origin ──►──►──► … (10 links)     the first link of a branch
    ──►──►──►──►──►    55 rows)        └─────5──┘                      goes: its rows cost more

Every deletion touches the same number of rows; only the rest of the view grows. The slope of the
line through log time against log rows is 0 when the state costs nothing, 1 when time follows it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import log10
from pathlib import Path
from random import Random
from typing import Any

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.schema import Row
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.views.operators.support.strategies import AUTO
from tests.bench.peers.cases import QUERIES
from tests.bench.peers.ours import CATALOG, VIEW
from tests.bench.report import Target, report
from tests.bench.slope_figure import draw

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (1_000, 10_000, 30_000)
CHAIN = 10
"""Links of a chain or branch, and rows that each deletion changes."""

ROWS_PER_CHAIN = CHAIN * (CHAIN + 1) // 2
DELETIONS, QUICK_DELETIONS = 200, 40
WARM_UP = 10
SLOPE_AT_MOST = 0.1
FIGURE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "slope.svg"

Tables = dict[str, list[Row]]


@dataclass(frozen=True, slots=True)
class Shape:
    """A view that can be made as large as one likes.

    Args:
        make: from a number of rows to the tables, and the links to delete.
    """

    name: str
    query: str
    make: Callable[[int], tuple[Tables, list[Row]]]


def chains(rows: int) -> tuple[Tables, list[Row]]:
    """Returns chains; the last link of one takes a row from each of its places."""
    links: list[Row] = []
    last: list[Row] = []
    for chain in range(rows // ROWS_PER_CHAIN):
        first = chain * (CHAIN + 1)
        links += [(first + at, first + at + 1, 1) for at in range(CHAIN)]
        last.append(links[-1])
    return {"link": links}, last


def branches(rows: int) -> tuple[Tables, list[Row]]:
    """Returns branches from one origin; each first link has a dearer one beside it."""
    links: list[Row] = []
    first: list[Row] = []
    for branch in range(rows // (CHAIN + 1)):
        start = 1 + branch * (CHAIN + 1)
        beside = start + CHAIN
        first.append((0, start, 1))
        links += [first[-1], (0, beside, 2), (beside, start, 3)]
        links += [(start + at, start + at + 1, 1) for at in range(CHAIN - 1)]
    return {"origin": [(0,)], "link": links}, first


SHAPES = (
    Shape("all pairs on chains", "reachability", chains),
    Shape("cheapest from one source", "cheapest, one source", branches),
)


def run(*, quick: bool, say: Callable[[str], Any]) -> dict[str, Any]:
    """Measure; give the bench's JSON object. A full run draws the figure."""
    points: dict[str, dict[int, dict[str, float]]] = {}
    for shape in SHAPES:
        points[shape.name] = {}
        for rows in QUICK_SIZES if quick else SIZES:
            point = measure(shape, rows, QUICK_DELETIONS if quick else DELETIONS)
            points[shape.name][rows] = point
            say(f"{shape.name}, {rows} rows: {point}")
    slopes = {
        name: round(slope([(n, point["deletion_p50_ms"]) for n, point in found.items()]), 3)
        for name, found in points.items()
    }
    if not quick:
        draw(FIGURE, {name: _drawn(found) for name, found in points.items()}, slopes)
    targets = [
        Target(f"{name}: |slope| of deletion time over state", abs(found), SLOPE_AT_MOST, "")
        for name, found in slopes.items()
    ]
    figures = {"rows_changed_per_deletion": CHAIN, "slopes": slopes, "points": points}
    return report("slope", figures, targets)


def measure(shape: Shape, rows: int, deletions: int) -> dict[str, float]:
    """Load a view of about so many rows; delete links one at a time, putting each back."""
    tables, links = shape.make(rows)
    lane = Lane()

    def take(*entries: Entry) -> None:
        lane.apply(list(enumerate(entries, start=lane.position + 1)))

    take(*(Declare(0.0, relation) for relation in CATALOG))
    plan = compile_query(QUERIES[shape.query], CATALOG).plan
    began = time.perf_counter()
    take(
        Transaction(0.0, tuple(Change(name, 1, row) for name in tables for row in tables[name])),
        Register(0.0, VIEW, plan_text(plan), AUTO),
    )
    load_s = time.perf_counter() - began
    random = Random(rows)
    taken_ms: dict[int, list[float]] = {-1: [], 1: []}
    for _ in range(WARM_UP + deletions):
        link = random.choice(links)
        for weight, taken in taken_ms.items():
            entry = Transaction(0.0, (Change("link", weight, link),))
            began = time.perf_counter()
            take(entry)
            taken.append(1e3 * (time.perf_counter() - began))
    return {
        "rows": len(lane.rows(VIEW)),
        "load_s": round(load_s, 4),
        "deletion_p50_ms": round(statistics.median(taken_ms[-1][WARM_UP:]), 4),
        "insertion_p50_ms": round(statistics.median(taken_ms[1][WARM_UP:]), 4),
    }


def slope(points: list[tuple[float, float]]) -> float:
    """Returns the slope of the least-squares line through the logarithms of points."""
    return statistics.linear_regression(
        [log10(x) for x, _ in points], [log10(y) for _, y in points]
    ).slope


def _drawn(found: dict[int, dict[str, float]]) -> list[tuple[float, float]]:
    return [(point["rows"], point["deletion_p50_ms"]) for point in found.values()]
