"""Absorption: Fixpoint, PipelinedHashJoin and MinShip of one node, with Boolean annotations.

    row(x, y) ∧ edge(w, x)      sent[w, y]     what the owner of w gets
    ─────────────────────────   ───────────    ─────────────────────────────────────
    first derivation            = it           it
    a further one               unchanged      nothing (lazy), it at the next flush (eager)
    a fact dies, sent ≠ false   restricted     nothing: the owner of w restricts by itself
    a fact dies, sent = false   = all others   all others (`asking.py`: only if it asks)

Law:        a row is held iff it has a derivation from live facts; its annotation implies one.
Algorithm:  [LTZIL09] Alg. 1, 2 and section V. Fixpoint and the join's row side have the same
            partition and would hold the same table; here they share it. The lazy MinShip buffers
            nothing: what it would have buffered for (w, y) is the sum of row(x, y) ∧ edge(w, x)
            over its x, and these stand in the join's tables, so it is built when it is needed.
            A row's news is the new derivation itself, not `new ∧ ¬old` as printed in Alg. 1: the
            sums are equal, and functions stay monotone (Fig. 2 shows the new derivation, too).
State:      held: (x, y) -> annotation; sent: (w, y) -> annotation; edges by x and by w.
Receives:   row, edge, dead.     Gives: row.
Ends:       an annotation is sent again only if it is not implied by what was sent.
"""

from __future__ import annotations

from collections import defaultdict
from math import floor
from typing import Any

from aspen.provenance.bdd import Bdd
from tests.experiments.network.bits import members
from tests.experiments.network.exchange import Exchange
from tests.experiments.network.fact import Fact, Value, Vertex
from tests.experiments.network.partition import Owner
from tests.experiments.network.peer import Peer, drop_empty
from tests.experiments.network.sizes import (
    BDD_NODE_BYTES,
    EDGE_BYTES,
    ITEM_BYTES,
    ROW_BYTES,
    SIGN_BYTES,
    VARIABLE_BYTES,
)

Annotation = tuple[Any, int, bool]
"""A function; as bits, variables that include all it mentions; whether it is a mere product (then
the bits are exact, and one death makes it false without asking CUDD)."""

HELD, SENT, BUFFERED = range(3)

Key = tuple[int, Vertex, Value]
"""(HELD, SENT or BUFFERED, vertex, value): where an annotation stands."""

OUTSIDE = -1
"""Instead of a sender: the row is a fact's own."""

Edge = tuple[Any, int]
"""The literal of an edge's fact, and its bit."""

Table = defaultdict[Vertex, dict[Value, Annotation]]


