"""Decimals: exact numbers with a fixed count of digits behind the point.

rows, log, answers     '12.50'    a text with all its digits behind the point
inside a query         1250       the whole number of hundredths, which adds and sorts as it is
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

MOST_DIGITS = 18
"""As many as a whole number of 64 bits surely has."""
USUAL = (18, 3)
"""Digits, and those behind the point, of DECIMAL without a word more."""
_SPELT = re.compile(r"DECIMAL(?:\((\d+)(?:,\s*(\d+))?\))?")
# No number that a query can hold has more digits: rounding happens where it is asked for.
_EXACT = Context(prec=800, Emax=10_000, Emin=-10_000, rounding=ROUND_HALF_UP)


@lru_cache(maxsize=1024)
def digits_of(spelt: str) -> tuple[int, int] | None:
    """Returns how many digits a type has, and how many behind the point; None if it is no DECIMAL.

    >>> digits_of("DECIMAL(10,2)"), digits_of("DECIMAL(5)"), digits_of("DECIMAL(2,3)")
    ((10, 2), (5, 0), None)
    """
    found = _SPELT.fullmatch(spelt)
    if found is None:
        return None
    precision, scale = found[1], found[2]
    digits = USUAL if precision is None else (int(precision), int(scale or 0))
    return digits if 1 <= digits[0] <= MOST_DIGITS and digits[1] <= digits[0] else None


def power(count: int) -> int:
    """Returns how many units of a last digit so many digits further back one is."""
    found: int = 10**count
    return found


def units_of(value: str | float, scale: int) -> int | None:
    """Returns a number in units of its last digit, rounded half away from zero.

    A FLOAT is multiplied and then rounded, as in DuckDB.

    Args:
        scale: digits behind the point.

    Returns:
        None where a text is no number, or a number is not finite.

    >>> units_of("1.005", 2), units_of(-3, 1), units_of("many", 2)
    (101, -30, None)
    """
    if isinstance(value, int):
        return value * power(scale)
    try:
        number = Decimal(value) if isinstance(value, float) else Decimal(value.strip())
        if isinstance(value, float):
            number = Decimal(value * 10.0**scale)
            scale = 0
        return int(number.scaleb(scale, _EXACT).to_integral_value(ROUND_HALF_UP, _EXACT))
    except (ArithmeticError, ValueError):
        return None


def text_of(units: int, scale: int) -> str:
    """Returns a number as it is written.

    Law: `units_of(text_of(n, s), s) == n`.

    >>> text_of(-5, 2), text_of(1250, 2), text_of(7, 0)
    ('-0.05', '12.50', '7')
    """
    digits = str(abs(units)).rjust(scale + 1, "0")
    whole = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
    return f"-{whole}" if units < 0 else whole


def rescaled(units: int, old: int, new: int) -> int:
    """Returns the same number in other units, rounded half away from zero.

    >>> rescaled(125, 2, 1), rescaled(-125, 2, 1), rescaled(5, 0, 2)
    (13, -13, 500)
    """
    if new >= old:
        return units * power(new - old)
    step = power(old - new)
    rounded = (2 * abs(units) + step) // (2 * step)
    return rounded if units >= 0 else -rounded
