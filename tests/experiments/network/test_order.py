"""Depth-first order of variables: kept with the network, and smaller diagrams."""

from __future__ import annotations

from random import Random

import pytest

from tests.dfs_order import level_of
from tests.experiments.network.fact import link
from tests.experiments.network.network import QueryNetwork
from tests.experiments.network.topology import DENSE, SPARSE, transit_stub


def shuffled(seed, density, transits=2):
    facts = [
        link(*pair)
        for pair in transit_stub(seed, links_per_vertex=density, transits=transits).links
    ]
    Random(seed).shuffle(facts)
    return facts


def test_follows_the_links_through_insertion_and_deletion():
    facts = shuffled(1, DENSE)
    network = QueryNetwork("absorption-push", 12)
    network.insert(facts[:100])
    network.delete(facts[:50])
    network.insert(facts[100:])
    manager, variables = network.manager, network.variables
    lowest_first = sorted(variables, key=lambda f: -level_of(manager, variables[f]))
    assert lowest_first == network.order.items()
    again = QueryNetwork("dred", 1)
    again.insert(facts[50:])
    assert network.rows() == again.rows()


def test_few_changes_move_no_variables():
    facts = shuffled(1, DENSE)
    network = QueryNetwork("absorption-push", 12)
    network.insert(facts[:-1])
    before = {v: level_of(network.manager, v) for v in network.variables.values()}
    network.insert(facts[-1:])
    after = sorted(before, key=lambda v: level_of(network.manager, v))
    assert after == sorted(before, key=before.__getitem__)
    assert network.order.items() != [*facts[:-1], facts[-1]]
    assert sorted(map(id, network.order.items())) == sorted(map(id, network.variables))


@pytest.mark.parametrize(
    ("strategy", "density", "dumped", "shared"),
    [
        ("absorption-push", DENSE, 0.7, 0.62),
        ("absorption-push", SPARSE, 1.0, 0.65),
        ("absorption-eager", SPARSE, 0.9, 0.6),
    ],
)
def test_makes_the_diagrams_of_a_shuffled_network_smaller(strategy, density, dumped, shared):
    weights = []
    for ordered in (False, True):
        network = QueryNetwork(strategy, 12, ordered=ordered)
        network.insert(shuffled(1, density, transits=4))
        weights.append(
            (
                sum(peer.provenance_bytes() for peer in network.peers),
                sum(peer.shared_provenance_bytes() for peer in network.peers),
            )
        )
    assert weights[1][0] < dumped * weights[0][0]
    assert weights[1][1] < shared * weights[0][1]


def test_strategies_without_diagrams_keep_no_order():
    assert QueryNetwork("absorption-lazy", 2).order is None
    assert QueryNetwork("absorption-push", 2, ordered=False).order is None
