"""One run of one of the seeds' experiments: a network made from a seed, and what it cost.

Convergence is virtual time plus the computing of the busiest node, since nodes compute side by
side; `cpu_s` is all nodes' computing together, what one core needs. Source: [LTZIL09] section VIII.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from tests.experiments.network.exchange import TurnedOut
from tests.experiments.network.fact import Fact, link, triggered
from tests.experiments.network.network import QueryNetwork
from tests.experiments.network.topology import DENSE, SPARSE, transit_stub

NODES = 12
DENSITIES = {"dense": DENSE, "sparse": SPARSE}

FIELD_SENSORS, SPACING_M, NEAR_M, GROUPS = 10, 10.0, 20.0, 5
"""Sensors along each side of a field of 100 m by 100 m, and what the seeds say of them."""

SHARED = "shared_provenance_bytes_per_tuple"

Sample = dict[str, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much to measure.

    Args:
        runs: networks, each from its own seed.
        budget_s: computing allowed to one insertion.
        deletions: links deleted one at a time.
        processes: runs at a time.
        transits: transit nodes of the networks of figure 15, 100 dense links each.
        query_nodes: of figure 16.
    """

    runs: int
    budget_s: float
    deletions: int
    processes: int = 1
    transits: tuple[int, ...] = (2, 4, 6, 8)
    query_nodes: tuple[int, ...] = (4, 8, 12, 16, 20, 24)


def inserted(
    strategy: str,
    seed: int,
    scale: Scale,
    *,
    share: float = 1.0,
    density: str = "dense",
    transits: int = 4,
    nodes: int = NODES,
    ordered: bool = True,
    shared: bool = False,
) -> Sample | None:
    """Insert links, all at once; None where that takes more than the budget.

    Args:
        shared: whether to weigh annotations also as memory holds them.
    """
    links = _links(seed, density, transits)
    network = QueryNetwork(strategy, nodes, ordered=ordered)
    sample = _inserted([network], links[: round(share * len(links))], scale)
    if sample is not None and shared:
        peers = network.peers
        sample[SHARED] = sum(peer.shared_provenance_bytes() for peer in peers) / sum(
            peer.annotated() for peer in peers
        )
    return sample


def one_view_each(
    strategies: str, seed: int, scale: Scale, *, density: str = "dense"
) -> Sample | None:
    """Insert links into several views, one after the other.

    Args:
        strategies: of the views, with "+" between them.
    """
    networks = [QueryNetwork(strategy, NODES) for strategy in strategies.split("+")]
    return _inserted(networks, _links(seed, density, 4), scale)


def deleted(
    strategy: str,
    seed: int,
    scale: Scale,
    *,
    density: str = "dense",
    nodes: int = NODES,
    share: float = 1.0,
) -> Sample:
    """Insert all links, then delete some, one at a time; means per deletion.

    Args:
        share: of the scale's deletions.
    """
    links = _links(seed, density, 4)
    network = QueryNetwork(strategy, nodes)
    network.insert(links)
    network.reset()
    gone = links[: round(share * scale.deletions)]
    took_s = sum(network.delete([fact]) for fact in gone)
    return _sample(network, took_s, len(gone))


def regions(strategy: str, seed: int, scale: Scale, *, drop: bool) -> Sample | None:
    """Trigger seed sensors and half of the others; give this, or the means per sensor let go."""
    random = Random(seed)
    vertices = {
        row * FIELD_SENSORS + column: (column * SPACING_M, row * SPACING_M)
        for row in range(FIELD_SENSORS)
        for column in range(FIELD_SENSORS)
    }
    seeds = {
        sensor: [group] for group, sensor in enumerate(random.sample(sorted(vertices), GROUPS))
    }
    facts = triggered(vertices, seeds, NEAR_M)
    active = [*seeds, *random.sample(sorted(vertices.keys() - seeds), len(vertices) // 2)]
    network = QueryNetwork(strategy, NODES)
    found = _inserted([network], [facts[sensor] for sensor in active], scale)
    if found is None or not drop:
        return found
    network.reset()
    gone = random.sample(active[GROUPS:], scale.deletions)
    took_s = sum(network.delete([facts[sensor]]) for sensor in gone)
    return _sample(network, took_s, len(gone))


def _links(seed: int, density: str, transits: int) -> list[Fact]:
    topology = transit_stub(seed, links_per_vertex=DENSITIES[density], transits=transits)
    facts = [link(*pair, cost=latency_ms) for pair, latency_ms in topology.links.items()]
    Random(seed).shuffle(facts)
    return facts


def _inserted(networks: Iterable[QueryNetwork], facts: list[Fact], scale: Scale) -> Sample | None:
    samples = []
    for network in networks:
        network.exchange.cpu_budget_s = scale.budget_s
        try:
            took_s = network.insert(facts)
        except TurnedOut:
            return None
        samples.append(_sample(network, took_s, 1))
    total = {name: sum(sample[name] for sample in samples) for name in samples[0]}
    total["provenance_bytes_per_tuple"] /= len(samples)
    return total


def _sample(network: QueryNetwork, took_s: float, changes: int) -> Sample:
    meter, peers = network.meter, network.peers
    rows = max(1, sum(peer.annotated() for peer in peers))
    return {
        "provenance_bytes_per_tuple": sum(peer.provenance_bytes() for peer in peers) / rows,
        "kilobytes": meter.bytes / changes / 1e3,
        "kilobytes_per_node": meter.bytes / changes / len(peers) / 1e3,
        "state_kilobytes_per_node": sum(peer.state_bytes() for peer in peers) / len(peers) / 1e3,
        "convergence_s": (took_s + meter.cpu_busiest_s) / changes,
        "cpu_s": meter.cpu_total_s / changes,
        "messages": meter.packets / changes,
        "tuples_shipped": sum(meter.items.values()) / changes,
    }
