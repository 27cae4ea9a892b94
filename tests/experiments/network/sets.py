"""Sets: DRed and recomputation, which keep rows without provenance.

    delete row(x, y)    over-delete   every row derived from it, whatever else derives that
    channels empty      ask           whoever has ever sent a derivation of a deleted row
    channels empty      re-derive     from what is left, and on

Law:        after each batch the rows are the closure of the live facts.
Algorithm:  A. Gupta, I. S. Mumick, V. S. Subrahmanian, "Maintaining views incrementally", SIGMOD
            1993 (DRed), distributed as [LTZIL09] section III-B does. That text leaves open how the
            node that joins learns which rows were deleted elsewhere; here the owner of a deleted
            row asks it, one notice per row and node. Waiting for empty channels costs nothing.
State:      held: x -> values; base: the rows facts give; edges by x and by w.
Receives:   row, edge, unedge, over, again.     Gives: row, over, again.
Ends:       a row is passed on when it becomes held, or ceases to be.
"""

from __future__ import annotations

from collections import defaultdict

from aspen.provenance.bdd import Bdd
from tests.experiments.network.exchange import Exchange
from tests.experiments.network.fact import Fact, Value, Vertex
from tests.experiments.network.partition import Owner
from tests.experiments.network.peer import Peer
from tests.experiments.network.sizes import (
    EDGE_BYTES,
    ITEM_BYTES,
    ROW_BYTES,
    SIGN_BYTES,
    VALUE_BYTES,
)


