"""Laws of all strategies: equal to networkx after every batch, empty when all is deleted."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.experiments.network.fact import closure, link, triggered
from tests.experiments.network.network import QueryNetwork
from tests.experiments.network.strategies import STRATEGIES

VERTICES = 7
LINKS = st.tuples(st.integers(0, VERTICES - 1), st.integers(0, VERTICES - 1))
BATCHES = st.lists(
    st.tuples(st.booleans(), st.lists(LINKS, min_size=1, max_size=8)), min_size=1, max_size=8
)


def reachable(links: set[tuple[int, int]]) -> set[tuple[int, int]]:
    graph = nx.DiGraph(sorted(links))
    return set(nx.transitive_closure(graph, reflexive=False).edges())


@pytest.mark.parametrize("nodes", [1, 3, 12])
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@settings(max_examples=40, deadline=None)
@given(batches=BATCHES, near=st.randoms(use_true_random=False))
def test_equals_networkx_after_every_batch_and_ends_empty(strategy, nodes, batches, near):
    check(network_of(strategy, nodes, near), batches)


@pytest.mark.nightly
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@settings(max_examples=150, deadline=None)
@given(
    batches=st.lists(
        st.tuples(st.booleans(), st.lists(LINKS, min_size=1, max_size=8)), min_size=10, max_size=20
    ),
    nodes=st.sampled_from([1, 2, 5, 12]),
    near=st.randoms(use_true_random=False),
)
def test_lives_through_long_changes(strategy, nodes, batches, near):
    check(network_of(strategy, nodes, near), batches)


def network_of(strategy, nodes, near):
    """A network whose channels differ, so that news of one death arrives in any order."""
    latency_s = {
        (a, b): near.choice([0.001, 0.002, 0.01, 0.05]) for a in range(nodes) for b in range(nodes)
    }
    return QueryNetwork(strategy, nodes, latency_s=lambda a, b: latency_s[a, b])


def check(network, batches):
    live: set[tuple[int, int]] = set()
    for inserts, links in batches:
        facts = [link(*pair) for pair in links]
        if inserts:
            network.insert(facts)
            live |= set(links)
        else:
            network.delete(facts)
            live -= set(links)
        assert network.rows() == reachable(live) == closure([link(*pair) for pair in live])
    network.delete([link(*pair) for pair in live])
    assert [peer.state_bytes() for peer in network.peers] == [0] * len(network.peers)
    for peer in network.peers:
        assert not getattr(peer, "_mentioning", None)
        assert not getattr(peer, "_fresh", None)
    assert network.manager.live_variables() == 0
    assert network.manager.live_nodes() == QueryNetwork("dred", 1).manager.live_nodes()


SENSORS = 12
TURNS = st.lists(st.lists(st.integers(0, SENSORS - 1), min_size=1, max_size=6), max_size=8)


@pytest.mark.parametrize("nodes", [1, 3, 12])
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@settings(max_examples=15, deadline=None)
@given(turns=TURNS, near=st.randoms(use_true_random=False))
def test_regions_equal_those_networkx_finds(strategy, nodes, turns, near):
    vertices = {number: (10.0 * (number % 4), 10.0 * (number // 4)) for number in range(SENSORS)}
    seeds = {0: [0], 5: [1, 2], 11: [3]}
    facts = triggered(vertices, seeds, within_m=15.0)
    network = network_of(strategy, nodes, near)
    live: set[int] = set()
    for turn in turns:
        network.delete([facts[sensor] for sensor in turn if sensor in live])
        network.insert([facts[sensor] for sensor in turn if sensor not in live])
        live ^= set(turn)
        graph = nx.DiGraph([(a, b) for a in live for b, _ in facts[a].edges])
        expected = {
            (sensor, region)
            for start in live & seeds.keys()
            for sensor in nx.descendants(graph, start) | {start}
            for region in seeds[start]
        }
        assert network.rows() == expected == closure([facts[sensor] for sensor in live])
    network.delete([facts[sensor] for sensor in live])
    assert not any(peer.state_bytes() for peer in network.peers)
