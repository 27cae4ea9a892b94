"""Paths with aggregate selection: networkx's answers after every batch, nothing left at the end."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.experiments.network.agg_sel import AggSel, PathRow
from tests.experiments.network.exchange import TurnedOut
from tests.experiments.network.fact import link
from tests.experiments.network.network import QueryNetwork
from tests.experiments.network.paths import CHEAPEST, SHORTEST
from tests.experiments.network.strategies import PATH_STRATEGIES
from tests.experiments.network.topology import DENSE, transit_stub

VERTICES = 6
PAIRS = st.tuples(st.integers(0, VERTICES - 1), st.integers(0, VERTICES - 1)).filter(
    lambda pair: pair[0] != pair[1]
)
BATCHES = st.lists(
    st.tuples(st.booleans(), st.dictionaries(PAIRS, st.integers(1, 4), min_size=1, max_size=8)),
    min_size=1,
    max_size=8,
)
EXACT = {  # which of (least cost, fewest hops) a strategy answers
    "paths-all": (0, 1),
    "paths-single": (0, 1),
    "paths-multi": (0, 1),
    "paths-cheapest": (0,),
    "paths-shortest": (1,),
}


def expected(costs):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((a, b, cost) for (a, b), cost in costs.items())
    cheapest = dict(nx.all_pairs_dijkstra_path_length(graph))
    shortest = dict(nx.all_pairs_shortest_path_length(graph))
    return {(a, b): (cheapest[a][b], shortest[a][b]) for a in graph for b in shortest[a] if a != b}


def found(network):
    return {pair: least for peer in network.peers for pair, least in peer.least().items()}


def check(strategy, nodes, batches, near):
    latency_s = {
        (a, b): near.choice([0.001, 0.002, 0.01, 0.05]) for a in range(nodes) for b in range(nodes)
    }
    network = QueryNetwork(strategy, nodes, latency_s=lambda a, b: latency_s[a, b])
    live: dict[tuple[int, int], int] = {}
    for inserts, costs in batches:
        if inserts:
            new = {pair: cost for pair, cost in costs.items() if pair not in live}
            network.insert(link(*pair, cost) for pair, cost in new.items())
            live |= new
        else:
            gone = [pair for pair in costs if pair in live]
            network.delete([link(*pair, live.pop(pair)) for pair in gone])
        want, got = expected(live), found(network)
        assert got.keys() == want.keys() == network.rows()
        for part in EXACT[strategy]:
            assert {pair: least[part] for pair, least in got.items()} == {
                pair: least[part] for pair, least in want.items()
            }
        assert_what_was_sent_is_what_is_kept(network)
    network.delete([link(*pair, cost) for pair, cost in live.items()])
    assert [peer.state_bytes() for peer in network.peers] == [0] * nodes
    assert not any(peer.fixpoint._mentioning or peer.fixpoint._fresh for peer in network.peers)


def assert_what_was_sent_is_what_is_kept(network):
    """Every row taken back is gone where it was sent, and no row is kept twice."""
    kept = [row for peer in network.peers for row in peer.fixpoint.rows() if row.hops > 1]
    sent = [row for peer in network.peers for row in peer.min_ship.passed()]
    assert sorted(kept) == sorted(sent)


@pytest.mark.parametrize("nodes", [1, 3, 12])
@pytest.mark.parametrize("strategy", sorted(PATH_STRATEGIES))
@settings(max_examples=15, deadline=None)
@given(batches=BATCHES, near=st.randoms(use_true_random=False))
def test_equals_networkx_after_every_batch_and_ends_empty(strategy, nodes, batches, near):
    check(strategy, nodes, batches, near)


@pytest.mark.nightly
@pytest.mark.parametrize("strategy", sorted(PATH_STRATEGIES))
@settings(max_examples=400, deadline=None)
@given(
    batches=BATCHES, nodes=st.sampled_from([1, 2, 5, 12]), near=st.randoms(use_true_random=False)
)
def test_lives_through_long_changes(strategy, batches, nodes, near):
    check(strategy, nodes, batches, near)


def test_two_selections_at_once_ship_half_of_what_two_views_ship():
    """Transit-stub latencies: the cheapest path of a pair is a shortest one, too."""
    topology = transit_stub(0, links_per_vertex=DENSE, transits=2)
    shipped = {}
    for strategy in ("paths-multi", "paths-single", "paths-cheapest", "paths-shortest"):
        network = QueryNetwork(strategy, 12)
        network.insert(link(*pair, cost) for pair, cost in topology.links.items())
        shipped[strategy] = network.meter.bytes
    assert shipped["paths-multi"] <= shipped["paths-single"] / 2
    assert shipped["paths-multi"] <= (shipped["paths-cheapest"] + shipped["paths-shortest"]) / 2


def test_without_selection_a_dense_network_does_not_end():
    topology = transit_stub(0, links_per_vertex=DENSE)
    network = QueryNetwork("paths-all", 12)
    network.exchange.cpu_budget_s = 0.5
    with pytest.raises(TurnedOut, match="still send"):
        network.insert(link(*pair, cost) for pair, cost in topology.links.items())


def row(cost, hops, *, by=0):
    return PathRow(0, 9, cost, hops, (0, by, 9), 1 << by)


def changes(select):
    return [
        (sorted(row[2:4] for row in gone), sorted(row[2:4] for row in come))
        for gone, come in select.settle()
    ]


def test_a_beaten_row_stays_as_long_as_one_aggregate_wants_it():
    select = AggSel((CHEAPEST, SHORTEST))
    select.add(row(9, 2))
    assert changes(select) == [([], [(9, 2)])]
    select.add(row(7, 3))
    assert changes(select) == [([], [(7, 3)])]
    select.add(row(8, 3, by=5))
    assert changes(select) == []
    select.add(row(6, 2))
    assert changes(select) == [([(7, 3)], [(6, 2)])]  # a tie leaves (9, 2) for the hops
    select.add(row(5, 1))
    assert changes(select) == [([(6, 2), (9, 2)], [(5, 1)])]


def test_a_group_is_searched_again_only_when_a_best_row_goes():
    select = AggSel((CHEAPEST,))
    rows = [row(cost, 2, by=cost) for cost in (5, 6, 7)]
    for one in rows:
        select.add(one)
    assert changes(select) == [([], [(5, 2)])]
    select.remove(rows[1])
    assert changes(select) == []
    select.remove(rows[0])
    assert changes(select) == [([(5, 2)], [(7, 2)])]


def test_a_death_is_not_sent_but_its_successor_is():
    select = AggSel((CHEAPEST,))
    for cost in (5, 6):
        select.add(row(cost, 2, by=cost))
    assert changes(select) == [([], [(5, 2)])]
    assert select.bury(1 << 5) == [row(5, 2, by=5)]
    assert changes(select) == [([], [(6, 2)])]
    assert select.bury(1 << 6) == [row(6, 2, by=6)]
    assert changes(select) == []
    assert not list(select.rows())
