"""Pattern: a row of which some values are known.

('m12', ANY, ANY)    fits    ('m12', 'r-1', 7)
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.model.schema import Row, Value


class Any_:  # noqa: N801 - `Any` is taken, and this one is a value
    """Any value at all."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ANY"


ANY = Any_()
Pattern = tuple[Value | Any_, ...]


def pattern(row: Row, free: Iterable[int]) -> Pattern:
    """Returns the pattern of a row with some values left open.

    Raises:
        IndexError: an index the row has not.
    """
    values: list[Value | Any_] = list(row)
    for index in free:
        values[index] = ANY
    return tuple(values)


def fits(row: Row, wanted: Pattern) -> bool:
    """Whether a row is one of a pattern's; null is a value like any other here."""
    return len(row) == len(wanted) and all(
        value is ANY or (value == mine and (value is None) == (mine is None))
        for mine, value in zip(row, wanted, strict=True)
    )
