"""Agenda: what is pending in a recursion, and what one epoch has to remember.

    rows     of a set: taken first come, first served; a settled row stays
             of a best: taken best first, one heap per kind of cost, so that costs that only grow
             settle each group once (Dijkstra)

Law:        the order in which pending rows are taken does not show in the settled rows.
Algorithm:  own: a queue for sets; for bests Dijkstra's, one heap per kind of cost.
State:      pending derivations; groups that lost one.
Receives:   proposals.     Gives: the next one.
Ends:       when nothing is pending.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from itertools import count
from typing import Any

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.support.support import Support

Entry = tuple[Any, int, int, Group, Source, Row]
"""(rank, number, choice, group, source, row): a candidate of a group."""


class Agenda:
    """See the module's head.

    Proposals: `first` holds (group, source, row); `heaps` entries by rank.
    Groups: `emptied` have no derivation left; `orphans` lost, while rows settle, the derivation
    they rest on; `doubtful` lost it while rows were buried, and the support let them stay.
    """

    def __init__(self, support: Support) -> None:
        self.support = support
        self.first: deque[tuple[Group, Source, Row]] = deque()
        self.heaps: list[list[Entry]] = []
        self.number = count()
        self.emptied: dict[Group, None] = {}
        self.orphans: list[Group] = []
        self.doubtful: list[Group] = []
        self.burying = False
        self.watching = False
        self._heap_of: dict[Hashable, list[Entry]] = {}

    def heap(self, kind: Hashable) -> list[Entry]:
        """Returns the heap for ranks of one kind, which must compare with each other."""
        self.watching = True
        known = self._heap_of.get(kind)
        if known is None:
            known = self._heap_of[kind] = []
            self.heaps.append(known)
        return known

    def next_heap(self) -> list[Entry] | None:
        """Returns a heap that holds something."""
        return next(filter(None, self.heaps), None)

    def clear(self) -> None:
        """Forget what is pending."""
        self.first.clear()
        for heap in self.heaps:
            heap.clear()
        self.emptied.clear()
        self.orphans.clear()
        self.doubtful.clear()
