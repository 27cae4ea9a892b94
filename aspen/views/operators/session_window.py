"""SessionWindow: the rows that came since nothing came for a while, perhaps per partition.

    log time     0     4     8     13    18    23    (SESSION 5)
    arrives      a     b           c
    tick               ·     ·     ·     ·     ·
    contents     a     a b   a b   c     ·     ·     a and b leave by the tick after 9, or for c

Law:        a row that comes less than the gap after the newest of its partition's session joins
            it; any other begins one in its place, unless its time is the gap before the newest
            tick. A tick at the gap after a session's newest row, or later, ends it. Contents ==
            the rows of the sessions that stand.
Algorithm:  a heap of when each session would end if nothing more came; whose end has moved is put
            back when its turn comes, so that an arrival moves nothing.
State:      the arrivals of the sessions that stand; since when all that belongs to them is there.
Receives:   arrivals in log order, ticks.     Gives: weights +1 and -1 of the bag inside.
Ends:       always: every arrival enters once and leaves with its session.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from aspen.model.delta import Delta, accumulate, merge
from aspen.model.schema import Row
from aspen.views.node import Indices, Key, key_of
from aspen.views.operators.window import Arrival, WindowOperator


@dataclass(slots=True, eq=False)
class _OpenSession:
    last_s: float
    arrivals: list[Arrival] = field(default_factory=list)


class SessionWindow(WindowOperator):
    """The rows of one stream that belong to a session.

    Args:
        gap_s: seconds of log time without a row that end one.
        partition: indices of the columns whose every value has sessions of its own.
    """

    def __init__(
        self, stream: str, shape: Callable[[Row], Row | None], gap_s: float, partition: Indices
    ) -> None:
        super().__init__(stream, shape, None, None)
        self._gap_s = gap_s
        self._partition = key_of(partition)
        self._sessions: dict[Key, _OpenSession] = {}
        self._ends: list[tuple[float, int, Key, _OpenSession]] = []
        self._begun = 0
        self._inside: Delta = {}

    def load(self, now_s: float, held: Iterable[Arrival], since_s: float | None = None) -> None:
        """Begin with what another one held, however long ago its sessions began."""
        super().load(-math.inf, held, since_s)
        self._now_s = now_s

    def step(self) -> Delta:
        """Returns what came and went since the last epoch."""
        out = super().step()
        merge(self._inside, out)
        return out

    def kept(self) -> int:
        """Count the rows of the own state."""
        return sum(len(one.arrivals) for one in self._sessions.values())

    def contents(self) -> Delta:
        """Returns the rows inside."""
        return self._inside

    def _entered(self) -> Iterable[Arrival]:
        return (arrival for one in self._sessions.values() for arrival in one.arrivals)

    def _enter(self, at_s: float, rows: Sequence[Row]) -> None:
        for row in rows:
            key = self._partition(row)
            session = self._sessions.get(key)
            if session is None or at_s - session.last_s >= self._gap_s:
                if at_s <= self._now_s - self._gap_s:
                    continue
                self._end(key)
                session = self._sessions[key] = _OpenSession(at_s)
                self._await_end(key, session)
            session.last_s = max(session.last_s, at_s)
            session.arrivals.append((at_s, row))
            accumulate(self._pending, row, 1)

    def _expire(self, horizon_s: float) -> bool:
        del horizon_s  # its rows go together
        before = len(self._sessions)
        while self._ends and self._ends[0][0] <= self._now_s:
            _, _, key, session = heappop(self._ends)
            if self._sessions.get(key) is not session:
                continue  # it had ended for the next one
            if session.last_s + self._gap_s <= self._now_s:
                self._end(key)
            else:
                self._await_end(key, session)
        if self._since_s > -math.inf and self._is_whole():
            self._since_s = -math.inf
        return len(self._sessions) != before

    def _await_end(self, key: Key, session: _OpenSession) -> None:
        self._begun += 1
        heappush(self._ends, (session.last_s + self._gap_s, self._begun, key, session))

    def _end(self, key: Key) -> None:
        session = self._sessions.pop(key, None)
        for _, row in () if session is None else session.arrivals:
            accumulate(self._pending, row, -1)

    def _is_whole(self) -> bool:
        """Whether no row that is not remembered could belong to a session that stands."""
        begin_s = self._since_s + self._gap_s
        sessions = self._sessions.values()
        return begin_s <= self._now_s and all(one.arrivals[0][0] >= begin_s for one in sessions)
