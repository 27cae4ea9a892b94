"""networkx: keep the graph, compute the whole answer anew after every change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx

from .worker import Digest, Row, Script, Tables, digest_of, serve

WALKS = ("reachability", "regions", "cheapest, one source", "cheapest, all pairs")


class NetworkxSession:
    """A graph and the way to the answer."""

    def __init__(self, case: dict[str, Any]) -> None:
        self._tables: Tables = case["tables"]
        self._query: str = case["query"]
        if self._query not in WALKS:
            raise NotImplementedError("networkx has no joins, and of recursions walks alone")
        self._graph: Any = nx.DiGraph()
        self._triggered: set[int] = set()
        self._answer: Any = None

    def load(self) -> None:
        """Build the graph, compute."""
        self._graph.add_weighted_edges_from(self._tables["link"], weight="cost")
        self._triggered = {row[0] for row in self._tables.get("triggered", ())}
        self._compute()

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Change the graph, compute."""
        if relation == "triggered":
            (self._triggered.add if weight > 0 else self._triggered.discard)(row[0])
        elif weight > 0:
            self._graph.add_edge(row[0], row[1], cost=row[2])
        else:
            self._graph.remove_edge(row[0], row[1])
        self._compute()

    def digest(self) -> Digest:
        """Returns the digest of the answer."""
        return digest_of(self._rows())

    def _compute(self) -> None:
        graph = self._graph
        if self._query == "reachability":
            self._answer = nx.transitive_closure(graph, reflexive=False)
        elif self._query == "regions":
            active = graph.subgraph(self._triggered)
            self._answer = {
                seed: {node, *nx.descendants(active, node)}
                for seed, node in self._tables["region_seed"]
                if node in self._triggered
            }
        else:
            self._answer = {
                node: nx.single_source_dijkstra_path_length(graph, node, weight="cost")
                for (node,) in self._tables["origin"]
            }

    def _rows(self) -> Iterable[Row]:
        if self._query == "reachability":
            pairs: Iterable[Row] = self._answer.edges
            return pairs
        if self._query == "regions":
            return ((seed, node) for seed, nodes in self._answer.items() for node in nodes)
        return (
            (origin, node, cost)
            for origin, costs in self._answer.items()
            for node, cost in costs.items()
        )


def drive(case: dict[str, Any], keep: bool, script: Script) -> dict[str, Any]:  # noqa: FBT001 - the worker's protocol
    """Run a script."""
    del keep
    return script(NetworkxSession(case))


if __name__ == "__main__":
    serve(drive)
