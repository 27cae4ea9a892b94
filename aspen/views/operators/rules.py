"""Rules: the compiled rules of a recursion, and what a derivation made by them used.

    rule      base(x, y).                 step 0: view(x, z), link(z, y) → view(x, y)
    source    (None, base row)            (group of view(x, z), link row)

Law:        a source names its derivation: equal sources, equal rule and equal rows used.
Algorithm:  own: bases and steps by the number of the relation they give.
State:      none: the rules are fixed when the plan is compiled.
Receives:   sources.     Gives: the groups and input rows they used.
Ends:       always: one pass over a source.
"""

from __future__ import annotations

from collections.abc import Iterator

from aspen.model.schema import Row
from aspen.views.operators.joined_step import JoinedStep
from aspen.views.operators.linear_step import LinearStep
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.recursive_input import RecursiveInput

Step = LinearStep | JoinedStep


class Rules:
    """What derives the rows of a recursion.

    Args:
        bases: the rows each relation begins with.
        steps: the rules that read the recursion.

    Sources end with the number of their base or step, where there is more than one.
    """

    def __init__(self, bases: tuple[RecursiveInput, ...], steps: tuple[Step, ...]) -> None:
        self.bases = bases
        self.steps = steps
        self.sides: tuple[RecursiveInput, ...] = (
            *bases,
            *(side for step in steps for side in step.sides),
        )

    def begun(self, number: int) -> Iterator[tuple[Source, Row]]:
        """Returns the rows a relation begins with, with their sources."""
        for row in self.bases[number].matches(()):
            yield self.first(number, row), row

    def first(self, number: int, row: Row) -> Source:
        """Returns the source of a row that a relation begins with."""
        return (None, row) if len(self.bases) == 1 else (None, row, number)

    def premises(self, source: Source) -> tuple[Group, ...]:
        """Returns the groups whose rows a derivation used."""
        return () if source[0] is None else self._step(source).premises(source)

    def taken(self, source: Source) -> Iterator[tuple[RecursiveInput, Row]]:
        """Returns the input rows a derivation used."""
        if source[0] is None:
            yield self.bases[source[-1] if len(self.bases) > 1 else 0], source[1]
        else:
            yield from self._step(source).taken(source)

    def _step(self, source: Source) -> Step:
        return self.steps[source[-1] if len(self.steps) > 1 else 0]
