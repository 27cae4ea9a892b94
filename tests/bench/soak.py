"""Two hours of ordinary days: does anything grow?

    twenty people    ──read──query──why──walk──end──…
    looked at        │ every 30 s: Redis, files, every process by name
    compared         └ warm-up ┘└── first half ──┘└── second half ──┘

The log is folded every 30 minutes and holds up to an hour of entries, so levels are saw-teeth:
compared are the highest of both halves, and the slope is the median over all pairs of samples half
of the time apart, which a tooth that fits into a half, or a single spike, does not bend.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tests.bench.report import Target, report
from tests.bench.rig import Rig, running
from tests.bench.soak_people import Person
from tests.bench.soak_samples import Sample, by_key, look

PEOPLE = 20
MINUTES, QUICK_MINUTES = 120.0, 0.4
LOOK_S, LEAST_LOOKS = 30.0, 40
WARM_UP = 0.45
"""Of the time: the log is full, the machines' compilers are done."""

HORIZON = 2.0
"""Growth is told for so many times the time after the warm-up: of two hours, about two."""

MOST_GROWTH = 0.05
SPARE_MB, SPARE = 5.0, 4.0
"""What a series may grow by within the horizon, should that be more than the share."""

SPARE_LOG_MB = 1.0
KEYS_TOLD = 15


@dataclass(frozen=True, slots=True)
class Flatness:
    """How a series behaves after the warm-up.

    Args:
        first: the highest level of the first half.
        last: of the second half.
        slope_per_h: robust, see the module's head.
        growth: what it comes to within the horizon, at least nothing.
        most: what it may come to.
    """

    first: float
    last: float
    slope_per_h: float
    growth: float
    most: float


def flatness(name: str, at_s: Sequence[float], levels: Sequence[float]) -> Flatness:
    """Judges one series.

    Args:
        name: says its unit, and so what is spared.
        at_s: seconds of the samples, ascending.
        levels: of each.
    """
    half_s = (at_s[-1] - at_s[0]) / 2
    first = [level for s, level in zip(at_s, levels, strict=True) if s - at_s[0] <= half_s]
    last = [level for s, level in zip(at_s, levels, strict=True) if s - at_s[0] > half_s]
    apart = len(levels) // 2
    slopes = [
        (levels[n + apart] - levels[n]) / (at_s[n + apart] - at_s[n])
        for n in range(len(levels) - apart)
    ]
    spare = SPARE_LOG_MB if name.startswith("log files") else SPARE_MB if "MB" in name else SPARE
    slope_per_s = median(slopes)
    return Flatness(
        first=round(max(first), 3),
        last=round(max(last), 3),
        slope_per_h=round(slope_per_s * 3_600, 3),
        growth=round(max(0.0, slope_per_s * HORIZON * 2 * half_s), 3),
        most=round(max(spare, MOST_GROWTH * max(first)), 3),
    )


def run(*, quick: bool, say: Callable[[str], Any], minutes: float | None = None) -> dict[str, Any]:
    """Lets people work, looks, and gives the bench's JSON object."""
    length_s = 60 * (minutes or (QUICK_MINUTES if quick else MINUTES))
    with running() as rig:
        figures = asyncio.run(_soak(rig, length_s, say))
    judged = {name: Flatness(**found) for name, found in figures["series"].items()}
    return report(
        "soak",
        figures,
        [
            Target(f"{name}: growth in twice the time", found.growth, found.most, "")
            for name, found in judged.items()
        ],
    )


async def _soak(rig: Rig, length_s: float, say: Callable[[str], Any]) -> dict[str, Any]:
    done: Counter[str] = Counter()
    building = await asyncio.to_thread(rig.get, "building/")
    nodes = [kiosk["node"] for kiosk in building["kiosks"]]
    people = [
        asyncio.create_task(Person(rig, number, nodes, done).work()) for number in range(PEOPLE)
    ]
    began = time.monotonic()
    taken: list[tuple[float, Sample]] = []
    keys: dict[str, float] = {}
    try:
        while (at_s := time.monotonic() - began) < length_s:
            sample = await asyncio.to_thread(look, rig)
            taken.append((at_s, sample))
            say(json.dumps({"at_s": round(at_s), **{n: round(v, 2) for n, v in sample.items()}}))
            if not keys and at_s >= WARM_UP * length_s:
                keys = await asyncio.to_thread(by_key, rig)
            await asyncio.sleep(min(LOOK_S, length_s / LEAST_LOOKS))
        after = await asyncio.to_thread(by_key, rig)
    finally:
        for task in people:
            task.cancel()
        ended = await asyncio.gather(*people, return_exceptions=True)
    warm = [(at_s, sample) for at_s, sample in taken if at_s >= WARM_UP * length_s]
    return {
        "minutes": round(length_s / 60, 1),
        "people": PEOPLE,
        "people_who_failed": [repr(one) for one in ended if isinstance(one, Exception)],
        "done": dict(sorted(done.items())),
        "samples": len(warm),
        "series": {name: _series(name, warm) for name in warm[-1][1]},
        "redis_growth_by_key_mb": _growth(keys, after),
    }


def _series(name: str, warm: Sequence[tuple[float, Sample]]) -> dict[str, float]:
    there = [(at_s, sample[name]) for at_s, sample in warm if name in sample]
    found = flatness(name, [at_s for at_s, _ in there], [level for _, level in there])
    return {field: getattr(found, field) for field in Flatness.__slots__}


def _growth(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """Returns which keys of Redis grew most since the warm-up."""
    grown = {key: after[key] - before.get(key, 0.0) for key in after}
    most = sorted(grown, key=grown.__getitem__, reverse=True)[:KEYS_TOLD]
    return {key: round(grown[key], 3) for key in most}
