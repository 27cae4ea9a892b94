"""MinShip: the first derivation of a row goes on, further ones wait.

    derivations   d1   d2   d3        d1 dies
    forwarded     d1                  d2            before any deletion is seen downstream
    waiting            d2   d2 d3     d3

Law:        a row is present iff it has a live derivation; at most one per row has been forwarded.
Algorithm:  [LTZIL09] section V, lazy. Own: a waiting derivation is kept as its source (the
            row and input rows it came from), not as an OR of functions: it costs no BDD work until
            it is released, and takes its annotation from what its source carries then.
State:      source -> derived row, per group.
Receives:   derivations, withdrawals.     Gives: the group's current row and its source.
Ends:       a source occurs once per group.
"""

from __future__ import annotations

from typing import Any

from aspen.model.schema import Row
from aspen.views.node import Indices, Key, has_null, key_of

Source = tuple[Any, ...]
"""(group it came from or None for a base row, input row per join…): what a derivation used."""


class Group:
    """One group of a recursive view: a row of a set, or all candidates AggSel chooses from.

    `best` is the row that went on, `via` its source; both None while the group is unsettled.
    `waiting` holds every live derivation, the forwarded one included. `older` are derivations of
    worse rows that the group rests on as well, because what led to its row may rest on them.
    """

    __slots__ = ("best", "key", "older", "relation", "via", "waiting")

    def __init__(self, key: Key, relation: Any = None) -> None:
        self.key = key
        self.relation = relation
        self.best: Row | None = None
        self.via: Source | None = None
        self.older: dict[Source, Row] | None = None
        self.waiting: dict[Source, Row] = {}


class SettledIndex:
    """The settled rows of a relation by key, for rules that join it; a null key joins nothing."""

    __slots__ = ("_key", "index", "indices")

    def __init__(self, indices: Indices) -> None:
        self.indices = indices
        self.index: dict[Key, dict[Any, Row]] = {}
        self._key = key_of(indices)

    def add(self, group: Any, row: Row) -> None:
        """Take a settled group in; rows with a null key join nothing."""
        key = self._key(row)
        bucket = self.index.get(key)
        if bucket is not None:
            bucket[group] = row
        elif not has_null(key, len(self.indices)):
            self.index[key] = {group: row}

    def remove(self, group: Any, row: Row) -> None:
        """Take a retracted group out."""
        key = self._key(row)
        bucket = self.index.get(key)
        if bucket is not None and bucket.pop(group, None) is not None and not bucket:
            del self.index[key]

    def clear(self) -> None:
        """Forget all groups."""
        self.index.clear()
