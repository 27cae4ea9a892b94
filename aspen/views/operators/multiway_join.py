"""MultiwayJoin: what the joins of more than two inputs have in common.

    epoch    ΔA with B old, C old  +  ΔB with A new, C old  +  ΔC with A new, B new

Law:        Δ(A ⋈ B ⋈ C) = ΔA ⋈ B ⋈ C + A' ⋈ ΔB ⋈ C + A' ⋈ B' ⋈ ΔC, where A' = A + ΔA: what changes
            in several inputs in one epoch is counted once, of a table joined with itself, too.
Algorithm:  a delta query per input ([Goebel19] 8 and 13.4): a path of steps outwards from its
            changes. Indexes show the state before the epoch; the changes of earlier inputs lie
            over them as indexes of their own.
State:      none of its own, and no rows that only some of the inputs have led to: the inputs'
            arrangements, which other joins may share.
Receives:   deltas of bags.     Gives: the joined rows, weights multiplied.
Ends:       always: as many steps as the graph has inputs or variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate as running
from itertools import pairwise

from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.views.join_path import Path, Side, Weighed
from aspen.views.node import Arrangement, Index, Lookups, Node, Way, arranged

Sides = list[tuple[Index, ...]]
Overlay = dict[int, Index]
"""The epoch's changes, by the identity of the index they lie over."""


class MultiwayJoin(Node):
    """Joins several inputs at once.

    Args:
        inputs: in the order of their columns.
        widths: how many columns each has.
        paths: one from each input.
    """

    what = "a join"

    def __init__(
        self, inputs: Sequence[Node], widths: Sequence[int], paths: Sequence[Path]
    ) -> None:
        super().__init__(*inputs)
        self._bounds = tuple(pairwise(running(widths, initial=0)))
        self._paths = tuple(paths)
        self._held: dict[Side, Arrangement] = {}
        self._before: list[list[Sides]] = []

    def start(self) -> None:
        """Take the arrangements that the paths look up."""
        for path in self._paths:
            for step in path.steps:
                for side in step.sides:
                    if side not in self._held:
                        node = self.inputs[side.number]
                        self._held[side] = node.arrange(side.indices, side.value)

        held = {side: (arrangement.index,) for side, arrangement in self._held.items()}
        for path in self._paths:
            self._before.append([[held[side] for side in step.sides] for step in path.steps])

    def stop(self) -> None:
        """Returns the arrangements back."""
        for side, arrangement in self._held.items():
            self.inputs[side.number].disarrange(arrangement)

    def step(self) -> Delta:
        """Follow the changes of each input, those of earlier ones made."""
        out: Delta = {}
        over: Overlay = {}
        for number, node in enumerate(self.inputs):
            if node.delta:
                self._follow(out, self._paths[number], node.delta, over)
        return out

    def contents(self) -> Delta:
        """Follow all rows of the input that has the fewest."""
        held = {side.number: len(index.index) for side, index in self._held.items()}
        first = min(range(len(self.inputs)), key=lambda number: held.get(number, 0))
        out: Delta = {}
        self._follow(out, self._paths[first], self.inputs[first].contents(), None)
        return out

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Take the joined row apart."""
        del asked
        parts = [row[begin:end] for begin, end in self._bounds]
        return [tuple(zip(self.inputs, parts, strict=True))]

    def _follow(self, out: Delta, path: Path, rows: Delta, over: Overlay | None) -> None:
        """Add what comes of some rows of a path's first input.

        Args:
            over: the epoch's changes as indexes, more of which are added; None between epochs.
        """
        spend, order = self.meter.spend, path.order
        found: Weighed = rows.items()
        if path.head is not None:
            found = [(row, weight) for row, weight in found if path.head(row)]
        looked_up = self._before[path.start]
        if over is not None and any(node.delta for node in self.inputs[: path.start]):
            looked_up = [
                [self._indexes(side, path.start, over) for side in step.sides]
                for step in path.steps
            ]
        for step, sides in zip(path.steps, looked_up, strict=True):
            found = step.follow(found, sides, spend)
        for known, weight in found:
            accumulate(out, known if order is None else order(known), weight)

    def _indexes(self, side: Side, start: int, over: Overlay) -> tuple[Index, ...]:
        index, node = self._held[side].index, self.inputs[side.number]
        if side.number >= start or not node.delta:
            return (index,)
        changed = over.get(id(index))
        if changed is None:
            changed = over[id(index)] = arranged(node.delta, side.indices, side.value).index
        return (index, changed)
