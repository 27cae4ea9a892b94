"""GroupBy: one row per key with aggregates over the group.

Law:        contents == the aggregates of the child's rows; without keys one row, also when empty.
Algorithm:  accumulators per group; a touched group takes back its old row and gives the new.
State:      key -> number of rows, accumulators, row given last.
Receives:   a bag's delta.     Gives: weights -1 for replaced rows, +1 for new ones.
Ends:       always: one pass, then one look at each touched group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.views.accumulators import Accumulator, weighed
from aspen.views.node import Indices, Lookups, Node, Way, row_of


class _GroupState:
    __slots__ = ("accumulators", "given", "size")

    def __init__(self, accumulators: list[Accumulator]) -> None:
        self.size = 0
        self.accumulators = accumulators
        self.given: Row | None = None


class GroupByOperator(Node):
    """Aggregates per key.

    Args:
        keys: indices of the key columns.
        reads: per aggregate, the indices of its column and of what it is ordered by, as far as
            there are any.
        fresh: gives empty accumulators for a new group.
        extreme: index of the column of which the only aggregate is MIN or MAX.
    """

    what = "GROUP BY"

    def __init__(
        self,
        child: Node,
        keys: Indices,
        reads: Sequence[Indices],
        fresh: Callable[[], list[Accumulator]],
        extreme: int | None = None,
    ) -> None:
        super().__init__(child)
        self._always = not keys
        self._width = len(keys)
        self._key = row_of(keys)
        self._reads = tuple(reads)
        self._fresh = fresh
        self._extreme = extreme
        self._groups: dict[Row, _GroupState] = {}

    def start(self) -> None:
        """Aggregate the child's rows."""
        if self._always:
            self._groups[()] = _GroupState(self._fresh())
            self._renew(((),))
        self._take(self.inputs[0].contents())

    def step(self) -> Delta:
        """Aggregate the delta."""
        return self._take(self.inputs[0].delta)

    def kept(self) -> int:
        """Count the rows of the own state."""
        return len(self._groups)

    def contents(self) -> Delta:
        """Returns one row per group."""
        return {group.given: 1 for group in self._groups.values() if group.given is not None}

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """All rows of the group together; of a lone MIN or MAX, each row that attains it."""
        members = asked.before(self, self._key).get(row[: self._width], [])
        child = self.inputs[0]
        if self._extreme is not None:
            index, best = self._extreme, row[-1]
            attained = [((child, member),) for member in members if member[index] == best]
            if best is not None:
                return attained
        return [tuple((child, member) for member in members)]

    def _take(self, rows: Delta) -> Delta:
        key_of_row, groups, reads = self._key, self._groups, self._reads
        # Group by group, so that each accumulator takes what it gets in one loop of its own.
        touched: dict[Row, list[tuple[Row, int]]] = {}
        for item in rows.items():
            key = key_of_row(item[0])
            members = touched.get(key)
            if members is None:
                touched[key] = [item]
            else:
                members.append(item)
        for key, members in touched.items():
            group = groups.get(key)
            if group is None:
                group = groups[key] = _GroupState(self._fresh())
            group.size += sum([weight for _, weight in members])
            for read, state in zip(reads, group.accumulators, strict=True):
                if len(read) == 1:
                    (at,) = read
                    state.take([(row[at], w) for row, w in members if row[at] is not None])
                else:
                    state.take(weighed(members, read))
        return self._renew(touched)

    def _renew(self, touched: Iterable[Row]) -> Delta:
        out: Delta = {}
        for key in touched:
            group = self._groups[key]
            new: Row | None = None
            if group.size or self._always:
                new = key + tuple(state.value() for state in group.accumulators)
            else:
                del self._groups[key]
            if group.given is not None:
                accumulate(out, group.given, -1)
            if new is not None:
                accumulate(out, new, 1)
            group.given = new
        return out
