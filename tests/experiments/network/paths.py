"""Paths: the recursive view `path` of one node, with aggregate selection at Fixpoint and MinShip.

    path(x, y) = link(x, y)  ∪  link(w, x) ⋈ path(x, y), w not on it yet

    row ──▸ AggSel of Fixpoint ──▸ ⋈ edge(w, x) ──▸ AggSel of MinShip ──▸ row at the owner of w

Law:        after each batch, the least cost and the fewest hops of all rows kept are those of the
            live links, for each pair that a path connects.
Algorithm:  [LTZIL09] sections II and VII. A path names its links, so it has one derivation and
            its annotation is their product; a death is told to all nodes, and each drops what
            mentions it. A row that is beaten is taken back where it was sent.
State:      two AggSels; rows passed on by vertex; edges by x.
Receives:   row, unrow, edge, dead.     Gives: row, unrow.
Ends:       a path meets a vertex once. Without selection there are exponentially many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter

from aspen.provenance.bdd import Bdd
from aspen.views.node import key_of
from aspen.views.operators.agg_sel import Selection
from tests.experiments.network.agg_sel import AggSel, PathRow
from tests.experiments.network.exchange import Exchange
from tests.experiments.network.fact import Fact, Value, Vertex
from tests.experiments.network.partition import Owner
from tests.experiments.network.peer import Peer, drop_empty
from tests.experiments.network.sizes import (
    COUNT_BYTES,
    EDGE_BYTES,
    ITEM_BYTES,
    ROW_BYTES,
    SIGN_BYTES,
    VALUE_BYTES,
    VARIABLE_BYTES,
)

_COST, _HOPS = PathRow._fields.index("cost"), PathRow._fields.index("hops")
_PAIR = key_of([0, 1])

CHEAPEST = Selection(_PAIR, itemgetter(_COST), _COST, "cost")
"""MIN(cost) of a pair."""

SHORTEST = Selection(_PAIR, itemgetter(_HOPS), _HOPS, "hops")
"""MIN(hops) of a pair."""

CHEAPEST_BY_HOPS = Selection(key_of([0, 1, _HOPS]), itemgetter(_COST), _COST, "cost")
"""MIN(cost) alone where the hops are wanted, too: they must stay apart in groups."""

ALL = Selection(lambda row: row, itemgetter(_COST), _COST, "cost")
"""No selection: each row is its own group."""


class PathPeer(Peer):
    """One node.

    Args:
        selections: one per aggregate, all with the same groups.
    """

    def __init__(
        self,
        me: int,
        nodes: int,
        owner: Owner,
        exchange: Exchange,
        manager: Bdd,
        selections: Sequence[Selection],
    ) -> None:
        del manager
        super().__init__(me, nodes, owner, exchange)
        self.handlers.update(row=self.row, unrow=self.unrow, edge=self.edge, dead=self.dead)
        self.fixpoint = AggSel(selections)
        self.min_ship = AggSel(selections)
        self.passed: defaultdict[Vertex, dict[PathRow, None]] = defaultdict(dict)
        self.edges: defaultdict[Vertex, dict[Vertex, tuple[int, int]]] = defaultdict(dict)
        self.dead_bits = 0
        self._dying = 0

    def insert(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds."""
        bit = 1 << variable
        for x, y in fact.rows:
            row = PathRow(x, y, fact.cost, 1, (x, y), bit)
            self.post(self.owner(x), ("row", row), _weight(row))
        size = ITEM_BYTES + VALUE_BYTES + VARIABLE_BYTES
        for w, x in fact.edges:
            self.post(self.owner(x), ("edge", w, x, fact.cost, bit), size)

    def delete(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds no longer: set its variable false everywhere."""
        del fact
        self.tell_all(("dead", 1 << variable), SIGN_BYTES + VARIABLE_BYTES)
        self.dead(1 << variable)

    def row(self, row: PathRow) -> None:
        """Fixpoint: take in a path, unless news of a death has overtaken it."""
        if not row.product & self.dead_bits:
            self.fixpoint.add(row)

    def unrow(self, row: PathRow) -> None:
        """Fixpoint: hear that a path was beaten where it came from."""
        self.fixpoint.remove(row)

    def edge(self, w: Vertex, x: Vertex, cost: int, bit: int) -> None:
        """Join: take in an edge, and join it with the rows that were passed on."""
        self.edges[x][w] = (cost, bit)
        for row in self.passed[x]:
            self._derive(w, row, cost, bit)

    def _derive(self, w: Vertex, row: PathRow, cost: int, bit: int) -> None:
        if w not in row.vertices:
            self.min_ship.add(_longer(w, row, cost, bit))

    def dead(self, variables: int) -> None:
        """Hear that facts hold no longer."""
        self._dying |= variables & ~self.dead_bits
        self.dead_bits |= variables

    def settle(self) -> None:
        """Let the dead die, pass on what Fixpoint chooses, then send what MinShip chooses."""
        if self._dying:
            self._bury()
        for gone, come in self.fixpoint.settle():
            for row in gone:
                del self.passed[row.source][row]
                for w, (cost, bit) in self.edges[row.source].items():
                    self.min_ship.remove(_longer(w, row, cost, bit))
            for row in come:
                self.passed[row.source][row] = None
                for w, (cost, bit) in self.edges[row.source].items():
                    self._derive(w, row, cost, bit)
        for gone, come in self.min_ship.settle():
            for row in gone:
                size = ITEM_BYTES + VALUE_BYTES * len(row.vertices)
                self.post(self.owner(row.source), ("unrow", row), size)
            for row in come:
                self.post(self.owner(row.source), ("row", row), _weight(row))

    def _bury(self) -> None:
        dying, self._dying = self._dying, 0
        for edges in self.edges.values():
            for w in [w for w, (_, bit) in edges.items() if bit & dying]:
                del edges[w]
        for row in self.fixpoint.bury(dying):
            del self.passed[row.source][row]
        self.min_ship.bury(dying)

    def resume(self) -> None:
        """Begin a further phase: there is none."""

    def finish(self) -> None:
        """Forget the dead, whose variables may be used anew, and empty parts."""
        self.dead_bits = 0
        drop_empty(self.passed)
        drop_empty(self.edges)
        self.fixpoint.forget()
        self.min_ship.forget()

    def rows(self) -> list[tuple[Vertex, Value]]:
        """Returns the pairs that a path kept here connects."""
        return list(dict.fromkeys((row.source, row.target) for row in self.fixpoint.rows()))

    def annotated(self) -> int:
        """Count the paths kept here."""
        return sum(1 for _ in self.fixpoint.rows())

    def least(self) -> dict[tuple[Vertex, Value], tuple[int, int]]:
        """Returns least cost and fewest hops of each pair: the aggregates above the recursion."""
        found: dict[tuple[Vertex, Value], tuple[int, int]] = {}
        for row in self.fixpoint.passed():
            cost, hops = found.get(row[:2], (row.cost, row.hops))
            found[row[:2]] = (min(cost, row.cost), min(hops, row.hops))
        return found

    def provenance_bytes(self) -> int:
        """Weigh the annotations of the paths kept here."""
        return sum(_product_weight(row) for row in self.fixpoint.rows())

    def state_bytes(self) -> int:
        """Weigh both AggSels, what was passed on, and the edges."""
        kept = sum(_weight(row) - SIGN_BYTES for row in self.fixpoint.rows())
        kept += sum(_weight(row) - SIGN_BYTES for row in self.min_ship.rows())
        passed = sum(map(len, self.passed.values())) * ROW_BYTES
        edges = sum(map(len, self.edges.values()))
        return kept + passed + edges * (EDGE_BYTES + VALUE_BYTES + VARIABLE_BYTES)


def _longer(w: Vertex, row: PathRow, cost: int, bit: int) -> PathRow:
    return PathRow(
        w, row.target, row.cost + cost, row.hops + 1, (w, *row.vertices), row.product | bit
    )


def _product_weight(row: PathRow) -> int:
    return COUNT_BYTES + VARIABLE_BYTES * row.hops


def _weight(row: PathRow) -> int:
    """Weigh a row: sign, pair, cost, hops, vertices, annotation."""
    return ITEM_BYTES + VALUE_BYTES * (2 + len(row.vertices)) + _product_weight(row)
