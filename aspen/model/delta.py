"""Delta: a change of a relation, each row with a signed weight.

Law: deltas form a commutative group under `add`, with the empty delta as zero; no delta holds a
row of weight 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aspen.model.arrays import row_in
from aspen.model.schema import Row, Value

Delta = dict[Row, int]


def delta_of(changes: Iterable[tuple[Row, int]]) -> Delta:
    """Consolidate changes into a delta: equal rows are summed, zeroes dropped."""
    delta: Delta = {}
    for row, weight in changes:
        accumulate(delta, row, weight)
    return delta


def accumulate(delta: Delta, row: Row, weight: int) -> None:
    """Add one change to `delta` in place, dropping the row when its weight becomes 0."""
    total = delta.get(row, 0) + weight
    if total:
        delta[row] = total
    else:
        delta.pop(row, None)


def merge(target: Delta, change: Delta) -> None:
    """Add a whole delta to `target` in place."""
    if not target:
        target.update(change)
        return
    weigh = target.get
    for row, weight in change.items():
        total = weigh(row, 0) + weight
        if total:
            target[row] = total
        else:
            del target[row]


def add(left: Delta, right: Delta) -> Delta:
    """Returns the sum of two deltas."""
    total = dict(left)
    merge(total, right)
    return total


def negate(delta: Delta) -> Delta:
    """Returns the delta that undoes `delta`."""
    return {row: -weight for row, weight in delta.items()}


def delta_out(delta: Delta) -> list[list[Value]]:
    """Returns a delta as JSON can say it: of each row its weight, and then its values."""
    return [[weight, *row] for row, weight in delta.items()]


def delta_in(rows: Iterable[list[Any]]) -> Delta:
    """Read a delta back."""
    return {row_in(row[1:]): row[0] for row in rows}
