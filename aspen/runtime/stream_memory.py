"""StreamMemory: the newest rows of every stream, so that a new window begins as if it had stood.

    log time     0     7     10    14    20          (three rows held, RANGE 15 asked for at 20)
    arrives      a     b     c     d
    held               b     c     d                 a is forgotten: complete since 0
    new window                     │ b c d           reaches back to 5: whole

What came together is kept and forgotten together, so an arrival costs an append.

Law: what is held is a function of the log prefix: the newest rows, never older than the stream's
     lifetime at the last tick; of a stream as fast as REMEMBERED_BELOW_HZ, none, since its rows may
     be selected before they come here. Beside them how many rows came and, of a stream with a
     key, the newest row per key.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from aspen.algebra.lowerable import REMEMBERED_BELOW_HZ
from aspen.model.arrays import row_in
from aspen.model.schema import Relation, Row, Value
from aspen.views.compile import WindowIdentity
from aspen.views.node import key_of
from aspen.views.operators.window import Arrival, Arrivals, WindowOperator

ROWS_HELD = 4_000
"""Of each stream, and what came with the oldest of them: an hour at one a second. A stream of seven
columns takes 2 MB for it, and 8 ms and 70 kB of each snapshot."""

_Key = Value | Row


@dataclass(slots=True)
class _Recent:
    """The newest arrivals of one stream.

    Args:
        since_s: all that came later is held; minus infinity where nothing was forgotten.
    """

    since_s: float = -math.inf
    rows: int = 0
    arrivals: deque[Arrivals] = field(default_factory=deque)

    def append(self, arrived: Arrivals) -> None:
        self.arrivals.append(arrived)
        self.rows += len(arrived.rows)
        while self.rows - len(self.arrivals[0].rows) >= ROWS_HELD:
            self.forget_oldest()

    def forget_oldest(self) -> None:
        oldest = self.arrivals.popleft()
        self.rows -= len(oldest.rows)
        self.since_s = max(self.since_s, oldest.at_s)


class StreamMemory:
    """What a lane remembers of the streams beyond its windows."""

    def __init__(self) -> None:
        self._now_s = -math.inf
        self._recent: dict[str, _Recent | None] = {}  # None: too fast to be remembered
        self._lifetimes: dict[str, float] = {}
        self._came: dict[str, int] = {}
        self._newest: dict[str, dict[_Key, Arrival]] = {}
        self._keys: dict[str, tuple[Relation, Callable[[Row], _Key]]] = {}

    def know(self, relation: Relation) -> None:
        """Remember a stream's rows for its lifetime, as it is declared now."""
        name = relation.name
        self._lifetimes.pop(name, None)
        if relation.rate_hz >= REMEMBERED_BELOW_HZ:
            self._recent[name] = None
            self._came.pop(name, None)
            return
        if self._recent.get(name) is None:
            self._recent[name] = _Recent(self._now_s if name in self._recent else -math.inf)
        if relation.ttl_s:
            self._lifetimes[name] = relation.ttl_s

    def arrive(self, relation: Relation, at_s: float, rows: Sequence[Row]) -> None:
        """Remember rows of a stream that came together."""
        recent = self._recent.get(relation.name)
        if recent is not None:
            recent.append(Arrivals(self._now_s, at_s, rows))
            self._came[relation.name] = self.came(relation.name) + len(rows)
        if relation.key:
            self._renew(relation, at_s, rows)

    def came(self, stream: str) -> int:
        """Returns how many rows a stream has brought; 0 where they are not counted."""
        return self._came.get(stream, 0)

    def _renew(self, relation: Relation, at_s: float, rows: Iterable[Row]) -> None:
        newest = self._newest.setdefault(relation.name, {})
        known = self._keys.get(relation.name)
        if known is None or known[0] is not relation:
            indices = [relation.index(name) for name in relation.key]
            known = self._keys[relation.name] = (relation, key_of(indices))
        key_of_row = known[1]
        for row in rows:
            key = key_of_row(row)
            # The newest goes last, so that the order of arrival is kept.
            newest.pop(key, None)
            newest[key] = (at_s, row)

    def tick(self, now_s: float) -> None:
        """Let time pass, and forget what has outlived its stream's lifetime."""
        self._now_s = now_s
        for name, ttl_s in self._lifetimes.items():
            recent = self._recent[name]
            while recent and recent.arrivals and recent.arrivals[0].at_s <= now_s - ttl_s:
                recent.forget_oldest()

    def begin(self, relation: Relation, spec: WindowIdentity, window: WindowOperator) -> None:
        """Fill a new window with what it would hold if it had been there when that came."""
        key = {relation.index(name) for name in relation.key}
        newest_per_key = spec.rows == 1 and spec.plain and {*spec.partition} == key
        if key and newest_per_key and not spec.slides:
            window.load(self._now_s, self._newest.get(spec.stream, {}).values())
        else:
            recent = self._recent.get(spec.stream) or _Recent(self._now_s)
            window.came = self.came(spec.stream) - recent.rows
            window.follow(self._now_s, recent.arrivals, recent.since_s)

    def forget(self, stream: str) -> None:
        """Drop a stream's rows, because its declaration changed: it begins anew."""
        self._newest.pop(stream, None)
        self._recent.pop(stream, None)
        self._came.pop(stream, None)

    def dump(self) -> dict[str, Any]:
        """Returns the state, for a snapshot."""
        return {
            "newest": {name: list(newest.values()) for name, newest in self._newest.items()},
            "came": self._came,
            "recent": {name: _dumped(one) for name, one in self._recent.items() if one},
        }

    def load(
        self, body: dict[str, Any], relations: dict[str, Relation], now_s: float, at_s: float
    ) -> None:
        """Take what `dump` gave; the streams are known.

        Args:
            now_s: the last tick.
            at_s: log time of the snapshot; those from before `recent` know of nothing earlier.
        """
        self._now_s = now_s
        for name, newest in body["newest"].items():
            for arrived_s, row in newest:
                self._renew(relations[name], arrived_s, [row_in(row)])
        self._came.update(body.get("came", {}))  # snapshots from before have none
        found = body.get("recent")
        for name, recent in self._recent.items():
            if recent is None:
                continue
            if found is None:
                recent.since_s = at_s
            elif name in found:
                since_s, arrivals = found[name]
                recent.since_s = _finite(since_s)
                recent.arrivals.extend(_loaded(arrivals))
                recent.rows = sum(len(one.rows) for one in recent.arrivals)


def _dumped(recent: _Recent) -> list[Any]:
    arrivals = [[_or_none(one.now_s), one.at_s, one.rows] for one in recent.arrivals]
    return [_or_none(recent.since_s), arrivals]


def _loaded(arrivals: Iterable[Sequence[Any]]) -> Iterator[Arrivals]:
    for now_s, at_s, rows in arrivals:
        yield Arrivals(_finite(now_s), at_s, [row_in(row) for row in rows])


def _or_none(time_s: float) -> float | None:
    return None if math.isinf(time_s) else time_s


def _finite(time_s: float | None) -> float:
    return -math.inf if time_s is None else time_s
