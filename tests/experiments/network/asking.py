"""Asking: lazy MinShip between circuits, another is sent only when the receiver has none left.

    sent (w, y) dies      owed (w, y)                 nothing is sent: the row may well be alive
    row (w, y) falls      asks all who ever sent it   ask(w, y), with the facts that died
    owed and asked for    a short other, or gone      a short other, or nothing

Law:        a row is held iff it has a derivation from live facts; its annotation implies one. If
            a row is not held, none of its senders owes it: each was asked, has answered, and
            sends the next derivation that comes as a first one.
Algorithm:  own, after [LTZIL09] section V: "alternate derivations of a tuple will only be
            propagated when they affect downstream results"; the printed rule (`absorption.py`)
            sends them whenever the sent one died, though most receivers hold others. An ask names
            the deaths that caused it, so that no answer rests on them if it overtakes their news.
            Fixpoint, joins, derivations that wait and annotations are the product's (`hosted.py`).
State:      the circuit; by row the products that arrived, who sent one, what was sent, what is
            owed; the edges that cross, by target.
Receives:   row, edge, dead, ask.     Gives: row, ask.
Ends:       a row is asked for when it falls; it falls at most once per derivation received.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import Any

from aspen.model.schema import Row
from aspen.provenance.bdd import Bdd
from tests.experiments.network.bits import members
from tests.experiments.network.exchange import Exchange
from tests.experiments.network.fact import Fact, Value, Vertex
from tests.experiments.network.hosted import HUB, INPUTS, Hosted, Product
from tests.experiments.network.partition import Owner
from tests.experiments.network.peer import Peer
from tests.experiments.network.sizes import (
    COUNT_BYTES,
    EDGE_BYTES,
    ITEM_BYTES,
    ROW_BYTES,
    SIGN_BYTES,
    VALUE_BYTES,
    VARIABLE_BYTES,
)

Pair = tuple[Vertex, Value]

_ROW_BYTES_SENT = ITEM_BYTES + COUNT_BYTES


class AskingPeer(Peer):
    """One node of the lazy absorption strategy."""

    def __init__(self, me: int, nodes: int, owner: Owner, exchange: Exchange, manager: Bdd) -> None:
        del manager  # each node has its own, as each lane has
        super().__init__(me, nodes, owner, exchange)
        self.handlers.update(
            own=self.own, row=self.row, edge=self.edge, dead=self.dead, ask=self.ask
        )
        self.products: dict[str, dict[tuple[int, ...], Product]] = {
            name: {} for name in (*INPUTS, "sent")
        }
        self.sent = self.products["sent"]
        self.hosted = Hosted(self._product_of)
        self.arrived: defaultdict[Pair, dict[tuple[int, ...], Product]] = defaultdict(dict)
        self.senders: dict[Pair, int] = {}
        self.owed: set[tuple[int, ...]] = set()
        self.partners: defaultdict[Vertex, dict[Vertex, Product]] = defaultdict(dict)
        self.dead_bits = 0
        self._serial = count()
        self._dying = 0
        self._asked: list[Pair] = []
        self._missed: dict[Pair, None] = {}
        self._fresh: list[tuple[str, tuple[int, ...]]] = []
        self._mentioning: defaultdict[int, dict[tuple[str, tuple[int, ...]], None]] = defaultdict(
            dict
        )

    def insert(self, fact: Fact, variable: int) -> None:
        """Hears, as the fact's home, that it holds."""
        size = _ROW_BYTES_SENT + VARIABLE_BYTES
        for x, y in fact.rows:
            self.post(self.owner(x), ("own", x, y, 1 << variable), size)
        for w, x in fact.edges:
            self.post(self.owner(x), ("edge", w, x, 1 << variable), size)

    def delete(self, fact: Fact, variable: int) -> None:
        """Hears, as the fact's home, that it holds no longer; says so to everybody."""
        del fact
        self.tell_all(("dead", 1 << variable), SIGN_BYTES + VARIABLE_BYTES)
        self.dead(1 << variable)

    def own(self, x: Vertex, y: Value, fact: Product) -> None:
        """Takes in a row that a fact gives by itself."""
        self._come("own", (x, y), fact)

    def edge(self, w: Vertex, x: Vertex, fact: Product) -> None:
        """Takes in an edge from a vertex kept here."""
        if self.owner(w) == self.me:
            self._come("stays", (w, x), fact)
        else:
            self.partners[w][x] = fact
            self._come("crosses", (w, x), fact)

    def row(self, x: Vertex, y: Value, product: Product, sender: int) -> None:
        """Takes in a derivation, unless one that is here rests on fewer facts."""
        self.senders[x, y] = self.senders.get((x, y), 0) | 1 << sender
        if product & self.dead_bits:
            # It was on its way when the news of a death overtook it on another channel.
            self._missed[x, y] = None
            return
        known = self.arrived.get((x, y), {})
        rests = self.hosted.facts(x, y)
        shorter = [*known.values()] if rests is None else [rests, *known.values()]
        if any(other & product == other for other in shorter):
            return
        row = (HUB, x, y, sender, next(self._serial))
        self.arrived[x, y][row] = product
        self._come("arrived", row, product)

    def dead(self, facts: Product) -> None:
        """Hears that facts hold no longer."""
        self._dying |= facts & ~self.dead_bits
        self.dead_bits |= facts

    def ask(self, w: Vertex, y: Value, deaths: Product) -> None:
        """Hears that the receiver of (w, y) has no derivation left."""
        self.dead(deaths)
        self._asked.append((w, y))

    def settle(self) -> None:
        """Runs an epoch: lets the dead die, sends what leaves, asks, and answers who asked."""
        dying, self._dying = self._dying, 0
        if dying:
            self._bury(dying)
        held, leaving = self.hosted.step(dying)
        for (x, y), weight in held:
            if weight < 0:
                self._missed[x, y] = None
        missed, self._missed = self._missed, {}
        for x, y in missed:
            if self.hosted.facts(x, y) is None:
                self._ask(x, y)
        for (w, y), weight in leaving:
            if weight > 0:
                self._send(w, y)
        asked, self._asked = self._asked, []
        for pair in asked:
            if pair in self.owed:
                self.owed.remove(pair)
                self._send(*pair)

    def _come(self, relation: str, row: tuple[int, ...], product: Product) -> None:
        self._rest(relation, row, product)
        self.hosted.change(relation, row, 1)

    def _rest(self, table: str, row: tuple[int, ...], product: Product) -> None:
        """Notes on which facts something rests."""
        self.products[table][row] = product
        self._fresh.append((table, row))

    def _product_of(self, relation: str, row: Row) -> Product:
        return self.products[relation].get(row, 0)  # type: ignore[arg-type]  # rows of numbers

    def _bury(self, dying: Product) -> None:
        """Takes back the input rows that rest on dead facts; owes what was sent of them."""
        for entry in self._fresh:
            for fact in members(self.products[entry[0]].get(entry[1], 0)):
                self._mentioning[fact][entry] = None
        self._fresh.clear()
        for fact in members(dying):
            for table, row in self._mentioning.pop(fact, ()):
                if self.products[table].get(row, 0) & dying:
                    del self.products[table][row]
                    self._fell(table, row)

    def _fell(self, table: str, row: tuple[int, ...]) -> None:
        if table == "sent":
            self.owed.add(row)
            return
        self.hosted.change(table, row, -1)
        if table == "arrived":
            _drop(self.arrived, (row[1], row[2]), row)
        elif table == "crosses":
            _drop(self.partners, row[0], row[1])

    def _send(self, w: Vertex, y: Value) -> None:
        """Sends the shortest derivation of a row, unless one was sent or would be asked for."""
        pair = (w, y)
        if pair in self.sent or pair in self.owed:
            return
        found = [
            product | edge
            for x, edge in self.partners.get(w, {}).items()
            if (product := self.hosted.facts(x, y)) is not None
        ]
        if found:
            product = min(found, key=int.bit_count)
            self._rest("sent", pair, product)
            size = _ROW_BYTES_SENT + VARIABLE_BYTES * product.bit_count()
            self.post(self.owner(w), ("row", w, y, product, self.me), size)

    def _ask(self, x: Vertex, y: Value) -> None:
        deaths = self.dead_bits
        size = ITEM_BYTES + COUNT_BYTES + VARIABLE_BYTES * deaths.bit_count()
        for sender in members(self.senders.pop((x, y), 0)):
            self.post(sender, ("ask", x, y, deaths), size)

    def resume(self) -> None:
        """Begins a further phase: there is none."""

    def finish(self) -> None:
        """Forgets the dead, whose variables may be used anew."""
        self.dead_bits = 0

    def rows(self) -> list[Pair]:
        """Returns the view's rows kept here."""
        return self.hosted.rows()

    @property
    def held(self) -> dict[Vertex, dict[Value, tuple[Product, ...]]]:
        """The products of each row: the one it rests on first, then what arrived and waits."""
        found: dict[Vertex, dict[Value, tuple[Product, ...]]] = {}
        for x, y in self.rows():
            rests = self.hosted.facts(x, y) or 0
            waiting = self.arrived.get((x, y), {}).values()
            found.setdefault(x, {})[y] = tuple(dict.fromkeys((rests, *waiting)))
        return found

    def provenance_bytes(self) -> int:
        """Weighs the annotations of the view's rows kept here, and of what arrived and waits."""
        held = self.hosted.support.held.values()
        products = sum(one.bit_count() for one in self.products["arrived"].values())
        known = sum(len(annotation.support) for annotation in held) + products
        entries = len(self.hosted.rows()) + len(self.products["arrived"])
        return entries * COUNT_BYTES + known * VARIABLE_BYTES

    def state_bytes(self) -> int:
        """Weighs rows, what arrived, senders, what was sent, what is owed, and the edges."""
        edges = len(self.products["stays"]) + 2 * len(self.products["crosses"])
        return (
            self.provenance_bytes()
            + (len(self.hosted.rows()) + len(self.products["arrived"])) * ROW_BYTES
            + len(self.products["own"]) * (ROW_BYTES + VARIABLE_BYTES)
            + len(self.senders) * VALUE_BYTES
            + len(self.sent) * (ROW_BYTES + COUNT_BYTES)
            + sum(map(int.bit_count, self.sent.values())) * VARIABLE_BYTES
            + len(self.owed) * ROW_BYTES
            + edges * (EDGE_BYTES + VARIABLE_BYTES)
        )


def _drop(table: dict[Any, dict[Any, Any]], key: Any, part: Any) -> None:
    """Drops an entry of a table of tables, and the table if it is the last one."""
    del table[key][part]
    if not table[key]:
        del table[key]
