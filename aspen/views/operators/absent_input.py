"""AbsentInput: NOT EXISTS inside a recursion, as a set of the keys that nothing has.

    input     +b          -b
    gone      b                      a key that something has now is absent no longer
    born                  b

Law:        a key is in the set while no row of the bag has it; null keys always are.
Algorithm:  own: an absent key is a row like any other, so that derivations that rest on it are
            withdrawn, and carry a variable for it, as for any row that goes.
State:      the epoch's changes by key.
Receives:   a bag's delta.     Gives: the key itself, in the phase asked for.
Ends:       always: one pass over the delta.
"""

from __future__ import annotations

from collections.abc import Collection

from aspen.model.schema import Row
from aspen.views.node import Key, Node, Places, has_null
from aspen.views.operators.recursive_input import RecursiveInput

_EMPTY: dict[Row, int] = {}


class AbsentInput(RecursiveInput):
    """One negated input of a Fixpoint.

    Args:
        node: the bag circuit whose rows must not be there.
        places: columns that are compared.
    """

    absent = True

    def __init__(self, node: Node, places: Places) -> None:
        super().__init__(node, places, None)
        self.width = 0  # a null key is as good as any other

    def begin(self) -> bool:
        """Read the epoch's deltas; nothing here is given for good."""
        assert self._arrangement is not None
        changed: dict[Key, dict[Row, int]] = {}
        for row, weight in self.node.delta.items():
            changed.setdefault(self._key(row), {})[row] = weight
        for key, delta in changed.items():
            if has_null(key, len(self.places)):
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
        if has_null(key, len(self.places)):
            return (row,)
        old = self._arrangement.index.get(key, _EMPTY)
        return () if any(weight > 0 for weight in old.values()) else (row,)

    def is_static(self, row: Row) -> bool:
        """Whether an absence is given for good: never."""
        del row
        return False

    def _row(self, key: Key) -> Row:
        return (key,) if len(self.places) == 1 else key
