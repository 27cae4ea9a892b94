"""Asking: lazy MinShip taken to its end, another is sent only when the receiver has none left.

    sent[w, y] dies       owed[w, y]                  nothing is sent: the row may well be alive
    row(w, y) dies        asks all who ever sent it   ask(w, y), with the facts that died
    owed and asked for    = a short other, or gone    a short other, or nothing

Law:        as AbsorptionPeer. If a row is not held, none of its senders owes it: each was asked,
            has answered, and sends the next derivation that comes as a first one.
Algorithm:  own, after [LTZIL09] section V: "alternate derivations of a tuple will only be
            propagated when they affect downstream results"; the printed rule (`absorption.py`)
            sends them whenever the sent one died, though most receivers hold others. An ask names
            the deaths that caused it, so that no answer rests on them if it overtakes their news.
            The answer is one product, not the sum of all: on 100 nodes and 400 links, 250
            deletions cost 7.4 instead of 16.9 kB each, for 9 % more answers.
State:      as AbsorptionPeer, and: senders: (x, y) -> nodes, as bits; owed: w -> values.
Receives:   row, edge, dead, ask.     Gives: row, ask.
Ends:       a row is asked for when it falls; it falls at most once per derivation received.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from aspen.provenance.manager import Manager
from aspen.runtime.network.absorption import (
    OUTSIDE,
    AbsorptionPeer,
    Annotation,
    Edge,
    Key,
    drop_empty,
)
from aspen.runtime.network.exchange import Exchange
from aspen.runtime.network.fact import Place, Value
from aspen.runtime.network.partition import Owner
from aspen.runtime.network.sizes import ITEM_BYTES, ROW_BYTES, VALUE_BYTES, VARIABLE_BYTES


class AskingPeer(AbsorptionPeer):
    """One node of the lazy absorption strategy."""

    def __init__(
        self, me: int, nodes: int, owner: Owner, exchange: Exchange, manager: Manager
    ) -> None:
        super().__init__(me, nodes, owner, exchange, manager, interval_s=None)
        self.handlers["ask"] = self.ask
        self.senders: defaultdict[Place, dict[Value, int]] = defaultdict(dict)
        self.owed: defaultdict[Place, set[Value]] = defaultdict(set)
        self._asked: list[tuple[Place, Value]] = []

    def row(self, x: Place, y: Value, news: Annotation, sender: int) -> None:
        """Fixpoint: take in a derivation, and note who may have others."""
        if sender != OUTSIDE:
            senders = self.senders[x]
            senders[y] = senders.get(y, 0) | 1 << sender
        super().row(x, y, news, sender)
        if y not in self.held[x]:
            self._ask(x, y)

    def _derive(self, w: Place, y: Value, held: Annotation, edge: Edge) -> None:
        """MinShip: send a first derivation on, unless the receiver would ask for it."""
        if y not in self.sent[w] and y not in self.owed[w]:
            super()._derive(w, y, held, edge)

    def replace(self, held: list[Key], sent: list[Key]) -> None:
        """Owe what was sent and fell; ask for what was held and fell; answer who asked."""
        for _, w, y in sent:
            self.owed[w].add(y)
        for _, x, y in held:
            self._ask(x, y)

    def _ask(self, x: Place, y: Value) -> None:
        senders = self.senders[x].pop(y, 0)
        deaths = self.dead_bits
        size = ITEM_BYTES + VARIABLE_BYTES * deaths.bit_count()
        while senders:
            low = senders & -senders
            self.post(low.bit_length() - 1, ("ask", x, y, deaths), size)
            senders ^= low

    def ask(self, w: Place, y: Value, deaths: int) -> None:
        """Hear that the receiver of (w, y) has no derivation left."""
        self.dead(deaths)
        self._asked.append((w, y))

    def settle(self) -> None:
        """Let the dead die, then answer who asked."""
        super().settle()
        asked, self._asked = self._asked, []
        for w, y in asked:
            if y in self.owed[w]:
                self.owed[w].remove(y)
                self.release(w, y)

    def release(self, w: Place, y: Value) -> None:
        """Send a short derivation of a row of which none that was sent is alive."""
        shortest: Annotation | None = None
        for x, (literal, bit) in self.partners.get(w, {}).items():
            held = self.held.get(x, {}).get(y)
            if held is not None:
                function, bits, _ = held if held[2] else self._product(held[0])
                if shortest is None or (bits | bit).bit_count() < shortest[1].bit_count():
                    shortest = (function & literal, bits | bit, True)
        if shortest is not None:
            self.sent[w][y] = shortest
            self._ship(w, y, shortest)

    def _product(self, function: Any) -> Annotation:
        """Give one product that implies a function, taking no variable it can do without."""
        manager = self.manager
        product, bits = manager.true, 0
        while function != manager.true:
            variable, low, high = manager.branches(function)
            if low != manager.false:
                function = low
                continue
            product, bits = (
                manager.conjoin(product, manager.literal(variable)),
                bits | 1 << variable,
            )
            function = high
        return product, bits, True

    def finish(self) -> None:
        """Forget the dead and empty parts."""
        super().finish()
        drop_empty(self.senders)
        drop_empty(self.owed)

    def state_bytes(self) -> int:
        """Weigh the senders and what is owed, too."""
        senders = sum(map(len, self.senders.values())) * VALUE_BYTES
        return super().state_bytes() + senders + sum(map(len, self.owed.values())) * ROW_BYTES
