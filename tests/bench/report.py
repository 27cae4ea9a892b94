"""The one shape every bench prints."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import psutil

PACKAGES = ("pyspark", "django", "channels", "redis", "dd", "pyarrow")


@dataclass(frozen=True, slots=True)
class Target:
    """A figure with the bound it is held to.

    Args:
        name: what is measured.
        value: what came out; None where nothing did, and the bound is missed.
        target: the bound.
        unit: of both.
        at_most: whether smaller is better.
    """

    name: str
    value: float | None
    target: float
    unit: str
    at_most: bool = True

    @property
    def met(self) -> bool:
        """Whether the bound is kept."""
        if self.value is None:
            return False
        return self.value <= self.target if self.at_most else self.value >= self.target


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the nearest-rank percentile.

    Args:
        values: at least one.
        share: 0 … 1.
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Returns p50, p95, p99 and the maximum, rounded to a tenth."""
    return {
        "p50": round(percentile(values, 0.50), 1),
        "p95": round(percentile(values, 0.95), 1),
        "p99": round(percentile(values, 0.99), 1),
        "max": round(max(values), 1),
    }


def report(bench: str, figures: Mapping[str, Any], targets: Sequence[Target]) -> dict[str, Any]:
    """Returns the object `manage.py bench NAME --json` prints."""
    return {
        "bench": bench,
        "machine": {
            "cores": os.cpu_count(),
            "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
            "processor": platform.processor() or platform.machine(),
            "system": platform.platform(terse=True),
            "load_1min_at_end": round(os.getloadavg()[0], 2),
        },
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "figures": dict(figures),
        "targets": [{**asdict(target), "met": target.met} for target in targets],
    }
