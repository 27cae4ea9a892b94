"""Laws of all strategies: equal to networkx after every batch, empty when all is deleted."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.runtime.network.fact import closure, link
from aspen.runtime.network.network import QueryNetwork
from aspen.runtime.network.strategies import STRATEGIES

PLACES = 7
LINKS = st.tuples(st.integers(0, PLACES - 1), st.integers(0, PLACES - 1))
BATCHES = st.lists(
    st.tuples(st.booleans(), st.lists(LINKS, min_size=1, max_size=8)), min_size=1, max_size=8
)


def reachable(links: set[tuple[int, int]]) -> set[tuple[int, int]]:
    graph = nx.DiGraph(sorted(links))
    return set(nx.transitive_closure(graph, reflexive=False).edges())


@pytest.mark.parametrize("nodes", [1, 3, 12])
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@settings(max_examples=40, deadline=None)
@given(batches=BATCHES)
def test_equals_networkx_after_every_batch_and_ends_empty(strategy, nodes, batches):
    network = QueryNetwork(strategy, nodes)
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
    assert [peer.state_bytes() for peer in network.peers] == [0] * nodes
    for peer in network.peers:
        assert not getattr(peer, "_mentioning", None)
    assert network.manager.live_variables() == 0
    assert network.manager.live_nodes() == QueryNetwork(strategy, 1).manager.live_nodes()
