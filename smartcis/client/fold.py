"""Fold: the rows of a view, kept by what is heard of it.

Law:    after a snapshot and the deltas that follow it, the fold equals the server's view at
        `epoch`. A delta that does not continue it, or takes rows it has not, leaves it as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from smartcis.client.changes import ViewDelta, ViewSnapshot
from smartcis.client.rows import Cell, Rows, RowsColumn

Changes = Iterable[tuple[int, Iterable[Cell]]]


class Fold:
    """One view's rows, each with how often the view has it."""

    def __init__(self) -> None:
        self.columns: tuple[RowsColumn, ...] = ()
        self.counts: Counter[tuple[Cell, ...]] = Counter()
        self.epoch = 0
        self.position = 0
        self.at_s = 0.0
        self.complete_since_s: float | None = None

    def take(self, news: object) -> None:
        """Folds in a snapshot or a delta of the view; everything else changes no rows.

        Raises:
            ValueError: the delta takes rows that are not there.
        """
        if isinstance(news, ViewSnapshot):
            self.columns = news.rows.columns
            self.counts = Counter(tuple(row) for row in news.rows)
            self._stand_at(news.rows)
            self.complete_since_s = news.rows.complete_since_s
        elif isinstance(news, ViewDelta):
            if not self.add(news.changes):
                raise ValueError("the delta takes rows that are not there")
            self._stand_at(news)

    def add(self, changes: Changes) -> bool:
        """Adds changes, all or none; returns whether they fit."""
        touched: Counter[tuple[Cell, ...]] = Counter()
        for weight, row in changes:
            touched[tuple(row)] += weight
        if any(self.counts[row] + weight < 0 for row, weight in touched.items()):
            return False
        for row, weight in touched.items():
            self.counts[row] += weight
            if not self.counts[row]:
                del self.counts[row]
        return True

    @property
    def rows(self) -> Rows:
        """The rows as they are now, in no order."""
        return Rows(
            self.columns,
            self.counts.elements(),
            epoch=self.epoch,
            position=self.position,
            at_s=self.at_s,
            complete_since_s=self.complete_since_s,
        )

    def _stand_at(self, news: Rows | ViewDelta) -> None:
        self.epoch, self.position, self.at_s = news.epoch, news.position, news.at_s
