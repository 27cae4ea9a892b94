"""AggSel: several aggregate selections at once over one stream of path rows.

    MIN(cost), MIN(hops) of one group     passed on           best
      + cost 9, hops 2                    + (9, 2)            (9, 2) for both
      + cost 7, hops 3                    + (7, 3)            (7, 3) for cost; (9, 2) stays for hops
      + cost 8, hops 3                    nothing
      + cost 6, hops 1                    - (7, 3) - (9, 2) + (6, 1)   for both

Law:        what has been passed on and not taken back is, per group, the best live row of each
            aggregate.
Algorithm:  [LTZIL09] Alg. 3 (Alg. 4 in the thesis), without its slips: a group is searched again
            only if a best row went; a beaten row is taken back only if no aggregate wants it any
            more; and it is taken back before its successor is passed on. Own: a group decides once
            for all changes of one turn. How rows compete is `aspen.views.operators.agg_sel`'s.
State:      group -> rows, best row per aggregate, rows passed on.
Receives:   rows, withdrawals, deaths of variables.     Gives: withdrawals, then rows.
Ends:       a group passes on at most one row per aggregate and turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from aspen.views.node import Key
from aspen.views.operators.agg_sel import Selection
from tests.experiments.network.bits import members
from tests.experiments.network.fact import Place, Value


class PathRow(NamedTuple):
    """One row of `path(source, target, cost, hops, places)`, annotated.

    Args:
        product: as bits, the variables of its links; a path has this one derivation.
    """

    source: Place
    target: Value
    cost: int
    hops: int
    places: tuple[Place, ...]
    product: int


class _Group:
    """The rows that compete; `best` has one per aggregate, `passed` those passed on."""

    __slots__ = ("best", "passed", "rows")

    def __init__(self) -> None:
        self.rows: dict[PathRow, None] = {}
        self.best: list[PathRow] = []
        self.passed: tuple[PathRow, ...] = ()


class AggSel:
    """One operator's selection.

    Args:
        selections: one per aggregate, all with the same groups.
    """

    def __init__(self, selections: Sequence[Selection]) -> None:
        # Selections speak of any row, this class of one kind.
        self._ranks: list[Callable[[Any], Any]] = [one.rank for one in selections]
        self._key: Callable[[Any], Key] = selections[0].key
        self._groups: dict[Key, _Group] = {}
        self._dirty: dict[Key, None] = {}
        self._fresh: list[PathRow] = []
        self._mentioning: defaultdict[int, dict[PathRow, None]] = defaultdict(dict)

    def add(self, row: PathRow) -> None:
        """Take a row in."""
        key = self._key(row)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group()
        group.rows[row] = None
        self._fresh.append(row)
        best = group.best
        if not best:
            group.best = [row] * len(self._ranks)
            self._dirty[key] = None
            return
        for place, rank in enumerate(self._ranks):
            if rank(row) < rank(best[place]):
                best[place] = row
                self._dirty[key] = None

    def remove(self, row: PathRow) -> bool:
        """Take a row out; say whether it was here."""
        key = self._key(row)
        group = self._groups.get(key)
        if group is None or row not in group.rows:
            return False
        del group.rows[row]
        if row in group.best:
            self._dirty[key] = None
            # A rank that the row did not hold keeps its best row.
            group.best = (
                [
                    self._least(group, place) if best == row else best
                    for place, best in enumerate(group.best)
                ]
                if group.rows
                else []
            )
        return True

    def _least(self, group: _Group, place: int) -> PathRow:
        return min(group.rows, key=self._ranks[place])

    def bury(self, dying: int) -> list[PathRow]:
        """Drop the rows that mention dying variables; give those that had been passed on."""
        for row in self._fresh:
            for variable in members(row.product):
                self._mentioning[variable][row] = None
        self._fresh.clear()
        fallen: list[PathRow] = []
        for variable in members(dying):
            for row in self._mentioning.pop(variable, ()):
                if not self.remove(row):
                    continue
                group = self._groups[self._key(row)]
                if row in group.passed:
                    # Whoever got it hears of the death itself.
                    group.passed = tuple([other for other in group.passed if other != row])
                    fallen.append(row)
        return fallen

    def settle(self) -> Iterator[tuple[list[PathRow], list[PathRow]]]:
        """Give, for each group that changed, the rows to take back and the rows to pass on."""
        dirty, self._dirty = self._dirty, {}
        for key in dirty:
            group = self._groups[key]
            before, after = group.passed, tuple(dict.fromkeys(group.best))
            if not group.rows:
                del self._groups[key]
            if before != after:
                group.passed = after
                gone = [row for row in before if row not in after]
                yield gone, [row for row in after if row not in before]

    def passed(self) -> Iterator[PathRow]:
        """Returns the rows passed on."""
        for group in self._groups.values():
            yield from group.passed

    def rows(self) -> Iterator[PathRow]:
        """Returns all rows kept."""
        for group in self._groups.values():
            yield from group.rows

    def forget(self) -> None:
        """Forget which rows mentioned variables, once no row is left."""
        if not self._groups:
            self._fresh.clear()
            self._mentioning.clear()
