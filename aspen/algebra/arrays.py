"""What the functions over arrays compute: positions are counted from 1, from the end below 0.

An array that is computed has at most 65,536 elements, the letters of its texts counted with them;
a longer one is null, like a text that is too long.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from aspen.algebra.texts import TEXT_MOST
from aspen.model.arrays import Array, Element

_PLAIN = re.compile(r"[^\s,'\"\[\]{}()\\=:](?:[^,'\"\[\]{}()\\=:]*[^\s,'\"\[\]{}()\\=:])?")


def made(values: Iterable[Element]) -> Array | None:
    """Returns values as an array, null where it is too long."""
    found = Array(values)
    return found if size(found) <= TEXT_MOST else None


def size(values: Array) -> int:
    """Returns how long an array is, the letters of its texts counted with it."""
    return len(values) + sum(len(value) for value in values if isinstance(value, str))


def of_values(*values: Element) -> Array | None:
    """Returns an array of values as they are written."""
    return made(values)


def appended(values: Array | None, value: Element) -> Array | None:
    """Returns an array with a value behind; a null array has none before it."""
    return made((*(values or ()), value))


def prepended(value: Element, values: Array | None) -> Array | None:
    """Returns an array with a value in front; a null array has none behind it."""
    return made((value, *(values or ())))


def concatenated(*arrays: Array | None) -> Array | None:
    """Returns arrays one behind the other; nulls are left out."""
    return made(value for one in arrays if one is not None for value in one)


def contains(values: Array, value: Element) -> bool:
    """Whether a value that is not null is in an array."""
    return value in values


def equals_any(values: Array | None, value: Element) -> bool | None:
    """Whether a value equals one of an array's; null where only a null may be it."""
    if not values:
        return False
    return (
        True
        if value in values and value is not None
        else None
        if None in {*values, value}
        else False
    )


def position(values: Array | None, value: Element) -> int | None:
    """Returns where a value is first, a null too; null where it is not."""
    return values.index(value) + 1 if values is not None and value in values else None


def at(values: Array | str, index: int) -> Any:
    """Returns what is at a position: null beyond an array's ends, no letter beyond a text's."""
    place = index - 1 if index > 0 else len(values) + index
    inside = index and 0 <= place < len(values)
    return values[place] if inside else "" if isinstance(values, str) else None


def part(values: Array | str | None, first: int | None, last: int | None) -> Any:
    """Returns what lies from one position to another, both included; null for an open end."""
    if values is None:
        return None
    begin, end = (
        None if index is None else index if index >= 0 else len(values) + index + 1
        for index in (first, last)
    )
    found = values[max((begin or 1) - 1, 0) : len(values) if end is None else max(end, 0)]
    return found if isinstance(found, str) else Array(found)


def distinct(values: Array) -> Array:
    """Returns each value once, in the order in which they come; nulls are left out."""
    return Array(dict.fromkeys(value for value in values if value is not None))


def ascending(values: Array) -> Array:
    """Returns the values in order, nulls first."""
    known = sorted(value for value in values if value is not None)
    return Array([*[None] * (len(values) - len(known)), *known])


def descending(values: Array) -> Array:
    """Returns the values in falling order, nulls last."""
    return Array(reversed(ascending(values)))


def has_any(values: Array, others: Array) -> bool:
    """Whether two arrays share a value that is not null."""
    return not {*values, None}.isdisjoint({*others} - {None})


def has_all(values: Array, others: Array) -> bool:
    """Whether an array has all values of another; nulls are not asked for."""
    return {*others} - {None} <= {*values}


def shared(values: Array | None, others: Array | None) -> Array | None:
    """Returns each value of an array that another has, too; nulls are left out."""
    if values is None:
        return None
    return Array(value for value in distinct(values) if value in (others or ()))


def total(values: Array) -> float | None:
    """Returns the sum of numbers, null where there are none; an INT may be beyond 64 bits."""
    numbers: list[Any] = [value for value in values if value is not None]
    if not numbers or not isinstance(numbers[0], float):
        return sum(numbers) if numbers else None
    try:
        found = math.fsum(numbers)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def mean(values: Array) -> float | None:
    """Returns the average of numbers, null where there are none."""
    numbers = [float(value) for value in values if value is not None]
    try:
        return math.fsum(numbers) / len(numbers) if numbers else None
    except OverflowError:
        return None


def least(values: Array) -> Element:
    """Returns the least value, null where there is none."""
    return min((value for value in values if value is not None), default=None)


def greatest(values: Array) -> Element:
    """Returns the greatest value, null where there is none."""
    return max((value for value in values if value is not None), default=None)


def known(values: Array) -> int:
    """Returns how many values are not null."""
    return sum(value is not None for value in values)


def joined(values: Array, between: str) -> str | None:
    """Returns the values as one text, nulls left out; null where all are, or it is too long."""
    known = [_element(value) for value in values if value is not None]
    found = between.join(known)
    return found if len(found) <= TEXT_MOST and len(known) >= min(len(values), 1) else None


def split(text: str, between: str) -> Array | None:
    """Returns the parts of a text, its letters where nothing stands between them."""
    return made(text.split(between) if between else text or [""])


def spelt(values: Array) -> str | None:
    """Returns an array as a text, `[1, 2]`; texts that would not read as one stand in quotes."""
    found = f"[{', '.join(_quoted(value) for value in values)}]"
    return found if len(found) <= TEXT_MOST else None


def _element(value: Element) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(value: Element) -> str:
    if value is None:
        return "NULL"
    if not isinstance(value, str) or (_PLAIN.fullmatch(value) and value.upper() != "NULL"):
        return _element(value)
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
