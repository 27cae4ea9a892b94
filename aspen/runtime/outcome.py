"""Outcome: what one batch of the log does to the views, gathered over its epochs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from aspen.model.delta import Delta, delta_in, delta_out, merge
from aspen.results.protocol import ViewChange
from aspen.runtime.completeness import latest_s
from aspen.runtime.view import Fields


@dataclass(slots=True)
class _Gathered:
    delta: Delta = field(default_factory=dict)
    columns: tuple[tuple[str, str, str], ...] = ()
    since_s: float | None = None
    error: Mapping[str, Any] | None = None
    news: bool = False


class Outcome:
    """Net changes by view.

    Law: the fold of `changes()` over any cutting of the log into batches is the same.
    """

    def __init__(self) -> None:
        self._closed: dict[str, None] = {}
        self._gathered: dict[str, _Gathered] = {}

    def add(self, view: str, delta: Delta) -> None:
        """Add rows that came and went."""
        merge(self._of(view).delta, delta)

    def open(
        self,
        view: str,
        columns: tuple[tuple[str, str, str], ...],
        delta: Delta,
        complete_since_s: float | None = None,
    ) -> None:
        """Announce a view's columns and since when it is complete, and what (re)opening changed."""
        gathered = self._of(view)
        merge(gathered.delta, delta)
        gathered.columns, gathered.error, gathered.news = columns, None, True
        gathered.since_s = complete_since_s

    def fail(self, view: str, error: Fields, delta: Delta) -> None:
        """Announce that a view is no longer maintained; `delta` takes its rows away."""
        gathered = self._of(view)
        merge(gathered.delta, delta)
        gathered.error, gathered.news = error, True

    def close(self, view: str, *, known: bool) -> None:
        """Announce the end of a view.

        Args:
            known: it was there before this batch, so somebody may watch it.
        """
        self._gathered.pop(view, None)
        if known:
            self._closed[view] = None

    def take(self, part: ViewChange) -> None:
        """Take in what one of several lanes says of a view; its error is the view's."""
        if part.closed:
            self._closed[part.view] = None
            return
        gathered = self._of(part.view)
        merge(gathered.delta, part.delta)
        gathered.columns, gathered.news = gathered.columns or part.columns, True
        gathered.since_s = latest_s((gathered.since_s, part.complete_since_s))
        gathered.error = part.error if gathered.error is None else gathered.error

    def changes(self) -> list[ViewChange]:
        """The net changes: ends first, then every view with news, in order of first news."""
        ended = [ViewChange(view, closed=True) for view in self._closed]
        return ended + [
            ViewChange(view, one.delta, one.columns, error=one.error, complete_since_s=one.since_s)
            for view, one in self._gathered.items()
            if one.delta or one.news
        ]

    def dump(self) -> dict[str, Any]:
        """Returns the state, for a snapshot."""
        gathered = [
            [
                view,
                delta_out(one.delta),
                [list(column) for column in one.columns],
                one.error,
                one.news,
                one.since_s,
            ]
            for view, one in self._gathered.items()
        ]
        return {"closed": [*self._closed], "gathered": gathered}

    @classmethod
    def load(cls, body: Mapping[str, Any]) -> Outcome:
        """Returns the outcome that `dump` was called of."""
        loaded = cls()
        loaded._closed.update(dict.fromkeys(body["closed"]))
        for view, rows, columns, error, news, *since_s in body["gathered"]:
            spelt = tuple((name, kind, unit) for name, kind, unit in columns)
            # Snapshots from before completeness have none.
            complete_since_s = since_s[0] if since_s else None
            gathered = _Gathered(delta_in(rows), spelt, complete_since_s, error, news)
            loaded._gathered[view] = gathered
        return loaded

    def _of(self, view: str) -> _Gathered:
        return self._gathered.setdefault(view, _Gathered())


def merge_parts(lanes: Iterable[Iterable[ViewChange]]) -> list[ViewChange]:
    """Returns one change per view, and its end before it where it ended and came back.

    Law: the fold of the merged changes is that of one lane that keeps everything. Where a lane
    cannot keep its part, the view is in error and the parts of the others stay.
    """
    outcome = Outcome()
    for part in chain.from_iterable(lanes):
        outcome.take(part)
    return outcome.changes()
