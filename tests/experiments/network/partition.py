"""Partition: which node owns a place, and how far apart nodes are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from zlib import crc32

from tests.experiments.network.fact import Place

Owner = Callable[[Place], int]
"""Gives the node that owns a place."""

LAN_LATENCY_S = 0.000_2
"""One way between two machines of one cluster."""

LAN_BANDWIDTH_BYTES_PER_S = 125e6
"""A channel of 1 Gbit/s, as in the seeds' cluster."""


def by_hash(nodes: int) -> Owner:
    """Spread places evenly, whatever they have to do with one another; a DHT does this."""

    @cache
    def owner(place: Place) -> int:
        return crc32(place.to_bytes(8, "little")) % nodes

    return owner


def by_network(parts: Mapping[Place, int]) -> Owner:
    """Keep each sub-network's places on the node that watches it.

    Args:
        parts: the node of each place.
    """
    return parts.__getitem__


def by_place(places: Sequence[Place]) -> Owner:
    """Assigns each place a node of its own, in the given order, as in the seeds' example."""
    return {place: node for node, place in enumerate(places)}.__getitem__
