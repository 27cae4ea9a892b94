"""Lifetimes: rows of tables declared with a TTL leave when log time has passed it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush

from aspen.model.schema import Relation, Row
from aspen.views.operators.window import Arrival


class Lifetimes:
    """When rows of tables came, and which must go.

    Law: a row that came at t is there until the first tick at or after t + ttl, unless it was
    deleted before; of equal rows, the oldest is deleted first.
    """

    def __init__(self) -> None:
        self._born: dict[str, dict[Row, deque[float]]] = {}
        self._due: list[tuple[float, int, str, Row]] = []
        self._count = 0

    def change(self, relation: Relation, at_s: float, row: Row, weight: int) -> None:
        """Note that a row came or went."""
        if not relation.ttl_s:
            return
        times = self._born.setdefault(relation.name, {}).setdefault(row, deque())
        for _ in range(weight):
            self._count += 1
            times.append(at_s)
            heappush(self._due, (at_s + relation.ttl_s, self._count, relation.name, row))
        for _ in range(min(-weight, len(times))):
            times.popleft()
        if not times:
            del self._born[relation.name][row]

    def expire(self, now_s: float, relations: dict[str, Relation]) -> Iterator[tuple[str, Row]]:
        """Returns the rows whose time is over, and forget them."""
        while self._due and self._due[0][0] <= now_s:
            _, _, name, row = heappop(self._due)
            times = self._born.get(name, {}).get(row)
            relation = relations.get(name)
            # What was deleted meanwhile, or came again since, has no part in this.
            if times and relation is not None and times[0] + relation.ttl_s <= now_s:
                times.popleft()
                if not times:
                    del self._born[name][row]
                yield name, row

    def forget(self, name: str) -> None:
        """Drop a relation, because its declaration changed."""
        self._born.pop(name, None)

    def dump(self) -> dict[str, list[Arrival]]:
        """Returns the state, for a snapshot."""
        return {
            name: [(at_s, row) for row, times in born.items() for at_s in times]
            for name, born in self._born.items()
        }
