"""Partition: which node owns a vertex, and how far apart nodes are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from zlib import crc32

from tests.experiments.network.fact import Vertex

Owner = Callable[[Vertex], int]
"""Gives the node that owns a vertex."""

LAN_LATENCY_S = 0.000_2
"""One way between two machines of one cluster."""

LAN_BANDWIDTH_BYTES_PER_S = 125e6
"""A channel of 1 Gbit/s, as in the seeds' cluster."""


def by_hash(nodes: int) -> Owner:
    """Spread vertices evenly, whatever they have to do with one another; a DHT does this."""

    @cache
    def owner(vertex: Vertex) -> int:
        return crc32(vertex.to_bytes(8, "little")) % nodes

    return owner


def by_network(parts: Mapping[Vertex, int]) -> Owner:
    """Keep each sub-network's vertices on the node that watches it.

    Args:
        parts: the node of each vertex.
    """
    return parts.__getitem__


def by_vertex(vertices: Sequence[Vertex]) -> Owner:
    """Assigns each vertex a node of its own, in the given order, as in the seeds' example."""
    return {vertex: node for node, vertex in enumerate(vertices)}.__getitem__
