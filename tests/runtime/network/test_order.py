"""Depth-first order is a permutation that follows paths, and makes diagrams smaller."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from aspen.runtime.network.fact import link
from aspen.runtime.network.network import QueryNetwork
from aspen.runtime.network.order import depth_first
from aspen.runtime.network.topology import DENSE, transit_stub

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), unique=True)


@given(pairs=PAIRS)
def test_is_a_permutation_of_the_facts(pairs):
    facts = [link(*pair) for pair in pairs]
    ordered = depth_first(facts)
    assert sorted(map(facts.index, ordered)) == list(range(len(facts)))


def test_goes_deep_before_it_goes_wide():
    a, b, c, d, e = range(5)
    links = [(a, b), (a, e), (b, c), (c, d), (b, e)]
    ordered = depth_first([link(*pair) for pair in links])
    assert [fact.rows[0] for fact in ordered] == [(a, b), (b, c), (c, d), (b, e), (a, e)]


def test_makes_the_diagrams_of_a_shuffled_network_smaller():
    facts = [link(*pair) for pair in transit_stub(1, links_per_place=DENSE, transits=2).links]
    Random(1).shuffle(facts)
    weights = []
    for ordered in (False, True):
        network = QueryNetwork("absorption-push", 12, ordered=ordered)
        network.insert(facts)
        weights.append(sum(peer.provenance_bytes() for peer in network.peers))
    assert weights[1] < 0.9 * weights[0]
