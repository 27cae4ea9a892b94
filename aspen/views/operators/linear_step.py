"""LinearStep: a rule that reads the recursion once, from the recursive row to the derived row.

Law:        enumerates every (source, derived row) of a recursive row exactly once.
Algorithm:  a chain of PipelinedHashJoins with what filters and projections stand between; each
            join keeps the rows that came from the recursive side, the other side is an input.
State:      per join: key -> source -> row as it reached the join.
Receives:   recursive rows, changes of the inputs.     Gives: derivations to `sink`.
Ends:       linear: the recursion occurs once, so each derivation has one recursive row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aspen.model.schema import Row
from aspen.views.node import Key, has_null
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.recursive_input import RecursiveInput

Sink = Callable[[Source, Row], None]


@dataclass(frozen=True, slots=True)
class StepJoin:
    """One join of the step.

    Args:
        input: its non-recursive side.
        key: from the row that reaches the join to the input's key.
        after: from that row and a partner to the row at the next join, or None where a
            predicate fails.
    """

    input: RecursiveInput
    key: Callable[[Row], Key]
    after: Callable[[Row, Row], Row | None]


class LinearStep:
    """A rule with one recursive row.

    Args:
        reads: the number of the recursive relation it reads.
        gives: the number of the one it derives.
        head: from a recursive row to the row at the first join, None where a predicate fails.
        joins: from the recursive row outwards.
        mark: what tells this rule's sources from another's.
    """

    def __init__(
        self,
        reads: int,
        gives: int,
        head: Callable[[Row], Row | None],
        joins: tuple[StepJoin, ...],
        mark: tuple[int, ...],
    ) -> None:
        self.reads = reads
        self.gives = gives
        self.head = head
        self.joins = joins
        self.mark = mark
        self.sides = tuple(join.input for join in joins)
        self.left: list[dict[Key, dict[Source, Row]]] = [{} for _ in joins]

    @property
    def entries(self) -> tuple[tuple[int, LinearStep], ...]:
        """By which relation's rows derivations of this rule begin, and who enumerates them."""
        return ((self.reads, self),)

    def premises(self, source: Source) -> tuple[Group, ...]:
        """Returns the groups whose rows a derivation used."""
        return (source[0],)

    def taken(self, source: Source) -> Iterator[tuple[RecursiveInput, Row]]:
        """Returns the input rows a derivation used."""
        return zip(self.sides, source[1:], strict=False)

    def add(self, start: Source, row: Row, sink: Sink) -> None:
        """Enumerate the derivations of a recursive row that came, `start` being its source."""
        reached = self.head(row)
        if reached is not None:
            self._add(0, start, reached, sink)

    def remove(self, start: Source, row: Row, sink: Sink) -> None:
        """Enumerate the derivations of a recursive row that goes."""
        reached = self.head(row)
        if reached is not None:
            self._remove(0, start, reached, sink)

    def _add(self, place: int, source: Source, row: Row, sink: Sink) -> None:
        if place == len(self.joins):
            sink(source + self.mark, row)
            return
        join = self.joins[place]
        key = join.key(row)
        if has_null(key, join.input.width):
            return
        left = self.left[place]
        bucket = left.get(key)
        if bucket is None:
            left[key] = {source: row}
        else:
            bucket[source] = row
        after, mark = join.after, self.mark
        if place + 1 == len(self.joins):
            for partner in join.input.matches(key):
                reached = after(row, partner)
                if reached is not None:
                    sink((*source, partner, *mark), reached)
            return
        for partner in join.input.matches(key):
            reached = after(row, partner)
            if reached is not None:
                self._add(place + 1, (*source, partner), reached, sink)

    def _remove(self, place: int, source: Source, row: Row, sink: Sink) -> None:
        if place == len(self.joins):
            sink(source + self.mark, row)
            return
        join = self.joins[place]
        key = join.key(row)
        left = self.left[place]
        bucket = left.get(key)
        if bucket is None or bucket.pop(source, None) is None:
            return
        if not bucket:
            del left[key]
        for partner in join.input.matches(key):
            reached = join.after(row, partner)
            if reached is not None:
                self._remove(place + 1, (*source, partner), reached, sink)

    def bury(self, sink: Sink) -> None:
        """Enumerate the derivations that used rows which went from the inputs; hide those rows."""
        for place, join in enumerate(self.joins):
            for key, partners in join.input.gone.items():
                for source, row in list(self.left[place].get(key, {}).items()):
                    for partner in partners:
                        reached = join.after(row, partner)
                        if reached is not None:
                            self._remove(place + 1, (*source, partner), reached, sink)
            join.input.hide_gone()

    def arise(self, sink: Sink) -> None:
        """Enumerate the derivations that use rows which came to the inputs; show those rows."""
        for place, join in enumerate(self.joins):
            for key, partners in join.input.born.items():
                for source, row in list(self.left[place].get(key, {}).items()):
                    for partner in partners:
                        reached = join.after(row, partner)
                        if reached is not None:
                            self._add(place + 1, (*source, partner), reached, sink)
            join.input.show_born()

    def clear(self) -> None:
        """Forget all rows."""
        self.left = [{} for _ in self.joins]
