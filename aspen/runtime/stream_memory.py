"""StreamMemory: the newest row per key of every keyed stream; last-value windows start warm."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspen.model.schema import Relation, Row, Value
from aspen.views.compile import WindowIdentity
from aspen.views.node import key_of
from aspen.views.operators.window import Arrival

_Key = Value | Row


class StreamMemory:
    """What a lane remembers of the streams beyond its windows."""

    def __init__(self) -> None:
        self._newest: dict[str, dict[_Key, Arrival]] = {}
        self._keys: dict[str, tuple[Relation, Callable[[Row], _Key]]] = {}

    def arrive(self, relation: Relation, at_s: float, rows: Iterable[Row]) -> None:
        """Remember rows of a stream, if it has a key."""
        if relation.key:
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

    def begin(self, relation: Relation, spec: WindowIdentity) -> list[Arrival]:
        """Returns what a new window starts with: `[PARTITION BY <key> ROWS 1]` starts warm."""
        key = tuple(relation.index(name) for name in relation.key)
        if not key or spec.rows != 1 or not spec.plain or set(spec.partition) != set(key):
            return []
        return list(self._newest.get(spec.stream, {}).values())

    def forget(self, stream: str) -> None:
        """Drop a stream, because its declaration changed."""
        self._newest.pop(stream, None)

    def dump(self) -> dict[str, list[Arrival]]:
        """Returns the state, for a snapshot."""
        return {name: list(newest.values()) for name, newest in self._newest.items()}
