"""Repeat a measurement over the seeds' runs: means with 95 % intervals, on one core or several."""

from __future__ import annotations

import gc
import math
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

from tests.bench.seeds_measure import Sample, Scale

T95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Student's t for a two-sided 95 % interval of so many runs."""

Measure = Callable[..., Sample | None]
Point = dict[str, Any]
"""A metric's mean and half interval by name, or what a run without end was given."""


class Runs:
    """Measures points.

    Args:
        scale: how many runs, and how many of these at a time.
    """

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        # Fresh interpreters: a fork would take the parent's threads half with it.
        self._pool = (
            ProcessPoolExecutor(scale.processes, get_context("spawn"))
            if scale.processes > 1
            else None
        )

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def point(
        self,
        measure: Measure,
        strategy: str,
        *,
        each: bool = False,
        **what: Any,
    ) -> Point:
        """Measure on each seed's network.

        Args:
            each: whether to try every network even if one has not converged.
        """
        task = partial(afresh, partial(measure, strategy, scale=self.scale, **what))
        seeds = range(self.scale.runs)
        samples: list[Sample] = []
        missed = 0
        waiting: list[Future[Sample | None]] = []
        for seed in seeds:
            if self._pool is None:
                sample = task(seed=seed)
            else:
                if len(waiting) == seed:
                    # The first alone, unless all are tried: it may use up its budget for nothing.
                    ahead = seeds[seed : seed + 1] if seed == 0 and not each else seeds[seed:]
                    waiting += [self._pool.submit(task, seed=ahead_seed) for ahead_seed in ahead]
                sample = waiting[seed].result()
            if sample is not None:
                samples.append(sample)
                continue
            missed += 1
            if not each:
                break
        for future in waiting:
            future.cancel()
        if missed:
            # A point without all its runs has no mean; each failure costs the whole budget.
            return {
                "did_not_converge_within_cpu_s": self.scale.budget_s,
                "runs_tried": missed + len(samples),
                "runs_converged": len(samples),
            }
        return {name: interval([sample[name] for sample in samples]) for name in samples[0]}


def afresh(measure: Measure, seed: int) -> Sample | None:
    """Measure once, and leave the memory to the next one.

    An insertion exempts what it leaves from collection (`aspen.runtime.collector`), cycles of
    this network's objects among it: 2.8 GB of paths without AggSel.
    """
    try:
        return measure(seed=seed)
    finally:
        gc.unfreeze()
        gc.collect()


def interval(values: Sequence[float]) -> dict[str, float]:
    """Returns the mean and half the width of its 95 % interval."""
    half = T95[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return {"mean": short(statistics.fmean(values)), "ci95": short(half)}


def short(value: float) -> float:
    """Keep four significant digits."""
    return float(f"{value:.4g}")
