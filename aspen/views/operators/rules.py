"""Rules: the compiled rules of a recursion, and what a derivation made by them used.

    rule      base(x, y).                 step 0: view(x, z), link(z, y) → view(x, y)
    source    (None, base row)            (group of view(x, z), link row)

Law:        a source names its derivation: equal sources, equal rule and equal rows used.
Receives:   sources.     Gives: the groups and input rows they used.
"""

from __future__ import annotations

from collections.abc import Iterator

from aspen.model.schema import Row
from aspen.views.operators.linear_step import LinearStep
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.recursive_input import RecursiveInput


class Rules:
    """What derives the rows of a recursion.

    Args:
        base: the rows to begin with.
        steps: the branches of the recursive step.
    """

    def __init__(self, base: RecursiveInput, steps: tuple[LinearStep, ...]) -> None:
        self.base = base
        self.steps = steps
        self.sides = (base, *(join.input for step in steps for join in step.joins))

    def premises(self, source: Source) -> tuple[Group, ...]:
        """Give the groups whose rows a derivation used."""
        return () if source[0] is None else (source[0],)

    def taken(self, source: Source) -> Iterator[tuple[RecursiveInput, Row]]:
        """Give the input rows a derivation used."""
        if source[0] is None:
            yield self.base, source[1]
            return
        step = self.steps[source[-1] if len(self.steps) > 1 else 0]
        for join, row in zip(step.joins, source[1:], strict=False):
            yield join.input, row