class AbsorptionPeer(Peer):
    """One node of the absorption strategies.

    Args:
        manager: of the functions. The simulation has one for all nodes; a real node has its own
            and reads dumps, which is what messages are charged for.
        interval_s: between two flushes of further derivations; None is lazy, 0 sends each at
            once (Ship instead of MinShip).
    """

    diagrams = True

    def __init__(
        self,
        me: int,
        nodes: int,
        owner: Owner,
        exchange: Exchange,
        manager: Bdd,
        interval_s: float | None,
    ) -> None:
        super().__init__(me, nodes, owner, exchange)
        self.handlers.update(row=self.row, edge=self.edge, dead=self.dead, flush=self.flush)
        self.manager = manager
        self.interval_s = interval_s
        self.held: Table = defaultdict(dict)
        self.sent: Table = defaultdict(dict)
        self.buffered: Table = defaultdict(dict)
        self.tables = (self.held, self.sent, self.buffered)
        self.edges: defaultdict[Vertex, dict[Vertex, Edge]] = defaultdict(dict)
        self.partners: defaultdict[Vertex, dict[Vertex, Edge]] = defaultdict(dict)
        self.dead_bits = 0
        self._dying = 0
        self._fresh: dict[Key, None] = {}
        self._mentioning: defaultdict[int, dict[Key, None]] = defaultdict(dict)
        self._flush_at_s = -1.0

    def insert(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds."""
        literal, bits = self.manager.literal(variable), 1 << variable
        size = ITEM_BYTES + VARIABLE_BYTES
        for vertex, value in fact.rows:
            item = ("row", vertex, value, (literal, bits, True), OUTSIDE)
            self.post(self.owner(vertex), item, size)
        for target, source in fact.edges:
            self.post(self.owner(source), ("edge", target, source, literal, bits), size)

    def delete(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds no longer: set its variable false everywhere."""
        del fact
        self.tell_all(("dead", 1 << variable), SIGN_BYTES + VARIABLE_BYTES)
        self.dead(1 << variable)

    def row(self, x: Vertex, y: Value, news: Annotation, sender: int) -> None:
        """Fixpoint: take in a derivation; pass it on if it says anything new."""
        del sender
        if news[1] & self.dead_bits:
            # It was on its way when the news of a death overtook it on another channel.
            alive = self._alive(news, self.dead_bits)
            if alive is None:
                return
            news = alive
        held = self.held[x]
        old = held.get(y)
        if old is None:
            held[y] = news
            self._fresh[HELD, x, y] = None
        else:
            both = old[0] | news[0]
            if both == old[0]:
                return
            held[y] = (both, old[1] | news[1], False)
            self._fresh[HELD, x, y] = None
            if self.interval_s is None:
                return
        for w, edge in self.edges[x].items():
            self._derive(w, y, news, edge)

    def edge(self, w: Vertex, x: Vertex, literal: Any, bit: int) -> None:
        """Join: take in an edge, and join it with the rows that are here."""
        edge = self.edges[x][w] = self.partners[w][x] = (literal, bit)
        for y, held in self.held[x].items():
            self._derive(w, y, held, edge)

    def _derive(self, w: Vertex, y: Value, held: Annotation, edge: Edge) -> None:
        """MinShip: send a first derivation on; a further one waits."""
        sent = self.sent[w]
        old = sent.get(y)
        if old is None:
            sent[y] = derived = (held[0] & edge[0], held[1] | edge[1], held[2])
            self._ship(w, y, derived)
        elif self.interval_s == 0:
            derived = (held[0] & edge[0], held[1] | edge[1], held[2])
            sent[y] = _either(old, derived)
            self._ship(w, y, derived)
        elif self.interval_s is not None:
            derived = (held[0] & edge[0], held[1] | edge[1], held[2])
            waiting = self.buffered[w].get(y)
            self._fresh[BUFFERED, w, y] = None
            self.buffered[w][y] = derived if waiting is None else _either(waiting, derived)

    def _ship(self, w: Vertex, y: Value, derived: Annotation) -> None:
        self._fresh[SENT, w, y] = None
        size = ITEM_BYTES + self._weight(derived)
        self.post(self.owner(w), ("row", w, y, derived, self.me), size)

    def dead(self, variables: int) -> None:
        """Hear that facts hold no longer."""
        self._dying |= variables & ~self.dead_bits
        self.dead_bits |= variables

    def settle(self) -> None:
        """Restrict what mentions dead variables, then replace what fell."""
        if self._dying:
            dying, self._dying = self._dying, 0
            for table in (self.edges, self.partners):
                _drop_edges(table, dying)
            self.replace(*self._restrict(dying))
        if self.buffered and self._flush_at_s < self.exchange.now_s:
            assert self.interval_s is not None
            ticks = floor(self.exchange.now_s / self.interval_s + 1e-9) + 1
            self._flush_at_s = ticks * self.interval_s
            self.exchange.tell(self.me, [("flush",)], self._flush_at_s)

    def replace(self, held: list[Key], sent: list[Key]) -> None:
        """Do what follows from the fall of rows held here and of derivations sent.

        As printed: where the sent one died, everything that waits is sent.
        """
        del held
        for _, w, y in sent:
            self.release(w, y)

    def release(self, w: Vertex, y: Value) -> None:
        """Send all derivations of a row of which none that was sent is alive."""
        total: Annotation | None = None
        for x, edge in self.partners.get(w, {}).items():
            held = self.held.get(x, {}).get(y)
            if held is not None:
                derived = (held[0] & edge[0], held[1] | edge[1], held[2])
                total = derived if total is None else _either(total, derived)
        if total is not None:
            self.buffered.get(w, {}).pop(y, None)
            self.sent[w][y] = total
            self._ship(w, y, total)

    def flush(self) -> None:
        """Send what waits, unless what was sent implies it."""
        for w, waiting in self.buffered.items():
            sent = self.sent[w]
            for y, further in waiting.items():
                old = sent[y]
                both = _either(old, further)
                if both[0] != old[0]:
                    sent[y] = both
                    self._ship(w, y, further)
        self.buffered.clear()

    def _restrict(self, dying: int) -> tuple[list[Key], list[Key]]:
        """Set variables false everywhere; give the rows held and the rows sent that fell."""
        self._index()
        fallen: list[Key] = []
        for variable in members(dying):
            for key in self._mentioning.pop(variable, ()):
                table, x, y = key
                part = self.tables[table].get(x)
                found = None if part is None else part.get(y)
                if part is None or found is None or not found[1] & dying:
                    continue
                alive = self._alive(found, dying)
                if alive is not None:
                    part[y] = alive
                    continue
                del part[y]
                fallen.append(key)
        return [k for k in fallen if k[0] == HELD], [k for k in fallen if k[0] == SENT]

    def _index(self) -> None:
        """Note which variables the annotations stored since the last deletion mention."""
        mentioning, tables = self._mentioning, self.tables
        for key in self._fresh:
            found = tables[key[0]].get(key[1], {}).get(key[2])
            if found is not None:
                for variable in members(found[1]):
                    mentioning[variable][key] = None
        self._fresh.clear()

    def _alive(self, annotation: Annotation, dying: int) -> Annotation | None:
        """Set variables false in an annotation that may mention them; None where it falls."""
        function, bits, product = annotation
        if product:
            return None
        left = self.manager.without(function, members(bits & dying))
        return None if left == self.manager.false else (left, bits & ~dying, False)

    def finish(self) -> None:
        """Forget the dead: their variables may be used anew."""
        self.dead_bits = 0
        for table in (self.held, self.sent, self.buffered, self.edges, self.partners):
            drop_empty(table)

    def resume(self) -> None:
        """Begin a further phase: there is none."""

    def rows(self) -> list[tuple[Vertex, Value]]:
        """Returns the view's rows kept here."""
        return [(x, y) for x, annotations in self.held.items() for y in annotations]

    def provenance_bytes(self) -> int:
        """Weigh the annotations of the view's rows kept here."""
        return self._weigh(self.held)

    def shared_provenance_bytes(self) -> int:
        """Weigh the decision nodes of the view's rows kept here, each node once."""
        manager = self.manager
        met = {manager.true, manager.false}
        waiting = [found[0] for part in self.held.values() for found in part.values()]
        while waiting:
            function = waiting.pop()
            if function not in met:
                met.add(function)
                waiting += manager.branches(function)[1:]
        return BDD_NODE_BYTES * (len(met) - 2)

    def state_bytes(self) -> int:
        """Weigh rows, what was sent, what waits, and both indexes of the edges."""
        entries = sum(len(part) for table in self.tables for part in table.values())
        edges = sum(len(part) for t in (self.edges, self.partners) for part in t.values())
        return (
            entries * ROW_BYTES
            + sum(map(self._weigh, self.tables))
            + edges * (EDGE_BYTES + VARIABLE_BYTES)
        )

    def _weigh(self, table: Table) -> int:
        return sum(self._weight(found) for part in table.values() for found in part.values())

    def _weight(self, annotation: Annotation) -> int:
        """Weigh an annotation: a product is dumped as its variables, all else as a diagram."""
        function, bits, product = annotation
        if product:
            return VARIABLE_BYTES * bits.bit_count()
        return BDD_NODE_BYTES * self.manager.size(function)


def _either(one: Annotation, other: Annotation) -> Annotation:
    """Returns the sum of two annotations."""
    return (one[0] | other[0], one[1] | other[1], False)


def _drop_edges(table: dict[Vertex, dict[Vertex, Edge]], dying: int) -> None:
    for part in table.values():
        for other in [other for other, (_, bit) in part.items() if bit & dying]:
            del part[other]
    drop_empty(table)
