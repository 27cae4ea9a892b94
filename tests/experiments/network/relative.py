"""Relative: each row knows its immediate derivations; deletion walks this graph to the facts.

    delete edge (w, x)    row(w, y) loses the derivation over x
      none left           the row goes, and with it each derivation that took it
      others left         a token walks them backwards, depth first: is a fact at the end?
      channels empty      who sent a derivation that is gone sends another one it has

Law:        a row is held iff its derivations lead back to a live fact.
Algorithm:  T. J. Green, G. Karvounarakis, Z. G. Ives, V. Tannen, "Update exchange with mappings
            and provenance", VLDB 2007, as [LTZIL09] uses it, with MinShip: a node sends the first
            derivation of a row. While tokens walk, derivations only go, so whether a row stands
            on a fact does not change under way and the answer is exact; that is why substitutes
            wait for empty channels (which costs nothing here, and speaks for this strategy). The
            step is linear: a derivation takes one row of the view, so the walk is a plain search.
State:      held: (x, y) -> derivations; sent: (w, y) -> the one sent; edges by x and by w.
Receives:   row, edge, unedge, lose, walk, verdict.     Gives: row, lose, walk, verdict.
Ends:       a token visits a row once.
"""

from __future__ import annotations

from collections import defaultdict

from aspen.provenance.bdd import Bdd
from tests.experiments.network.exchange import Exchange
from tests.experiments.network.fact import Fact, Value, Vertex
from tests.experiments.network.partition import Owner
from tests.experiments.network.peer import Peer
from tests.experiments.network.sizes import (
    DERIVATION_BYTES,
    EDGE_BYTES,
    ITEM_BYTES,
    ROW_BYTES,
    VALUE_BYTES,
)

FACT: Vertex = -1
"""Instead of x: the derivation is a fact, not a row by an edge."""

Step = tuple[Vertex, Vertex]
"""(w, x): a walk goes from a row of w to the one of x it was derived from."""


