"""TPC-H Q3S with the costs of the paper's Fig. 3 and Table 1, in hundredths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from federation.search.space import SCAN, And, Node

SPLITS = (
    And("COL", "-", 1, "join", "sort-merge", "C", "custkey", "OL", "custkey"),
    And("COL", "-", 2, "join", "index-nested-loop", "L", "orderkey", "CO", "-"),
    And("OL", "custkey", 1, "join", "pipelined-hash", "O", "-", "L", "-"),
    And("CO", "-", 1, "join", "pipelined-hash", "C", "-", "O", "-"),
    And("CO", "-", 2, "join", "sort-merge", "C", "custkey", "O", "custkey"),
)
LOCAL = dict(zip(SPLITS, (3, 3, 6, 7, 9), strict=True))
SCANS = {
    ("C", "-"): ("scan", 4),
    ("C", "custkey"): ("index-scan", 4),
    ("O", "-"): ("scan", 19),
    ("O", "custkey"): ("index-scan", 19),
    ("L", "-"): ("scan", 68),
    ("L", "orderkey"): ("index-scan", 68),
}


@dataclass(frozen=True)
class Q3S:
    """The `Space` of the paper's example."""

    goal: Node = ("COL", "-")
    local: Mapping[And, int] = field(default_factory=lambda: LOCAL)
    scan: Mapping[Node, tuple[str, int]] = field(default_factory=lambda: SCANS)

    def ways(self, node: Node) -> tuple[And, ...]:
        scan = [And(*node, 0, SCAN, self.scan[node][0])] if node in self.scan else []
        return (*scan, *(way for way in self.local if way.node == node))

    def cost(self, way: And) -> int:
        return self.scan[way.node][1] if way.log == SCAN else self.local[way]

    def upwards(self) -> Iterable[Node]:
        nodes = {*self.scan, *(way.node for way in SPLITS)}
        return sorted(nodes, key=lambda node: (len(node[0]), node))
