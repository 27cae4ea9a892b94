"""Folded views and the epochs kept beside them: the hub's memory.

epoch        … 41 42 43 44 45          kept: what happened to each view in each epoch
view rows             └ as of 45       a subscriber that has 42 gets the net of 43 … 45
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aspen.model.delta import Delta, merge
from aspen.results.protocol import Epoch, EpochSnapshot, ViewChange
from smartcis.live.shared_rows import SharedRows

KEEP_EPOCHS = 1_024
KEEP_ROWS = 200_000  # bounds the memory of kept epochs, whatever they hold

Columns = tuple[tuple[str, str, str], ...]


@dataclass(slots=True)
class FoldedView:
    """One view, equal to the store's as of `epoch`.

    Args:
        name: the view's id.
        present: whether the store maintains it; its columns and rows mean nothing otherwise.
    """

    name: str
    present: bool = False
    columns: Columns = ()
    rows: Delta = field(default_factory=dict)
    epoch: int = 0
    position: int = 0
    at_s: float = 0.0
    error: Mapping[str, Any] | None = None
    complete_since_s: float | None = None
    _shared: SharedRows | None = None
    _newest: tuple[Delta, SharedRows] | None = None

    def shared(self) -> SharedRows:
        """Returns the rows for all who are sent the whole view as it is now."""
        if self._shared is None:
            self._shared = SharedRows(_repeated(self.rows))
        return self._shared

    def changes(self, delta: Delta) -> SharedRows:
        """Returns an epoch's changes for all who are sent just them; the newest are kept."""
        if self._newest is None or self._newest[0] is not delta:
            self._newest = delta, SharedRows((weight, *row) for row, weight in delta.items())
        return self._newest[1]

    def load(self, snapshot: EpochSnapshot) -> None:
        """Takes the whole view."""
        self._shared = None
        self.present = True
        self.columns = snapshot.columns
        self.rows = dict(snapshot.rows)
        self.epoch, self.position = snapshot.epoch, snapshot.position
        self.at_s = snapshot.at_s
        self.error = snapshot.error
        self.complete_since_s = snapshot.complete_since_s

    def forget(self) -> None:
        """Notes that the store no longer has it."""
        self.present, self.rows, self.columns, self.error = False, {}, (), None
        self._shared = None

    def apply(self, change: ViewChange) -> None:
        """Folds one change in; the caller gives each epoch's changes once, in order."""
        self._shared = None
        if change.closed:
            self.forget()
        else:
            if change.columns:
                self.present, self.columns, self.error = True, change.columns, None
                self.complete_since_s = change.complete_since_s
            if change.error is not None:
                self.present, self.error = True, change.error
            merge(self.rows, change.delta)

    def stamp(self, epoch: Epoch) -> None:
        """Stands at an epoch whose changes have been folded in, or that had none for this view."""
        self.epoch, self.position, self.at_s = epoch.number, epoch.position, epoch.at_s

    def index_of(self, column: str) -> int | None:
        """Returns a column's index in the row, None without such a column."""
        names = [name for name, _, _ in self.columns]
        return names.index(column) if column in names else None


class History:
    """The newest epochs, for subscribers that come back."""

    def __init__(self, after: int = 0) -> None:
        self._epochs: deque[Epoch] = deque()
        self._rows = 0
        self.floor = after
        self.head = after

    def add(self, epoch: Epoch) -> None:
        """Keeps an epoch; the oldest go when there are too many."""
        self._epochs.append(epoch)
        self._rows += _size(epoch)
        self.head = epoch.number
        while len(self._epochs) > KEEP_EPOCHS or (self._rows > KEEP_ROWS and len(self._epochs) > 1):
            oldest = self._epochs.popleft()
            self._rows -= _size(oldest)
            self.floor = oldest.number

    def after(self, number: int) -> Sequence[Epoch] | None:
        """Returns the epochs after `number`, None when they are not all kept."""
        if not self.floor <= number <= self.head:
            return None
        return [epoch for epoch in self._epochs if epoch.number > number]

    def net(self, view: str, since: int, upto: int) -> tuple[Delta, int] | None:
        """Returns the net change of a view in (since, upto], and how many epochs changed it.

        Returns:
            None when epochs are missing, or the view began, ended or failed in between.
        """
        epochs = self.after(since)
        if epochs is None or upto > self.head:
            return None
        net: Delta = {}
        changed = 0
        for epoch in epochs:
            if epoch.number > upto:
                break
            for change in epoch.changes:
                if change.view != view:
                    continue
                if change.closed or change.columns or change.error is not None:
                    return None
                merge(net, change.delta)
                changed += 1
        return net, changed


def _size(epoch: Epoch) -> int:
    return sum(change.size for change in epoch.changes)


def bag(rows: Delta) -> list[list[Any]]:
    """Returns each row as often as its weight says."""
    return list(_repeated(rows))


def _repeated(rows: Delta) -> Iterator[list[Any]]:
    return (list(row) for row, weight in rows.items() for _ in range(weight))


def restricted(rows: Delta, index: int | None, allowed: frozenset[str] | None) -> Delta:
    """Returns the rows of some owners, or of all.

    Args:
        index: of the owners' column; without one, no row is anybody's.
        allowed: the owners; None for all rows.
    """
    if allowed is None:
        return rows
    if index is None:
        return {}
    return {row: weight for row, weight in rows.items() if str(row[index]) in allowed}
