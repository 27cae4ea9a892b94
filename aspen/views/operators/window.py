"""Window: the part of a stream that counts now.

    log time     0     7     10    14    20    26    (RANGE 20 SLIDE 10)
    arrives      a     b           c
    tick               ·     ·     ·     ·     ·
    contents                 a b   a b   b c   b c   what came since 10 waits until 20

Law:        after a tick at t, with b the greatest multiple of the slide not above t (without a
            slide: t): contents == the rows that the clauses let in of those whose times are later
            than b less the range, and, with a slide, not later than b. Only ticks let rows expire.
Algorithm:  how rows are kept is each kind's own: see `range_window` and `rows_window`. With a
            slide, arrivals of later times wait for a tick that passes a boundary.
State:      the kind's, and the arrivals that wait; since when it holds all that its law says.
Receives:   arrivals in log order, ticks.     Gives: weights +1 and -1 of the bag inside.
Ends:       always: every arrival enters once and leaves once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from aspen.model.delta import Delta, merge
from aspen.model.schema import Row
from aspen.views.node import Node

Arrival = tuple[float, Row]


class Arrivals(NamedTuple):
    """Rows of a stream that came together.

    Args:
        now_s: the last tick before them.
        at_s: their own log time.
    """

    now_s: float
    at_s: float
    rows: Sequence[Row]


class WindowOperator(Node, ABC):
    """The rows of one stream inside a window.

    Args:
        stream: name of the relation whose arrivals it sees.
        shape: what a stream row becomes before it enters, None where it does not.
        range_s: seconds of log time, None for ever.
        slide_s: seconds of log time between two positions of the window, None where it follows
            every tick.

    `came` is how many rows the stream has brought; whoever begins a window sets it. `late` counts
    the rows that came and will never be inside since their own times are out of reach.
    """

    what = "a window"

    def __init__(
        self,
        stream: str,
        shape: Callable[[Row], Row | None],
        range_s: float | None,
        slide_s: float | None,
    ) -> None:
        super().__init__()
        self.stream = stream
        self._shape = shape
        self._range_s = math.inf if range_s is None else range_s
        self._slide_s = slide_s
        self._waits = slide_s is not None
        self._now_s = -math.inf
        self._since_s = -math.inf
        self._pending: Delta = {}
        self._waiting: list[Arrival] = []
        self.came = 0
        self.late = 0

    @property
    def complete_since_s(self) -> float | None:
        """Log time since which it holds all that its law says; None where nothing is missing."""
        return None if self._since_s == -math.inf else self._since_s

    def load(self, now_s: float, held: Iterable[Arrival], since_s: float | None = None) -> None:
        """Begin with what another one held, oldest first per partition.

        Args:
            since_s: since when that one was complete, None for a whole one.
        """
        self._since_s = -math.inf if since_s is None else since_s
        self._now_s = self._boundary_s(now_s)
        for at_s, row in held:
            self._admit(at_s, (row,))
        self.step()

    def follow(self, now_s: float, arrived: Iterable[Arrivals], since_s: float) -> None:
        """Begin as if it had been there when these stream rows came.

        Args:
            since_s: all that came later is among them.
        """
        self._since_s = since_s
        for then_s, at_s, rows in arrived:
            self.tick(then_s)
            self.take(at_s, rows)
        self.tick(now_s)
        self.step()

    def take(self, at_s: float, rows: Iterable[Row]) -> bool:
        """Take stream rows that came together.

        Returns:
            Whether anything changed.
        """
        shaped = [row for row in map(self._shape, rows) if row is not None]
        return bool(shaped) and self._admit(at_s, shaped)

    def tick(self, now_s: float) -> bool:
        """Let rows expire, and those in that waited for it.

        Returns:
            Whether anything changed.
        """
        boundary_s = self._boundary_s(now_s)
        if boundary_s <= self._now_s:
            return False
        self._now_s = boundary_s
        begin_s = boundary_s - self._range_s
        if self._since_s <= begin_s:
            self._since_s = -math.inf
        changed = self._expire(begin_s)
        waiting, self._waiting = self._waiting, []
        for at_s, row in waiting:
            changed = self._admit(at_s, (row,)) or changed
        return changed

    def hypothetical(self, row: Row, weight: int) -> Delta:
        """Returns what would come and go if a stream row arrived now (+1), or had not arrived (-1).

        Rows that a row pushed out when it came do not come back. With a slide, a row that arrived
        now would wait for the next boundary.
        """
        if weight < 0:
            inside = self.contents()
            found = row if row in inside else self._shape(row)
            return {found: -1} if found is not None and found in inside else {}
        shaped = self._shape(row)
        return {} if shaped is None or self._slide_s is not None else self._arriving(shaped)

    def pend(self, delta: Delta) -> None:
        """Change rows in the coming epoch whatever has arrived; for hypothetical updates."""
        merge(self._pending, delta)

    def step(self) -> Delta:
        """Returns what came and went since the last epoch."""
        out, self._pending = self._pending, {}
        return out

    def base_row(self, row: Row) -> tuple[str, Row] | None:
        """Returns the reading, under the stream's name."""
        return (self.stream, row)

    def held(self) -> list[Arrival]:
        """Returns the arrivals that may still count, oldest first, for a snapshot."""
        return [*self._entered(), *self._waiting]

    def _admit(self, at_s: float, rows: Sequence[Row]) -> bool:
        if self._waits and at_s > self._now_s:
            self._waiting += [(at_s, row) for row in rows]
            return False
        self._enter(at_s, rows)
        return True

    def _boundary_s(self, now_s: float) -> float:
        if self._slide_s is None or math.isinf(now_s):
            return now_s
        return math.floor(now_s / self._slide_s) * self._slide_s

    @abstractmethod
    def _enter(self, at_s: float, rows: Sequence[Row]) -> None:
        """Let rows in."""

    @abstractmethod
    def _expire(self, horizon_s: float) -> bool:
        """Let rows go whose times are no later; whether any did."""

    @abstractmethod
    def _entered(self) -> Iterable[Arrival]:
        """Returns the arrivals kept, oldest first per partition."""

    def _arriving(self, row: Row) -> Delta:
        """Returns what comes and goes when a row enters now."""
        return {row: 1}
