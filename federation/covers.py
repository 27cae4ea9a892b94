"""Covers: every combination of a region's fetches that brings each of its streams once.

They are what the search chooses among; EXPLAIN prices each, benchmarks run each.

Law: the least cost over all covers is the cost the search found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice

from federation.accesses import Fetch
from federation.cost import Cost
from federation.placement import restricted
from federation.regions import Region
from federation.search.bottom_up import bottom_up
from federation.search.joins import MICRO, JoinSpace

MOST_COVERS = 200  # own choice: nobody reads more


@dataclass(frozen=True)
class Cover:
    """A way to bring all streams of a region.

    Args:
        cost: of the network's part.
        weighed: of the whole region, by the metric; what the search minimises.
    """

    fetches: tuple[Fetch, ...]
    cost: Cost
    weighed: float

    @property
    def names(self) -> tuple[str, ...]:
        """The fetches' names."""
        return tuple(one.name for one in self.fetches)


def covers(region: Region) -> list[Cover]:
    """Price every cover of a region, the cheapest first; the first two hundred found."""
    every = sorted(region.fetches.values(), key=lambda one: one.name)
    streams = sorted({alias for one in every for alias in one.aliases})
    found = [_priced(region, one) for one in islice(_combined(every, streams), MOST_COVERS)]
    return sorted(found, key=lambda one: (one.weighed, one.names))


def _combined(every: Sequence[Fetch], streams: Sequence[str]) -> Iterator[tuple[Fetch, ...]]:
    if not streams:
        yield ()
        return
    for one in every:
        if streams[0] in one.aliases and {*one.aliases} <= {*streams}:
            left = [alias for alias in streams if alias not in one.aliases]
            for rest in _combined(every, left):
                yield (one, *rest)


def _priced(region: Region, fetches: tuple[Fetch, ...]) -> Cover:
    problem = restricted(region, {one.name for one in fetches})
    cost = reduce(Cost.beside, (one.cost for one in fetches), Cost())
    return Cover(fetches, cost, bottom_up(JoinSpace(problem)).cost / MICRO)
