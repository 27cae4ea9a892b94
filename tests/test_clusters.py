"""Clusters: held against the connected components of networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from aspen.clusters import clusters


@given(st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=3).map(tuple), max_size=12))
def test_oracle_groups_hang_together_by_what_they_share(groups):
    graph = nx.Graph()
    graph.add_nodes_from(("group", place) for place in range(len(groups)))
    graph.add_edges_from(
        (("group", n), member) for n, group in enumerate(groups) for member in group
    )
    expected = sorted(
        sorted(node[1] for node in part if isinstance(node, tuple))
        for part in nx.connected_components(graph)
    )
    found = clusters(list(enumerate(groups)), lambda one: one[1])
    # Parts come in order of their first groups, and groups keep theirs.
    assert [[place for place, _ in part] for part in found] == expected