class SetPeer(Peer):
    """What DRed and recomputation have in common: semi-naive evaluation of sets."""

    def __init__(self, me: int, nodes: int, owner: Owner, exchange: Exchange, manager: Bdd) -> None:
        del manager
        super().__init__(me, nodes, owner, exchange)
        self.handlers.update(row=self.row, edge=self.edge, unedge=self.unedge, unbase=self.unbase)
        self.handlers["base"] = self.take_base
        self.held: defaultdict[Vertex, set[Value]] = defaultdict(set)
        self.base: defaultdict[Vertex, set[Value]] = defaultdict(set)
        self.edges: defaultdict[Vertex, dict[Vertex, None]] = defaultdict(dict)

    def insert(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds."""
        del variable
        for vertex, value in fact.rows:
            self.post(self.owner(vertex), ("base", vertex, value), ITEM_BYTES)
        for target, source in fact.edges:
            self.post(self.owner(source), ("edge", target, source), ITEM_BYTES)

    def delete(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds no longer."""
        del variable
        for vertex, value in fact.rows:
            self.post(self.owner(vertex), ("unbase", vertex, value), ITEM_BYTES)
        for target, source in fact.edges:
            self.post(self.owner(source), ("unedge", target, source), ITEM_BYTES)

    def take_base(self, x: Vertex, y: Value) -> None:
        """Take in a row that a fact gives."""
        self.base[x].add(y)
        self.row(x, y, self.me)

    def row(self, x: Vertex, y: Value, sender: int) -> None:
        """Fixpoint: take in a derivation; pass on a row that is new."""
        del sender
        held = self.held[x]
        if y not in held:
            held.add(y)
            for w in self.edges[x]:
                self.post(self.owner(w), ("row", w, y, self.me), ITEM_BYTES)

    def edge(self, w: Vertex, x: Vertex) -> None:
        """Join: take in an edge, and join it with the rows that are here."""
        self.edges[x][w] = None
        for y in self.held[x]:
            self.post(self.owner(w), ("row", w, y, self.me), ITEM_BYTES)

    def unbase(self, x: Vertex, y: Value) -> None:
        """Hear that a fact gives a row no longer."""
        self.base[x].discard(y)

    def unedge(self, w: Vertex, x: Vertex) -> None:
        """Hear that an edge is gone."""
        del self.edges[x][w]

    def settle(self) -> None:
        """Do what waits: nothing, each item is answered at once."""

    def resume(self) -> None:
        """Begin a further phase."""

    def finish(self) -> None:
        """Forget empty parts."""
        for table in (self.held, self.base, self.edges):
            for x in [x for x, part in table.items() if not part]:
                del table[x]

    def rows(self) -> list[tuple[Vertex, Value]]:
        """Returns the view's rows kept here."""
        return [(x, y) for x, held in self.held.items() for y in held]

    def provenance_bytes(self) -> int:
        """Weigh annotations: there are none."""
        return 0

    def state_bytes(self) -> int:
        """Weigh rows, the facts' own rows and edges."""
        rows = sum(map(len, self.held.values())) + sum(map(len, self.base.values()))
        return rows * ROW_BYTES + sum(map(len, self.edges.values())) * EDGE_BYTES


class DRedPeer(SetPeer):
    """One node of DRed."""

    def __init__(self, me: int, nodes: int, owner: Owner, exchange: Exchange, manager: Bdd) -> None:
        super().__init__(me, nodes, owner, exchange, manager)
        self.handlers.update(over=self.over, again=self.again)
        self.partners: defaultdict[Vertex, dict[Vertex, None]] = defaultdict(dict)
        self.senders: defaultdict[Vertex, dict[int, None]] = defaultdict(dict)
        self._gone: dict[tuple[Vertex, Value], None] = {}
        self._deleted: set[tuple[Vertex, Value]] = set()

    def row(self, x: Vertex, y: Value, sender: int) -> None:
        """Take in a derivation, and note who may have another one later."""
        self.senders[x][sender] = None
        super().row(x, y, sender)

    def edge(self, w: Vertex, x: Vertex) -> None:
        """Take in an edge."""
        self.partners[w][x] = None
        super().edge(w, x)

    def unbase(self, x: Vertex, y: Value) -> None:
        """Over-delete a row that a fact gave."""
        super().unbase(x, y)
        self.over(x, y)

    def unedge(self, w: Vertex, x: Vertex) -> None:
        """Over-delete what was derived by an edge."""
        for y in self.held[x]:
            self.post(self.owner(w), ("over", w, y), ITEM_BYTES)
        del self.partners[w][x]
        super().unedge(w, x)

    def over(self, x: Vertex, y: Value) -> None:
        """Delete a row whatever else derives it, and what follows from it."""
        held = self.held[x]
        if y in held:
            held.remove(y)
            self._gone[x, y] = None
            for w in self.edges[x]:
                self.post(self.owner(w), ("over", w, y), ITEM_BYTES)

    def unfinished(self) -> bool:
        """Whether deleted rows have yet to be asked for."""
        return bool(self._gone)

    def resume(self) -> None:
        """Re-derive: what facts give comes back, for the rest others are asked."""
        for x, y in self._gone:
            if y in self.base[x]:
                self.row(x, y, self.me)
                continue
            for sender in self.senders[x]:
                self.post(sender, ("again", x, y, self.me), ITEM_BYTES)
        self._deleted.update(self._gone)
        self._gone.clear()

    def again(self, w: Vertex, y: Value, asker: int) -> None:
        """Send a deleted row if what was never deleted derives it; what came back was sent on."""
        if any(y in self.held[x] and (x, y) not in self._deleted for x in self.partners[w]):
            self.post(asker, ("row", w, y, self.me), ITEM_BYTES)

    def finish(self) -> None:
        """Forget empty parts, and who sent rows of vertices that have none."""
        super().finish()
        self._deleted.clear()
        for x in [x for x in self.senders if x not in self.held]:
            del self.senders[x]
        for w in [w for w, part in self.partners.items() if not part]:
            del self.partners[w]

    def state_bytes(self) -> int:
        """Weigh the edges' second index and the senders, too."""
        more = sum(map(len, self.partners.values())) * EDGE_BYTES
        more += sum(map(len, self.senders.values())) * VALUE_BYTES
        return super().state_bytes() + more


class RecomputePeer(SetPeer):
    """One node of recomputation: a deletion empties the view everywhere, and it is built anew."""

    def __init__(self, me: int, nodes: int, owner: Owner, exchange: Exchange, manager: Bdd) -> None:
        super().__init__(me, nodes, owner, exchange, manager)
        self.handlers["restart"] = self.restart
        self._stale = False

    def delete(self, fact: Fact, variable: int) -> None:
        """Hear that a fact holds no longer, and let all nodes start again."""
        super().delete(fact, variable)
        if not self._stale:
            self.restart()
            self.tell_all(("restart",), SIGN_BYTES)

    def restart(self) -> None:
        """Hear that what is here rests on a fact that is gone."""
        self._stale = True

    def unfinished(self) -> bool:
        """Whether the view is stale."""
        return self._stale

    def resume(self) -> None:
        """Build the view anew."""
        self._stale = False
        self.held.clear()
        for x, values in self.base.items():
            for y in values:
                self.post(self.me, ("row", x, y, self.me), ITEM_BYTES)
