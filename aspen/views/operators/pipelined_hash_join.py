"""PipelinedHashJoin: pairs of rows equal on a key that pass a residual predicate.

Law:        Δ(A ⋈ B) = ΔA ⋈ B + A ⋈ ΔB + ΔA ⋈ ΔB, with A and B as they were before the epoch.
Algorithm:  [LTZIL09] section IV.C on bags: probe the other side's index with each change.
State:      none of its own: the inputs' arrangements, which other joins may share.
Receives:   deltas of two bags.     Gives: the pairs, weights multiplied.
Ends:       always: one probe per changed row and partner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.views.node import Arrangement, Indices, Key, Lookups, Node, Way, key_of


class TwoSided(Node):
    """Takes the arrangements of both inputs when it starts and gives them back when it stops.

    Args:
        left_indices: key columns of the left rows.
        right_indices: key columns of the right rows, pair by pair.
        residual: a further test over the joined row.
        width: columns on the left.
    """

    def __init__(
        self,
        left: Node,
        right: Node,
        left_indices: Indices,
        right_indices: Indices,
        residual: Callable[[Row], bool] | None,
        width: int,
    ) -> None:
        super().__init__(left, right)
        self._indices = (left_indices, right_indices)
        self._keys = (key_of(left_indices), key_of(right_indices))
        self._residual = residual
        self._width = width
        self._sides: tuple[Arrangement, Arrangement] | None = None

    def start(self) -> None:
        """Take the arrangements of both sides."""
        left, right = self.inputs
        self._sides = (left.arrange(self._indices[0]), right.arrange(self._indices[1]))

    def stop(self) -> None:
        """Returns the arrangements back."""
        if self._sides is not None:
            for node, side in zip(self.inputs, self._sides, strict=True):
                node.disarrange(side)


class PipelinedHashJoin(TwoSided):
    """An equi-join with a residual; without key columns, a theta join."""

    what = "a join"

    def step(self) -> Delta:
        """Join each side's changes with the other side as it was, then with each other."""
        assert self._sides is not None
        left, right = self.inputs
        out: Delta = {}
        if left.delta:
            self._pair_left(out, left.delta, self._sides[1].index)
        if right.delta:
            self._pair_right(out, right.delta, self._sides[0].index)
        if left.delta and right.delta:
            changed = Arrangement(self._indices[1], right.delta)
            self._pair_left(out, left.delta, changed.index)
        return out

    def contents(self) -> Delta:
        """Join all rows."""
        assert self._sides is not None
        out: Delta = {}
        self._pair_left(out, self.inputs[0].contents(), self._sides[1].index)
        return out

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Take the pair apart."""
        del asked
        left, right = self.inputs
        return [((left, row[: self._width]), (right, row[self._width :]))]

    def _pair_left(self, out: Delta, rows: Delta, index: dict[Key, dict[Row, int]]) -> None:
        key, residual, spend = self._keys[0], self._residual, self.meter.spend
        for row, weight in rows.items():
            partners = index.get(key(row))
            if partners is None:
                continue
            if len(partners) > 1:
                spend(len(partners), self.what)
            for other, times in partners.items():
                joined = row + other
                if residual is None or residual(joined):
                    accumulate(out, joined, weight * times)

    def _pair_right(self, out: Delta, rows: Delta, index: dict[Key, dict[Row, int]]) -> None:
        key, residual, spend = self._keys[1], self._residual, self.meter.spend
        for row, weight in rows.items():
            partners = index.get(key(row))
            if partners is None:
                continue
            if len(partners) > 1:
                spend(len(partners), self.what)
            for other, times in partners.items():
                joined = other + row
                if residual is None or residual(joined):
                    accumulate(out, joined, weight * times)
