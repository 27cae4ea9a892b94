"""Histogram: how the values of a column are spread, for the share a comparison keeps.

    edges   0 ── 5 ── 50 ── 100        share(< 5) = 6/10; inside a bucket values lie evenly
    counts    6    1     3

Law: shares lie between 0 and 1; `<` and `>=` add up to 1; a greater bound never keeps less of `<`.
Source: equi-width and equi-depth histograms alike (Poosala et al., SIGMOD 1996), uniform inside.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from aspen.errors import AspenError


class BadHistogram(AspenError, code="federation.bad_histogram"):
    """Edges or counts that are no histogram."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of values between rising edges; values outside belong to the outer buckets.

    Args:
        edges: one more than counts.
        distinct: different values, 0 if nobody counted; what `=` keeps is one of them.
    """

    edges: tuple[float, ...]
    counts: tuple[float, ...]
    distinct: float = 0.0

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.edges, self.edges[1:], strict=False))
        if len(self.edges) != len(self.counts) + 1 or not rising or min(self.counts) < 0:
            raise BadHistogram(
                "a histogram has rising edges and a count between each two",
                found=f"{len(self.edges)} edges, {len(self.counts)} counts",
            )

    @property
    def total(self) -> float:
        """Values counted."""
        return sum(self.counts)

    def below(self, bound: float) -> float:
        """Returns the part of the values under a bound, 0 to 1."""
        if not self.total or bound <= self.edges[0]:
            return 0.0
        if bound >= self.edges[-1]:
            return 1.0
        index = bisect_right(self.edges, bound) - 1
        low, high = self.edges[index], self.edges[index + 1]
        inside = self.counts[index] * (bound - low) / (high - low)
        return (sum(self.counts[:index]) + inside) / self.total

    def share(self, symbol: str, bound: float) -> float | None:
        """Returns the part of the values a comparison keeps; None for one it knows nothing of."""
        match symbol:
            case "<" | "<=":
                return self.below(bound)
            case ">" | ">=":
                return 1.0 - self.below(bound)
            case "=" if self.distinct:
                return 1.0 / self.distinct if self.edges[0] <= bound <= self.edges[-1] else 0.0
            case "<>" if self.distinct:
                return 1.0 - (self.share("=", bound) or 0.0)
            case _:
                return None
