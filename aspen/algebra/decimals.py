"""Functions of decimals inside a query, where a number is the whole number of its last digits.

They compute without a limit; `decimal_within` refuses what has too many digits in the end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from aspen.algebra.whole import OutOfRange
from aspen.model.decimals import power, rescaled, text_of, units_of


def _as_float(units: int, scale: int) -> float | None:
    try:
        return units / power(scale)
    except OverflowError:
        return None


def _within(units: int, precision: int, scale: int) -> int:
    """Refuse a number of more digits.

    Raises:
        OutOfRange: it has more.
    """
    if abs(units) < 10**precision:
        return units
    raise OutOfRange(
        f"a number came out that has more than the {precision} digits of DECIMAL({precision},"
        f"{scale})",
        found=text_of(units, scale)[:80],
        exists=(f"{precision - scale} digits before the point and {scale} behind it",),
        attempt="CAST to a DECIMAL of fewer digits behind the point, or to FLOAT",
    )


def _tried(units: int, precision: int) -> int | None:
    return units if abs(units) < 10**precision else None


COMPUTED: dict[str, tuple[int, Callable[..., Any]]] = {
    "decimal_ceil": (2, lambda units, scale: -(-units // power(scale))),
    "decimal_float": (2, _as_float),
    "decimal_floor": (2, lambda units, scale: units // power(scale)),
    "decimal_minus": (2, operator.sub),
    "decimal_plus": (2, operator.add),
    "decimal_scaled": (3, rescaled),
    "decimal_text": (2, text_of),
    "decimal_times": (2, operator.mul),
    "decimal_units": (2, units_of),
    "decimal_within": (3, _within),
    "try_decimal_within": (2, _tried),
}
"""By name: how many arguments there are, and what is computed."""
