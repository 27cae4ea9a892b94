"""Asking: lazy MinShip taken to its end, another is sent only when the receiver has none left.

    sent[w, y] dies       owed[w, y]                  nothing is sent: the row may well be alive
    row(w, y) dies        asks all who ever sent it   ask(w, y), with the facts that died
    owed and asked for    a short other, or gone      a short other, or nothing

Law:        a row is held iff it has a derivation from live facts; its annotation implies one. If
            a row is not held, none of its senders owes it: each was asked, has answered, and
            sends the next derivation that comes as a first one.
Algorithm:  own, after [LTZIL09] section V: "alternate derivations of a tuple will only be
            propagated when they affect downstream results"; the printed rule (`absorption.py`)
            sends them whenever the sent one died, though most receivers hold others. An ask names
            the deaths that caused it, so that no answer rests on them if it overtakes their news.
            All that is sent is one product of variables, so an annotation is at most one product
            per sender, and section IV-A's plain form, a sum of products under absorption, is
            smaller and faster here than its diagram (`absorption.py`).
State:      held: (x, y) -> products; senders: (x, y) -> nodes; sent: (w, y) -> product; owed: w
            -> values; edges by x and by w; which rows have ever mentioned a variable.
Receives:   row, edge, dead, ask.     Gives: row, ask.
Ends:       a row is asked for when it falls; it falls at most once per derivation received.
"""

from __future__ import annotations

from collections import defaultdict

from aspen.provenance.manager import Manager
from tests.experiments.network.bits import members
from tests.experiments.network.exchange import Exchange
from tests.experiments.network.fact import Fact, Place, Value
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

Product = int
"""Variables, as bits: the facts that one derivation rests on."""

OUTSIDE = -1
"""In place of a sender: the row is a fact's own."""

_ROW_BYTES_SENT = ITEM_BYTES + COUNT_BYTES


