"""Names: small numbers for the values of rows, given back when nothing uses them."""

from __future__ import annotations

from typing import Any, NamedTuple

from aspen.model.schema import Row

BLOCK = 512
"""Invariant values whose rows one machine operation handles: a Python integer of 64 bytes."""

SHIFT = 32
MASK = (1 << SHIFT) - 1
"""A key is `block << SHIFT | number of a vertex or edge`."""

_FEW = 24


class Names:
    """Numbers for tuples of values, lowest free number first.

    Law: a number belongs to one tuple from its first use to its last release.
    """

    def __init__(self) -> None:
        self.numbers: dict[Row, int] = {}
        self.values: list[Row] = []
        self._uses: list[int] = []
        self._free: list[int] = []
        self._unused: dict[int, None] = {}

    def use(self, value: Row) -> int:
        """Returns the number of a tuple, and count one more use of it."""
        number = self.numbers.get(value)
        if number is None:
            if self._free:
                number = self._free.pop()
                self.values[number] = value
            else:
                number = len(self.values)
                self.values.append(value)
                self._uses.append(0)
            self.numbers[value] = number
        self._uses[number] += 1
        return number

    def release(self, number: int) -> None:
        """Count one use less; the number stays until `sweep`."""
        self._uses[number] -= 1
        if not self._uses[number]:
            self._unused[number] = None

    def sweep(self) -> list[int]:
        """Take back the numbers nothing uses."""
        gone = [number for number in self._unused if not self._uses[number]]
        for number in gone:
            del self.numbers[self.values[number]]
            self.values[number] = ()
            self._free.append(number)
        self._unused.clear()
        if not self.numbers:
            self.values.clear()
            self._uses.clear()
            self._free.clear()
        return gone


Begun = tuple[int, int, Any]
"""A base row: numbers of its invariant values and its vertex, and its cost."""


class Reached(NamedTuple):
    """Rows at one vertex, by the numbers of their invariant values."""

    vertex: int
    invariant: list[int]

    def rows(self, invariant: list[Row], vertices: list[Row]) -> list[Row]:
        """Spell the rows out: invariant values, then vertex."""
        vertex = vertices[self.vertex]
        return [invariant[number] + vertex for number in self.invariant]


class Costing(NamedTuple):
    """Rows of one invariant value, by the numbers of their vertices, with costs."""

    invariant: int
    costs: dict[int, Any]

    def rows(self, invariant: list[Row], vertices: list[Row]) -> list[Row]:
        """Spell the rows out: invariant values, vertex, cost."""
        values = invariant[self.invariant]
        return [(*values, *vertices[vertex], cost) for vertex, cost in self.costs.items()]


RowGroup = Reached | Costing


def offset_of(invariant: int) -> tuple[int, int]:
    """Returns the block of an invariant value, as it stands in keys, and its bit there."""
    block, bit = divmod(invariant, BLOCK)
    return block << SHIFT, 1 << bit


def members(bits: int) -> list[int]:
    """Returns the positions of the ones in a number, ascending."""
    if bits.bit_count() > _FEW:
        return [index for index, one in enumerate(bin(bits)[:1:-1]) if one == "1"]
    found: list[int] = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
