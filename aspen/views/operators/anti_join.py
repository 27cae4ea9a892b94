"""AntiJoin: left rows without a partner on the right, NOT EXISTS.

Law:        contents == left rows for which no right row matches; a null key matches nothing.
Algorithm:  changed left rows are tested against the new right; for every key the right changed
            at, the old left rows are tested before and after.
State:      none of its own: the inputs' arrangements.
Receives:   deltas of two bags.     Gives: a delta of the left bag.
Ends:       always: one test per changed row, and per left row at a changed key.
"""

from __future__ import annotations

from collections.abc import Collection

from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.views.node import Arrangement
from aspen.views.operators.pipelined_hash_join import TwoSided


class AntiJoinOperator(TwoSided):
    """Left rows that match nothing."""

    what = "EXISTS or an outer join"

    def step(self) -> Delta:
        """Test what the epoch may have changed."""
        assert self._sides is not None
        left, right = self.inputs
        lefts, rights = (side.index for side in self._sides)
        changed = Arrangement(self._indices[1], right.delta).index if right.delta else {}
        out: Delta = {}
        for key, moved in changed.items():
            old = rights.get(key, {})
            new = self._after(old, moved)
            looked_at = lefts.get(key, {})
            self.meter.spend(len(looked_at), self.what)
            for row, weight in looked_at.items():
                before, after = self._free(row, old), self._free(row, new)
                if before != after:
                    accumulate(out, row, weight if after else -weight)
        for row, weight in left.delta.items():
            key = self._keys[0](row)
            partners = rights.get(key, {})
            if key in changed:
                partners = self._after(partners, changed[key])
            if self._free(row, partners):
                accumulate(out, row, weight)
        return out

    def contents(self) -> Delta:
        """Test every left row."""
        assert self._sides is not None
        rights = self._sides[1].index
        return {
            row: weight
            for row, weight in self.inputs[0].contents().items()
            if self._free(row, rights.get(self._keys[0](row), {}))
        }

    @staticmethod
    def _after(old: Delta, moved: Delta) -> Delta:
        new = dict(old)
        for row, weight in moved.items():
            accumulate(new, row, weight)
        return new

    def _free(self, row: Row, partners: Collection[Row]) -> bool:
        residual = self._residual
        if residual is None:
            return not partners
        self.meter.spend(len(partners), self.what)
        return not any(residual(row + other) for other in partners)
