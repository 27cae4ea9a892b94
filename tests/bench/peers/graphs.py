"""Graphs: the networks, grids and the building on which the peers are compared.

Every graph is a list of one-way links `(src, dst, cost)`, made from its name alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from smartcis.importers.derive import derive
from smartcis.importers.formats import drawing_of
from smartcis.importers.run import SHIPPED
from tests.experiments.network.topology import DENSE, SPARSE, transit_stub

Link = tuple[int, int, int]

SEED = 7
VERTICES_PER_DOMAIN = 100


def network(vertices: int, density: float) -> list[Link]:
    """Returns a transit-stub network; the cost of a link is its latency in ms."""
    made = transit_stub(SEED, links_per_vertex=density, domains=vertices // VERTICES_PER_DOMAIN)
    return [(src, dst, cost) for (src, dst), cost in made.links.items()]


def grid(side: int) -> list[Link]:
    """Returns a square grid of two-way links that cost 1 to 9."""
    random = Random(SEED)
    links: list[Link] = []
    for at in range(side * side):
        beside = [at + 1] if (at + 1) % side else []
        below = [at + side] if at + side < side * side else []
        for other in beside + below:
            cost = random.randint(1, 9)
            links += [(at, other, cost), (other, at, cost)]
    return links


def walking() -> list[Link]:
    """Returns the walking graph of the building the product shows; costs are millimetres."""
    graph = derive(drawing_of(SHIPPED)).graph
    cheapest: dict[tuple[int, int], int] = {}
    for edge in graph.edges:
        pair = (edge.src, edge.dst)
        cheapest[pair] = min(edge.length_mm, cheapest.get(pair, edge.length_mm))
    return [(src, dst, cost) for (src, dst), cost in cheapest.items()]


GRAPHS: dict[str, Callable[[], list[Link]]] = {
    "network 100 sparse": partial(network, 100, SPARSE),
    "network 100 dense": partial(network, 100, DENSE),
    "network 300 sparse": partial(network, 300, SPARSE),
    "network 300 dense": partial(network, 300, DENSE),
    "network 1000 sparse": partial(network, 1000, SPARSE),
    "network 1000 dense": partial(network, 1000, DENSE),
    "grid 225": partial(grid, 15),
    "grid 625": partial(grid, 25),
    "grid 2500": partial(grid, 50),
    "ulm walking graph": walking,
}
