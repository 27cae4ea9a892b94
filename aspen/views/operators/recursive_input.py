"""RecursiveInput: a non-recursive side of a recursion, as a set of rows; or of absent keys.

    phase     old            mid              new
    rows      before         before − gone    before − gone + born

Law:        a row is in the set while its weight in the bag is above zero; of NOT EXISTS, a key
            while no row of the bag has it; null keys always are.
Algorithm:  the shared arrangement shows the state before the epoch, the changes lie over it. Own:
            an absent key is a row like any other, so that derivations that rest on it are
            withdrawn, and carry a variable for it, as for any row that goes.
State:      the epoch's changes by key; the rows that rest on non-deletable ones alone.
Receives:   a bag's delta.     Gives: rows by key in the phase asked for.
Ends:       always: one pass over the delta.
"""

from __future__ import annotations

from collections.abc import Collection

from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.views.node import Arrangement, Indices, Key, Node, has_null, key_of

_EMPTY: dict[Row, int] = {}


class RecursiveInput:
    """One input of a Fixpoint.

    Args:
        node: the bag circuit that feeds it.
        indices: columns by which the step looks it up; empty for the base.
        static: the circuit of those of its rows that rest on non-deletable base rows alone,
            None when no row does, the same node when all do.
    """

    absent = False

    def __init__(self, node: Node, indices: Indices, static: Node | None = None) -> None:
        self.node = node
        self.static = static
        self.indices = indices
        self.gone: dict[Key, dict[Row, None]] = {}
        self.born: dict[Key, dict[Row, None]] = {}
        self._key = key_of(indices)
        self._arrangement: Arrangement | None = None
        self._fixed: Delta = {}
        self._show_gone = False
        self._show_born = False

    def start(self) -> None:
        """Take the arrangement and the static rows."""
        self._arrangement = self.node.arrange(self.indices)
        if self.static is not None and self.static is not self.node:
            self._fixed = dict(self.static.contents())

    def stop(self) -> None:
        """Returns the arrangement back."""
        if self._arrangement is not None:
            self.node.disarrange(self._arrangement)

    def begin(self) -> bool:
        """Read the epoch's deltas.

        Returns:
            Whether a row that was promised to stay went: annotations cannot tell what rested on it.
        """
        assert self._arrangement is not None
        index, width = self._arrangement.index, len(self.indices)
        lost = self._renew_fixed()
        for row, weight in self.node.delta.items():
            key = self._key(row)
            if has_null(key, width):
                continue
            old = index.get(key, _EMPTY).get(row, 0)
            if old <= 0 < old + weight:
                self.born.setdefault(key, {})[row] = None
            elif old + weight <= 0 < old:
                self.gone.setdefault(key, {})[row] = None
                lost = lost or self.is_static(row)
        return lost

    def _renew_fixed(self) -> bool:
        if self.static is None or self.static is self.node:
            return False
        for row, weight in self.static.delta.items():
            accumulate(self._fixed, row, weight)
        return any(row not in self._fixed for row in self.static.delta)

    def end(self) -> None:
        """Forget the epoch's changes; the arrangement moves right after."""
        self.gone, self.born = {}, {}
        self._show_gone = self._show_born = False

    def hide_gone(self) -> None:
        """Enter phase mid."""
        self._show_gone = bool(self.gone)

    def show_born(self) -> None:
        """Enter phase new."""
        self._show_born = bool(self.born)

    def matches(self, key: Key) -> Collection[Row]:
        """Returns the rows under a key in the current phase."""
        assert self._arrangement is not None
        found: Collection[Row] = self._arrangement.index.get(key, _EMPTY)
        if self._show_gone and key in self.gone:
            gone = self.gone[key]
            found = [row for row in found if row not in gone]
        if self._show_born and key in self.born:
            found = [*found, *self.born[key]]
        return found

    def is_static(self, row: Row) -> bool:
        """Whether a row rests on non-deletable base rows alone."""
        return self.static is self.node or row in self._fixed


class AbsentInput(RecursiveInput):
    """One negated input of a Fixpoint."""

    absent = True

    def begin(self) -> bool:
        """Read the epoch's deltas; nothing here is given for good."""
        assert self._arrangement is not None
        changed: dict[Key, dict[Row, int]] = {}
        for row, weight in self.node.delta.items():
            changed.setdefault(self._key(row), {})[row] = weight
        for key, delta in changed.items():
            if has_null(key, len(self.indices)):
                continue
            old = self._arrangement.index.get(key, _EMPTY)
            there = sum(weight > 0 for weight in old.values())
            now = there
            for row, weight in delta.items():
                before = old.get(row, 0)
                now += (before + weight > 0) - (before > 0)
            if there and not now:
                self.born[key] = {self._row(key): None}
            elif now and not there:
                self.gone[key] = {self._row(key): None}
        return False

    def matches(self, key: Key) -> Collection[Row]:
        """Returns the key's row, if the key is absent in the current phase."""
        assert self._arrangement is not None
        row = self._row(key)
        if key in self.born:
            return (row,) if self._show_born else ()
        if key in self.gone:
            return () if self._show_gone else (row,)
        if has_null(key, len(self.indices)):
            return (row,)
        old = self._arrangement.index.get(key, _EMPTY)
        return () if any(weight > 0 for weight in old.values()) else (row,)

    def _row(self, key: Key) -> Row:
        return (key,) if len(self.indices) == 1 else key
