"""BestRelation: a relation of a recursion under MIN or MAX; per key the best candidate settles.

    offer      k: 7     k: 5      withdraw  k: 5
    settled    k: 7     k: 5                k: 7       the beaten candidate waited

Law:        per group the settled row is the least by (cost, spelling) of all candidates.
Algorithm:  [LTZIL09] Alg. 4 (AggSel) over the group's MinShip buffer.
State:      key -> Group, with all candidates.
Receives:   derivations, withdrawals.     Gives: proposals by rank.
Ends:       a group settles again only for a strictly better row.
"""

from __future__ import annotations

from heapq import heappush

from aspen.model.schema import Row
from aspen.views.node import Key
from aspen.views.operators.agenda import Agenda, Entry
from aspen.views.operators.agg_sel import Selection
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.relation import RecursiveRelation


class BestRelation(RecursiveRelation):
    """See the module's head."""

    def __init__(self, name: str, choose: Selection) -> None:
        super().__init__(name)
        self._choose = choose
        self.rank = choose.rank
        self._heap: list[Entry] = []

    def join(self, agenda: Agenda) -> None:
        """Take the heap for costs of this kind."""
        super().join(agenda)
        self._heap = agenda.heap(self._choose.kind)

    def key(self, row: Row) -> Key:
        """Returns the group of a row."""
        return self._choose.key(row)

    def offer(self, source: Source, row: Row) -> None:
        """Take a candidate into its group's buffer; propose it if it would go on."""
        choose = self._choose
        if row[choose.cost] is None:
            return
        key = choose.key(row)
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(key, self)
        group.waiting[source] = row
        agenda = self.agenda
        if agenda.support.wants_offers:
            agenda.support.offered(group, source)
        rank = choose.rank(row)
        if group.best is None or rank < choose.rank(group.best):
            heappush(self._heap, (rank, next(agenda.number), 0, group, source, row))

    def propose(self, group: Group) -> None:
        """Propose all candidates of a retracted group."""
        for source, row in group.waiting.items():
            rank = self._choose.rank(row)
            heappush(self._heap, (rank, next(self.agenda.number), 0, group, source, row))

    def improves(self, group: Group, row: Row) -> bool:
        """Whether a candidate beats the row its group settled with."""
        return bool(group.best is None or self.rank(row) < self.rank(group.best))

    def stands(self, group: Group) -> bool:
        """Whether what the group rests on gives no worse rows by now: a better one is pending."""
        now = None if group.via is None else group.waiting.get(group.via)
        return self.no_worse(now, group.best) and super().stands(group)

    def no_worse(self, row: Row | None, than: Row | None) -> bool:
        """Whether a derivation still gives a row, and no worse one than it did."""
        if row is None or than is None:
            return False
        return not self.rank(than) < self.rank(row)
