"""Values as sqllogictest writes them, and whether a result is what a file expects.

A file is first read strictly, as SQLite writes values (`I` whole numbers, `R` three decimals,
`T` texts); failing that, by what the values mean, so that `0.5`, `0.500` and `true`, `1` agree.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from aspen.model.schema import Row, Value

_DIGITS = 9


def written(value: Value, letter: str) -> str:
    """Write a value as SQLite's runner does.

    Args:
        letter: I, R or T.
    """
    if value is None:
        return "NULL"
    if letter == "R" and not isinstance(value, str):
        return f"{float(value):.3f}"
    if letter == "I":
        return str(_whole(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return "".join(c if " " <= c <= "~" or ord(c) > 127 else "@" for c in text) or "(empty)"


def _whole(value: Value) -> int:
    if not isinstance(value, str):
        return int(value) if value is not None and math.isfinite(value) else 0
    digits = ""
    for index, letter in enumerate(value.strip()):
        if not (letter.isdigit() or (index == 0 and letter in "+-")):
            break
        digits += letter
    return int(digits) if digits.strip("+-") else 0


def meaning(text: str) -> str:
    """Returns one spelling to what means the same: numbers, truth values, null."""
    if text in ("NULL", "(empty)"):
        return text
    lowered = text.strip().lower()
    if lowered in ("true", "false"):
        return "1" if lowered == "true" else "0"
    try:
        number = float(lowered)
    except ValueError:
        return text.rstrip()
    if not math.isfinite(number):
        return lowered
    rounded = float(f"{number:.{_DIGITS}g}")
    return repr(int(rounded)) if rounded == int(rounded) else repr(rounded)


def meant(value: Value) -> str:
    """Returns the meaning of a result's value."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return meaning(repr(value))
    return meaning(written(value, "T"))


def letters(types: str, width: int) -> str:
    """Returns one letter for each column; a file that gives none means texts."""
    return (types + "T" * width)[:width]


def expected_rows(lines: Sequence[str], width: int, rows: int) -> list[list[str]]:
    """Read the lines below `----`: one value per line, or one row per line with tabs.

    Args:
        rows: how many the result has, which tells the forms apart.
    """
    if width == 1:
        return [[line] for line in lines]
    by_tab = [line.split("\t") for line in lines]
    if lines and all(len(row) == width for row in by_tab):
        return by_tab
    by_space = [line.split() for line in lines]
    if len(lines) != rows * width and lines and all(len(row) == width for row in by_space):
        return by_space
    if any("\t" in line for line in lines):
        return by_tab
    return [list(lines[i : i + width]) for i in range(0, len(lines), width)]


def digest(values: Sequence[str]) -> str:
    """Returns the MD5 sqllogictest compares long results by."""
    text = "".join(f"{value}\n" for value in values)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def arranged(rows: Sequence[Sequence[str]], sort: str) -> list[str]:
    """Returns the values in the order a query's sort mode asks for."""
    if sort == "valuesort":
        return sorted(value for row in rows for value in row)
    ordered = sorted(map(tuple, rows)) if sort == "rowsort" else list(map(tuple, rows))
    return [value for row in ordered for value in row]


def strict(rows: Sequence[Row], types: str) -> list[list[str]]:
    """Write a result's rows as SQLite's runner does."""
    return [
        [written(v, letter) for v, letter in zip(row, letters(types, len(row)), strict=True)]
        for row in rows
    ]
