"""Topology: networks like those of the seeds' experiments, from a seed.

    transit domain   4 nodes, all joined            50 ms
    transit-stub     one link per stub domain       10 ms
    stub domain      8 nodes, a random tree and     2 ms
                     as many more links as wanted

One domain has 4 · (1 + 3 · 8) = 100 nodes. Larger networks have several domains, joined in a
ring, as GT-ITM joins them. Source: E. W. Zegura, K. L. Calvert, S. Bhattacharjee, "How to model
an internetwork", INFOCOM 1996; [LTZIL09] section VIII-A. Own: the generator, since GT-ITM's takes
a probability where the experiments name the number of links.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from tests.experiments.network.fact import Vertex

TRANSIT_LATENCY_MS, UPLINK_LATENCY_MS, STUB_LATENCY_MS = 50, 10, 2
DENSE, SPARSE = 4.0, 2.0


@dataclass(frozen=True, slots=True)
class Topology:
    """A network of two-way links.

    Args:
        links: latency in ms of each one-way link; both ways are in it.
        domain: which sub-network each vertex is in.
    """

    links: Mapping[tuple[Vertex, Vertex], int]
    domain: Mapping[Vertex, int]


def transit_stub(
    seed: int,
    *,
    links_per_vertex: float,
    domains: int = 1,
    transits: int = 4,
    stubs: int = 3,
    stub_size: int = 8,
) -> Topology:
    """Make a transit-stub network that hangs together.

    Args:
        seed: the same seed makes the same network.
        links_per_vertex: one-way links over vertices; 4 is the seeds' dense, 2 their sparse. Below
            the two-way tree's (about 2) it is the tree's.
        domains: transit domains.
        transits: nodes per transit domain.
        stubs: stub domains per transit node.
        stub_size: nodes per stub domain.
    """
    random = Random(seed)
    links: dict[tuple[Vertex, Vertex], int] = {}
    domain: dict[Vertex, int] = {}
    inside: list[list[Vertex]] = []

    def join(one: Vertex, other: Vertex, latency_ms: int) -> None:
        links[one, other] = links[other, one] = latency_ms

    def vertices(count: int, part: int) -> list[Vertex]:
        made = list(range(len(domain), len(domain) + count))
        domain.update(dict.fromkeys(made, part))
        return made

    parts = 0
    first: list[Vertex] = []
    for _ in range(domains):
        core = vertices(transits, parts)
        for at, one in enumerate(core):
            # A sparse network has no links to spare for a full mesh of its core.
            others = core[at + 1 :] if links_per_vertex > SPARSE else core[at + 1 : at + 2]
            for other in others:
                join(one, other, TRANSIT_LATENCY_MS)
        if first:
            join(core[0], random.choice(first), TRANSIT_LATENCY_MS)
        first = core
        parts += 1
        for transit in core:
            for _ in range(stubs):
                stub = vertices(stub_size, parts)
                parts += 1
                for at, one in enumerate(stub[1:], start=1):
                    join(one, random.choice(stub[:at]), STUB_LATENCY_MS)
                join(transit, random.choice(stub), UPLINK_LATENCY_MS)
                inside.append(stub)
    missing = round(links_per_vertex * len(domain)) - len(links)
    room = sum(len(stub) * (len(stub) - 1) for stub in inside)
    taken = sum(latency_ms == STUB_LATENCY_MS for latency_ms in links.values())
    for _ in range(max(0, min(missing, room - taken) // 2)):
        pair = random.sample(random.choice(inside), 2)
        while (pair[0], pair[1]) in links:
            pair = random.sample(random.choice(inside), 2)
        join(pair[0], pair[1], STUB_LATENCY_MS)
    return Topology(links, domain)
