"""Keys: whether rows that a split is found by are told apart by their key, as they should be.

A declared key is a promise of whoever writes; a split view may rest on it. Where a transaction
breaks it, in the log's order and not in a batch's, the views that rest on it become whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aspen.algebra.carried import Carried, Root
from aspen.log.entry import Change
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Relation, Row, Value
from aspen.runtime.assignment import Assignments, Split, part_of
from aspen.runtime.own_assignment import OWN_ROOT, own_lane
from aspen.views.circuit import Circuit


class KeyedRoots:
    """The keys of one lane's relations; every lane has all their rows."""

    def __init__(
        self, circuit: Circuit, relations: Mapping[str, Relation], assignments: Assignments
    ) -> None:
        self._circuit = circuit
        self._relations = relations
        self._assignments = assignments

    def hold(self, root: Root) -> bool:
        """Whether rows of one key have one value in the root's column, between epochs."""
        return all(self._agree(root, rows) for rows in self._by_key(root).values())

    def networks(self, relation: Relation) -> Iterable[Value]:
        """Returns the networks that the settled rows of a table name."""
        index = relation.index(relation.network)
        return {row[index] for row in self._circuit.sources[relation.name].table}

    def broken(self, changes: Iterable[Change]) -> set[str]:
        """Returns the views that rely on a key which a transaction, just taken in, has broken."""
        watched = self._assignments.watched
        if not watched:
            return set()
        grown: dict[str, list[Row]] = {}
        for change in changes:
            if change.relation in watched and change.weight > 0:
                grown.setdefault(change.relation, []).append(change.row)
        roots = {
            root
            for name, rows in grown.items()
            for root in watched[name]
            if self._breaks(root, rows)
        }
        return self._assignments.by_root(roots)

    def lane_of(self, split: Split, row: Row) -> int | None:
        """Returns the lane that has a row of a split view, None where the row does not say it."""
        if not 0 <= split.index < len(row):
            return None
        value = row[split.index]
        if split.root == OWN_ROOT:
            return own_lane(value, self._assignments.share.lanes)
        if split.how is Carried.KEY:
            bucket = self._by_key(split.root).get(value)
            if not bucket:
                return None
            relation = self._relations[split.root.relation]
            value = next(iter(bucket))[relation.index(split.root.column)]
        return part_of(value, self._assignments.share.lanes)

    def _breaks(self, root: Root, rows: Iterable[Row]) -> bool:
        """Whether rows that are being inserted share their key with rows of another value."""
        source = self._circuit.sources[root.relation]
        index = source.relation.index(root.key)
        settled = self._by_key(root)
        found = {row[index]: dict(settled.get(row[index], {})) for row in rows if len(row) > index}
        for row, weight in source.pending.items():
            if row[index] in found:
                accumulate(found[row[index]], row, weight)
        return not all(self._agree(root, held) for held in found.values())

    def _agree(self, root: Root, rows: Iterable[Row]) -> bool:
        index = self._relations[root.relation].index(root.column)
        return len({row[index] for row in rows}) <= 1

    def _by_key(self, root: Root) -> Mapping[Value, Delta]:
        """Returns the settled rows of a keyed relation by their key."""
        source = self._circuit.sources[root.relation]
        indexes = (source.relation.index(root.key),)
        return (source.arrangements.get(indexes) or source.arrange(indexes)).index
