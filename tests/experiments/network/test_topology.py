"""The generator makes the networks the experiments name, the same ones from the same seed."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.experiments.network.topology import DENSE, SPARSE, STUB_LATENCY_MS, transit_stub


@pytest.mark.parametrize(("density", "links"), [(DENSE, 400), (SPARSE, 200)])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_has_the_seeds_size_and_hangs_together(density, links, seed):
    topology = transit_stub(seed, links_per_vertex=density)
    assert len(topology.domain) == 100
    assert abs(len(topology.links) - links) <= 4
    assert nx.is_strongly_connected(nx.DiGraph(list(topology.links)))
    assert all(topology.links[b, a] == ms for (a, b), ms in topology.links.items())
    for (a, b), latency_ms in topology.links.items():
        assert a != b
        inside = topology.domain[a] == topology.domain[b] != topology.domain[0]
        assert (latency_ms == STUB_LATENCY_MS) == inside


def test_comes_from_its_seed():
    assert transit_stub(3, links_per_vertex=DENSE) == transit_stub(3, links_per_vertex=DENSE)
    assert transit_stub(3, links_per_vertex=DENSE) != transit_stub(4, links_per_vertex=DENSE)


def test_scales_by_transit_nodes():
    topology = transit_stub(1, links_per_vertex=DENSE, transits=8)
    assert (len(topology.domain), len(topology.links)) == (200, 800)
