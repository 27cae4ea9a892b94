"""Covers: every combination of a region's fetches that brings each of its streams once.

They are what the search chooses among; EXPLAIN prices each, benchmarks run each.

Law: the least cost over all covers is the cost the search found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from federation.accesses import Fetch
from federation.placement import Decision, decided
from federation.regions import Region

MOST_COVERS = 200  # own choice: nobody reads more


def covers(region: Region) -> list[Decision]:
    """Price every cover of a region, the cheapest first; the first two hundred found."""
    every = sorted(region.fetches.values(), key=lambda one: one.name)
    streams = sorted({alias for one in every for alias in one.aliases})
    found = [
        decided(region, {one.name for one in fetches})
        for fetches in islice(_combined(every, streams), MOST_COVERS)
    ]
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
