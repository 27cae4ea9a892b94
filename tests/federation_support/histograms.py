"""Histograms of values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from federation.histogram import Histogram


def histogram_of(values: Sequence[float], buckets: int = 16) -> Histogram:
    """Count at least one value into buckets of one width."""
    low, high = min(values), max(values)
    step = (high - low) / buckets or 1.0
    edges = tuple(low + step * n for n in range(buckets + 1))
    counts = [0.0] * buckets
    for value in values:
        counts[min(max(bisect_right(edges, value) - 1, 0), buckets - 1)] += 1.0
    return Histogram(edges, tuple(counts), float(len(set(values))))
