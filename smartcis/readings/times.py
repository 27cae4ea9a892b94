"""Times of measurement: read from a reading, and refused where no live view can use them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from smartcis.readings.errors import BadTime

FUTURE_S = 60.0  # clocks of gateways differ by seconds
PAST_S = 24 * 3600.0  # older readings belong into an import, not into a live view


def check_time(at_s: float, now_s: float) -> None:
    """Refuses a time of measurement that no live view can use.

    Raises:
        BadTime: in the future, or too long ago.
    """
    if at_s > now_s + FUTURE_S:
        raise BadTime(
            "the time lies in the future",
            found=f"{at_s - now_s:.0f} s ahead",
            exists=[f"up to {FUTURE_S:.0f} s ahead"],
            attempt="set the gateway's clock",
        )
    if at_s < now_s - PAST_S:
        raise BadTime(
            "the reading is too old for a live view",
            found=f"{now_s - at_s:.0f} s ago",
            exists=[f"up to {PAST_S:.0f} s ago"],
        )


def measured_s(reading: Mapping[str, Any]) -> float:
    """Returns when a reading was measured, seconds since the epoch.

    Raises:
        BadTime: it does not say so.
    """
    at, at_s = reading.get("at"), reading.get("at_s")
    if at is not None and at_s is not None:
        raise BadTime("give at or at_s, not both", exists=("at", "at_s"))
    number = at_s if at is None else at
    if isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number):
        return float(number)
    moment = _moment(at) if isinstance(at, str) else None
    if moment is None:
        raise BadTime(
            "not a time",
            found=repr(number)[:40],
            exists=("ISO 8601 with a zone", "seconds since 1970"),
            attempt="2026-11-21T08:00:00Z is one",
        )
    if moment.tzinfo is None:
        raise BadTime(
            "the time has no zone", found=str(at)[:40], attempt="2026-11-21T08:00:00Z is one"
        )
    return moment.timestamp()


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