class AskingPeer(Peer):
    """One node of the lazy absorption strategy."""

    def __init__(
        self, me: int, nodes: int, owner: Owner, exchange: Exchange, manager: Manager
    ) -> None:
        del manager
        super().__init__(me, nodes, owner, exchange)
        self.handlers.update(row=self.row, edge=self.edge, dead=self.dead, ask=self.ask)
        self.held: defaultdict[Place, dict[Value, tuple[Product, ...]]] = defaultdict(dict)
        self.senders: defaultdict[Place, dict[Value, int]] = defaultdict(dict)
        self.sent: defaultdict[Place, dict[Value, Product]] = defaultdict(dict)
        self.owed: defaultdict[Place, set[Value]] = defaultdict(set)
        self.edges: defaultdict[Place, dict[Place, Product]] = defaultdict(dict)
        self.partners: defaultdict[Place, dict[Place, Product]] = defaultdict(dict)
        self.dead_bits = 0
        self._dying = 0
        self._asked: list[tuple[Place, Value]] = []
        self._fresh: list[tuple[Place, Value, Product]] = []
        self._mentioning: defaultdict[int, dict[tuple[Place, Value], None]] = defaultdict(dict)

    def insert(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds."""
        size = _ROW_BYTES_SENT + VARIABLE_BYTES
        for x, y in fact.rows:
            self.post(self.owner(x), ("row", x, y, 1 << variable, OUTSIDE), size)
        for w, x in fact.edges:
            self.post(self.owner(x), ("edge", w, x, 1 << variable), size)

    def delete(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds no longer: set its variable false everywhere."""
        del fact
        self.tell_all(("dead", 1 << variable), SIGN_BYTES + VARIABLE_BYTES)
        self.dead(1 << variable)

    def row(self, x: Place, y: Value, product: Product, sender: int) -> None:
        """Fixpoint: take in a derivation; pass a row on that is new."""
        held = self.held[x]
        old = held.get(y)
        if sender != OUTSIDE:
            senders = self.senders[x]
            senders[y] = senders.get(y, 0) | 1 << sender
        if product & self.dead_bits:
            # It was on its way when the news of a death overtook it on another channel.
            if old is None:
                self._ask(x, y)
            return
        if old is None:
            held[y] = (product,)
            for w, edge in self.edges[x].items():
                self._derive(w, y, product | edge)
        else:
            for known in old:
                if known & product == known:
                    return
            held[y] = (*[known for known in old if known & product != product], product)
        self._fresh.append((x, y, product))

    def edge(self, w: Place, x: Place, edge: Product) -> None:
        """Join: take in an edge, and join it with the rows that are here."""
        self.edges[x][w] = self.partners[w][x] = edge
        for y, products in self.held[x].items():
            self._derive(w, y, products[0] | edge)

    def _derive(self, w: Place, y: Value, product: Product) -> None:
        """MinShip: send a first derivation on, unless the receiver would ask for it."""
        sent = self.sent[w]
        if y not in sent and not (w in self.owed and y in self.owed[w]):
            sent[y] = product
            size = _ROW_BYTES_SENT + VARIABLE_BYTES * product.bit_count()
            self.post(self.owner(w), ("row", w, y, product, self.me), size)

    def dead(self, variables: int) -> None:
        """Hear that facts hold no longer."""
        self._dying |= variables & ~self.dead_bits
        self.dead_bits |= variables

    def ask(self, w: Place, y: Value, deaths: int) -> None:
        """Hear that the receiver of (w, y) has no derivation left."""
        self.dead(deaths)
        self._asked.append((w, y))

    def settle(self) -> None:
        """Let the dead die, then answer who asked."""
        if self._dying:
            dying, self._dying = self._dying, 0
            self._index()
            self._bury(dying)
        asked, self._asked = self._asked, []
        for w, y in asked:
            if y in self.owed[w]:
                self.owed[w].remove(y)
                self._release(w, y)

    def _index(self) -> None:
        """Note which variables the products taken in since the last deletion mention."""
        mentioning = self._mentioning
        for x, y, product in self._fresh:
            key = (x, y)
            for variable in members(product):
                mentioning[variable][key] = None
        self._fresh.clear()

    def _bury(self, dying: int) -> None:
        """Drop products that died; owe what was sent of them; ask for rows that have none left."""
        for w, partners in self.partners.items():
            for x in [x for x, edge in partners.items() if edge & dying]:
                del partners[x]
                del self.edges[x][w]
                for y in [y for y, product in self.sent[w].items() if product & dying]:
                    self._owe(w, y)
        touched: dict[tuple[Place, Value], None] = {}
        for variable in members(dying):
            touched.update(self._mentioning.pop(variable, {}))
        for x, y in touched:
            for w in self.edges[x]:
                # Also a derivation of a product that a shorter one has absorbed since.
                if self.sent[w].get(y, 0) & dying:
                    self._owe(w, y)
            old = self.held[x].get(y)
            if old is None:
                continue
            alive = tuple([product for product in old if not product & dying])
            if alive:
                self.held[x][y] = alive
            else:
                del self.held[x][y]
                self._ask(x, y)

    def _owe(self, w: Place, y: Value) -> None:
        del self.sent[w][y]
        self.owed[w].add(y)

    def _ask(self, x: Place, y: Value) -> None:
        deaths = self.dead_bits
        size = ITEM_BYTES + COUNT_BYTES + VARIABLE_BYTES * deaths.bit_count()
        for sender in members(self.senders[x].pop(y, 0)):
            self.post(sender, ("ask", x, y, deaths), size)

    def _release(self, w: Place, y: Value) -> None:
        """Send the shortest derivation of a row, if there is one."""
        found = [
            product | edge
            for x, edge in self.partners.get(w, {}).items()
            for product in self.held.get(x, {}).get(y, ())
        ]
        if found:
            self._derive(w, y, min(found, key=int.bit_count))

    def resume(self) -> None:
        """Begin a further phase: there is none."""

    def finish(self) -> None:
        """Forget the dead, whose variables may be used anew, and empty parts."""
        self.dead_bits = 0
        tables = (self.held, self.senders, self.sent, self.owed, self.edges, self.partners)
        for table in tables:
            drop_empty(table)
        if not self.held and not self.sent:
            self._fresh.clear()

    def rows(self) -> list[tuple[Place, Value]]:
        """Returns the view's rows kept here."""
        return [(x, y) for x, held in self.held.items() for y in held]

    def provenance_bytes(self) -> int:
        """Weigh the annotations of the view's rows kept here."""
        return sum(
            COUNT_BYTES + VARIABLE_BYTES * product.bit_count()
            for held in self.held.values()
            for products in held.values()
            for product in products
        )

    def state_bytes(self) -> int:
        """Weigh rows, senders, what was sent, what is owed, and both indexes of the edges."""
        sent = [product for part in self.sent.values() for product in part.values()]
        edges = sum(len(part) for t in (self.edges, self.partners) for part in t.values())
        return (
            sum(map(len, self.held.values())) * ROW_BYTES
            + self.provenance_bytes()
            + sum(map(len, self.senders.values())) * VALUE_BYTES
            + len(sent) * (ROW_BYTES + COUNT_BYTES)
            + sum(map(int.bit_count, sent)) * VARIABLE_BYTES
            + sum(map(len, self.owed.values())) * ROW_BYTES
            + edges * (EDGE_BYTES + VARIABLE_BYTES)
        )
