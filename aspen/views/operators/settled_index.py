"""SettledIndex: the settled rows of one recursive relation by key, for rules that join it.

    settle     ab bc            retract bc
    by b       b → ab           b → ab
    by c       c → bc

Law:        holds exactly the relation's settled groups with their rows.
Algorithm:  a hash index; rows with a null key are left out, because they join nothing.
State:      key -> group -> row.
Receives:   groups that settle or are retracted.     Gives: those under a key.
Ends:       always: one look-up a group.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.views.node import Key, Places, has_null, key_of
from aspen.views.operators.min_ship import Group


class SettledIndex:
    """See the module's head.

    Args:
        places: key columns.
    """

    __slots__ = ("_key", "index", "places")

    def __init__(self, places: Places) -> None:
        self.places = places
        self.index: dict[Key, dict[Group, Row]] = {}
        self._key = key_of(places)

    def add(self, group: Group, row: Row) -> None:
        """Take a settled group in; rows with a null key join nothing."""
        key = self._key(row)
        bucket = self.index.get(key)
        if bucket is not None:
            bucket[group] = row
        elif not has_null(key, len(self.places)):
            self.index[key] = {group: row}

    def remove(self, group: Group, row: Row) -> None:
        """Take a retracted group out."""
        key = self._key(row)
        bucket = self.index.get(key)
        if bucket is not None and bucket.pop(group, None) is not None and not bucket:
            del self.index[key]

    def clear(self) -> None:
        """Forget all groups."""
        self.index.clear()