class RelativePeer(Peer):
    """One node of the relative strategy."""

    def __init__(self, me: int, nodes: int, owner: Owner, exchange: Exchange, manager: Bdd) -> None:
        del manager
        super().__init__(me, nodes, owner, exchange)
        self.handlers.update(row=self.row, edge=self.edge, unedge=self.unedge)
        self.handlers.update(lose=self.lose, sever=self.sever, walk=self.walk, verdict=self.verdict)
        self.held: defaultdict[Vertex, dict[Value, dict[Vertex, None]]] = defaultdict(dict)
        self.sent: defaultdict[Vertex, dict[Value, Vertex]] = defaultdict(dict)
        self.edges: defaultdict[Vertex, dict[Vertex, None]] = defaultdict(dict)
        self.partners: defaultdict[Vertex, dict[Vertex, None]] = defaultdict(dict)
        self._suspects: dict[tuple[Vertex, Value], None] = {}
        self._owed: dict[tuple[Vertex, Value], None] = {}
        self._sound: set[tuple[Vertex, Value]] = set()

    def insert(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds."""
        del variable
        for vertex, value in fact.rows:
            self.post(
                self.owner(vertex), ("row", vertex, value, FACT), ITEM_BYTES + DERIVATION_BYTES
            )
        for target, source in fact.edges:
            self.post(self.owner(source), ("edge", target, source), ITEM_BYTES)

    def delete(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds no longer."""
        del variable
        for vertex, value in fact.rows:
            self.post(self.owner(vertex), ("lose", vertex, value, FACT), ITEM_BYTES + VALUE_BYTES)
        for target, source in fact.edges:
            self.post(self.owner(source), ("unedge", target, source), ITEM_BYTES)
            self.post(self.owner(target), ("sever", target, source), ITEM_BYTES)

    def row(self, x: Vertex, y: Value, source: Vertex) -> None:
        """Fixpoint: note a derivation; pass on a row that is new."""
        derivations = self.held[x].get(y)
        if derivations is not None:
            derivations[source] = None
            return
        self.held[x][y] = {source: None}
        for w in self.edges[x]:
            self._derive(w, y, x)

    def edge(self, w: Vertex, x: Vertex) -> None:
        """Join: take in an edge, and join it with the rows that are here."""
        self.edges[x][w] = self.partners[w][x] = None
        for y in self.held[x]:
            self._derive(w, y, x)

    def _derive(self, w: Vertex, y: Value, x: Vertex) -> None:
        """MinShip: send a first derivation on; further ones stand in the join's tables."""
        sent = self.sent[w]
        if y not in sent:
            sent[y] = x
            self.post(self.owner(w), ("row", w, y, x), ITEM_BYTES + DERIVATION_BYTES)

    def unedge(self, w: Vertex, x: Vertex) -> None:
        """Hear, where an edge is joined, that it is gone."""
        del self.edges[x][w]
        del self.partners[w][x]
        sent = self.sent[w]
        for y in [y for y, via in sent.items() if via == x]:
            del sent[y]
            self._owed[w, y] = None

    def sever(self, w: Vertex, x: Vertex) -> None:
        """Hear, where an edge's results are kept, that it is gone."""
        for y in list(self.held[w]):
            self.lose(w, y, x)

    def lose(self, x: Vertex, y: Value, source: Vertex) -> None:
        """Hear that a derivation is gone."""
        derivations = self.held[x].get(y)
        if derivations is None or source not in derivations:
            return
        del derivations[source]
        if not derivations:
            self._drop(x, y)
        elif FACT not in derivations:
            self._suspects[x, y] = None

    def _drop(self, x: Vertex, y: Value) -> None:
        """Delete a row, and every derivation sent that took it."""
        del self.held[x][y]
        for w in self.edges[x]:
            if self.sent[w].get(y) == x:
                del self.sent[w][y]
                self._owed[w, y] = None
                self.post(self.owner(w), ("lose", w, y, x), ITEM_BYTES + VALUE_BYTES)

    def settle(self) -> None:
        """Send a token from every row that lost a derivation and has others."""
        suspects, self._suspects = self._suspects, {}
        for x, y in suspects:
            derivations = self.held[x].get(y)
            if derivations is not None:
                steps = tuple((x, source) for source in reversed(derivations))
                self._go_on(x, y, steps, frozenset((x,)))

    def walk(
        self, goal: Vertex, y: Value, steps: tuple[Step, ...], seen: frozenset[Vertex]
    ) -> None:
        """Look at the row a token has come to, and send the token on."""
        *rest, (w, x) = steps
        derivations = self.held[x].get(y) if w in self.edges[x] else None
        if derivations is None:
            self._go_on(goal, y, tuple(rest), seen)
        elif FACT in derivations or (x, y) in self._sound:
            self._judge(goal, y, sound=True)
        else:
            further = [(x, source) for source in reversed(derivations) if source not in seen]
            self._go_on(goal, y, (*rest, *further), seen)

    def _go_on(
        self, goal: Vertex, y: Value, steps: tuple[Step, ...], seen: frozenset[Vertex]
    ) -> None:
        while steps and steps[-1][1] in seen:
            steps = steps[:-1]
        if not steps:
            self._judge(goal, y, sound=False)
            return
        target = steps[-1][1]
        size = ITEM_BYTES + len(steps) * EDGE_BYTES + len(seen) * VALUE_BYTES
        self.post(self.owner(target), ("walk", goal, y, steps, seen | {target}), size)

    def _judge(self, goal: Vertex, y: Value, *, sound: bool) -> None:
        self.post(self.owner(goal), ("verdict", goal, y, sound), ITEM_BYTES)

    def verdict(self, x: Vertex, y: Value, sound: bool) -> None:  # noqa: FBT001 - an item's part
        """Hear what a token has found."""
        if sound:
            self._sound.add((x, y))
        elif y in self.held[x]:
            self._drop(x, y)

    def unfinished(self) -> bool:
        """Whether sent derivations that are gone may have substitutes."""
        return bool(self._owed)

    def resume(self) -> None:
        """Send substitutes for sent derivations that are gone."""
        owed, self._owed = self._owed, {}
        for w, y in owed:
            for x in self.partners[w]:
                if y in self.held[x]:
                    self._derive(w, y, x)
                    break

    def finish(self) -> None:
        """Forget empty parts, and which rows were found sound."""
        self._sound.clear()
        for table in (self.held, self.sent, self.edges, self.partners):
            for x in [x for x, part in table.items() if not part]:
                del table[x]

    def rows(self) -> list[tuple[Vertex, Value]]:
        """Returns the view's rows kept here."""
        return [(x, y) for x, held in self.held.items() for y in held]

    def provenance_bytes(self) -> int:
        """Weigh the derivations of the view's rows kept here."""
        return DERIVATION_BYTES * sum(
            len(derivations) for held in self.held.values() for derivations in held.values()
        )

    def state_bytes(self) -> int:
        """Weigh rows, derivations, what was sent, and both indexes of the edges."""
        rows = sum(map(len, self.held.values()))
        sent = sum(map(len, self.sent.values())) * (ROW_BYTES + VALUE_BYTES)
        edges = sum(len(part) for t in (self.edges, self.partners) for part in t.values())
        return rows * ROW_BYTES + self.provenance_bytes() + sent + edges * EDGE_BYTES
