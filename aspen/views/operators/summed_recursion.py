"""SummedRecursion: a UNION ALL recursion of which only counts and sums are kept, by key.

    link        a→b 2    b→c 3    a→c 1            -1 b→c 3
    uses(a, b)  2
    uses(a, c)           6        7                1             2·3 leaves again

Law:        contents == per key the number of ways, and the sums of their values, where the
            recursion ends; else the view is in error.
Algorithm:  own; semi-naive evaluation over sums: Δ(S ⋈ L) = S ⋈ ΔL + ΔS ⋈ (L + ΔL). The second
            part goes on superstep by superstep, with one change per key. It is linear, so what
            goes is added with its sign and nothing is derived twice.
State:      key -> number of ways, and per value how many are not null and their sum; indexes of
            the keys for rules that join them.
Receives:   deltas of the base rows and of the inputs.     Gives: -1 for replaced rows, +1 for new.
Ends:       a change that goes on for more supersteps than there are keys runs in a cycle, which is
            an error, as are more keys than the recursion may have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from aspen.algebra.plan import AggregateFunction
from aspen.algebra.whole import fits, refuse
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import INT_MOST, Row, Value
from aspen.views.node import EndlessRecursion, Indices, Lookups, Node, Way, row_of
from aspen.views.operators.min_ship import SettledIndex, Source
from aspen.views.operators.rules import RecursiveRule, Rules, Sink
from aspen.views.operators.traversal import MAX_ROWS
from aspen.views.work import RECURSION

Sums = list[int]
"""The number of ways; then per value how many of them are not null, and their sum."""


@dataclass(frozen=True, slots=True)
class SumsAsked:
    """What a query wants of each key.

    Args:
        keys: positions in the key.
        values: per aggregate its function and the position of its value; None for COUNT(*).
        partial: whether sums are added up further, so that one beyond INT is no error yet.
    """

    keys: Indices
    values: tuple[tuple[AggregateFunction, int | None], ...]
    partial: bool

    def key(self, row: Row) -> Row:
        """Returns the key of a row of the answer."""
        return tuple([row[self.keys.index(position)] for position in range(len(self.keys))])

    def row(self, key: Row, sums: Sums) -> Row:
        """Returns a row of the answer.

        Raises:
            OutOfRange: a sum of INT that is none.
        """
        values = [self._value(*one, sums) for one in self.values]
        return (*[key[index] for index in self.keys], *values)

    def _value(self, function: AggregateFunction, value: int | None, sums: Sums) -> Value:
        if value is None:
            return sums[0]
        some, total = sums[1 + 2 * value : 3 + 2 * value]
        if function is AggregateFunction.COUNT:
            return some
        if not some:
            return None
        if not self.partial and not fits(total):
            refuse("=", "SUM", total)
        return total


class _Ways:
    """The ways to a key, added up."""

    __slots__ = ("key", "sums")

    def __init__(self, key: Row, sums: Sums) -> None:
        self.key = key
        self.sums = sums


class SummedRecursion(Node):
    """A recursive view of sums.

    Args:
        rules: give a key, then a factor and an addend per value.
        anew: per rule, per value, whether the addend alone is the value.
        kept: indices of the key in what the recursion begins with.
        values: indices of the values there.
        indexes: of the keys, for the rules.
        asked: what the answer says of a key.
        most: keys there may be.
        name: of the recursion, for errors.
    """

    what = RECURSION

    def __init__(
        self,
        rules: Rules,
        anew: Sequence[tuple[bool, ...]],
        kept: Indices,
        values: Indices,
        indexes: Sequence[SettledIndex],
        asked: SumsAsked,
        most: int | None,
        name: str,
    ) -> None:
        super().__init__(*dict.fromkeys(side.node for side in rules.sides))
        self._rules = rules
        self._base = rules.bases[0]
        self._key, self._width = row_of(kept), len(kept)
        self._values = values
        self._indexes = tuple(indexes)
        self._asked = asked
        self._most = most or MAX_ROWS
        self._name = name
        self._sinks = tuple(map(self._sink, anew))
        self._ways: dict[Row, _Ways] = {}
        self._pending: dict[Row, Sums] = {}
        self._moving: Sums = []
        self._before: dict[Row, Row | None] = {}

    def start(self) -> None:
        """Compute the view from the inputs' contents."""
        self._rules.count_on(self.meter)
        for side in self._rules.sides:
            side.start()
        for row in self._base.matches(()):
            self._begin(row, 1)
        self._settle()
        self._before.clear()

    def stop(self) -> None:
        """Returns the arrangements back."""
        for side in self._rules.sides:
            side.stop()

    def kept(self) -> int:
        """Count the keys."""
        return len(self._ways)

    def contents(self) -> Delta:
        """Returns a row per key."""
        row = self._asked.row
        return {row(ways.key, ways.sums): 1 for ways in self._ways.values()}

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """All that was added up, together."""
        del asked
        key = self._asked.key(row)
        found: list[tuple[Node, Row]] = [
            (self._base.node, base) for base in self._base.matches(()) if self._key(base) == key
        ]
        told = self._asked.row
        for step in self._rules.steps:
            for ways in self._ways.values():
                for source, derived in _derived(step, ways):
                    if derived[: self._width] == key:
                        beside = self._rules.taken(source)
                        found.append((self, told(ways.key, ways.sums)))
                        found += [(side.node, used) for side, used in beside if not side.absent]
        return [tuple(found)]

    def step(self) -> Delta:
        """Take in one epoch of changes."""
        for side in self._rules.sides:
            side.begin()
        for row in self._base.gone.get((), ()):
            self._begin(row, -1)
        for row in self._base.born.get((), ()):
            self._begin(row, 1)
        # What the changed inputs make of the sums before; those move afterwards.
        for step, sink in zip(self._rules.steps, self._sinks, strict=True):
            step.bury(self._of_settled(step, sink, -1))
            step.arise(self._of_settled(step, sink, 1))
        self._settle()
        out: Delta = {}
        told = self._asked.row
        for key, before in self._before.items():
            ways = self._ways.get(key)
            after = None if ways is None else told(key, ways.sums)
            if before != after:
                if before is not None:
                    accumulate(out, before, -1)
                if after is not None:
                    accumulate(out, after, 1)
        self._before.clear()
        for side in self._rules.sides:
            side.end()
        return out

    def _begin(self, row: Row, sign: int) -> None:
        """Add a row that the recursion begins with, or take it away."""
        sums = self._pending_at(self._key(row))
        sums[0] += sign
        for at, index in enumerate(self._values):
            value: Any = row[index]
            if value is not None:
                sums[1 + 2 * at] += sign
                sums[2 + 2 * at] += sign * value

    def _pending_at(self, key: Row) -> Sums:
        sums = self._pending.get(key)
        if sums is None:
            sums = self._pending[key] = [0] * (1 + 2 * len(self._values))
        return sums

    def _sink(self, anew: tuple[bool, ...]) -> Sink:
        """Returns what adds what a rule makes of the sums that move."""
        width = self._width

        def add(_source: Source, derived: Row) -> None:
            moving = self._moving
            sums = self._pending_at(derived[:width])
            sums[0] += moving[0]
            at = 1
            for alone in anew:
                factor: Any = derived[width + at - 1]
                addend: Any = derived[width + at]
                if factor is not None and addend is not None:
                    some = moving[0] if alone else moving[at]
                    sums[at] += some
                    sums[at + 1] += addend * some
                    if not alone:
                        sums[at + 1] += factor * moving[at + 1]
                at += 2

        return add

    def _of_settled(self, step: RecursiveRule, sink: Sink, sign: int) -> Sink:
        """Returns what adds what a rule makes of the sums of a key, or takes it away."""

        def add(source: Source, derived: Row) -> None:
            ways: Any
            (ways,) = step.premises(source)
            self._moving = [sign * one for one in ways.sums]
            sink(source, derived)

        return add

    def _settle(self) -> None:
        """Let changes go on, superstep by superstep, until none is left."""
        readers = [
            (reader, sink)
            for step, sink in zip(self._rules.steps, self._sinks, strict=True)
            for _, reader in step.entries
        ]
        supersteps = 0
        while self._pending:
            moves, self._pending = self._pending, {}
            for key, sums in moves.items():
                if any(sums):
                    self._moving = sums
                    start = (self._settled(key, sums),)
                    for reader, sink in readers:
                        reader.derive(start, key, sink)
            supersteps += 1
            if len(self._ways) > self._most:
                raise EndlessRecursion(
                    f"{self._name} derived more than {self._most} rows",
                    found=self._name,
                    attempt="bound it: MIN or MAX over a growing column, or a WHERE on it",
                )
            # A longer way has met a key twice, and so goes round for ever.
            if supersteps > len(self._ways) and supersteps > len({*self._ways, *self._before}):
                self._refuse_cycle()
        self._moving = []

    def _settled(self, key: Row, change: Sums) -> _Ways:
        """Add a change to the sums of a key."""
        ways = self._ways.get(key)
        if ways is None:
            self._before.setdefault(key, None)
            ways = self._ways[key] = _Ways(key, change)
            for index in self._indexes:
                index.add(ways, key)
            return ways
        if key not in self._before:
            self._before[key] = self._asked.row(key, ways.sums)
        ways.sums = [one + more for one, more in zip(ways.sums, change, strict=True)]
        if ways.sums[0] > INT_MOST:
            self._refuse_cycle()
        if not any(ways.sums):
            del self._ways[key]
            for index in self._indexes:
                index.remove(ways, key)
        return ways

    def _refuse_cycle(self) -> NoReturn:
        raise EndlessRecursion(
            f"{self._name} goes round in a cycle, so there are ways without end",
            found=self._name,
            attempt="count the steps and bound them: WHERE steps < 10",
        )


def _derived(step: RecursiveRule, ways: _Ways) -> list[tuple[Source, Row]]:
    found: list[tuple[Source, Row]] = []
    for _, reader in step.entries:
        reader.derive((ways,), ways.key, lambda source, row: found.append((source, row)))
    return found
