"""Times of measurement, as devices spell them."""

from __future__ import annotations

from datetime import datetime, tzinfo

TEXT_LENGTH = 60
LATEST_S = 253_402_300_799.0  # the last second of the year 9999


def moment_s(value: object, zone: tzinfo | None = None) -> float | None:
    """Returns an ISO 8601 text as seconds since the epoch, None for anything else.

    Args:
        zone: of times that say none; without one, they are no times.
    """
    if not isinstance(value, str) or len(value) > TEXT_LENGTH:
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            if zone is None:
                return None
            moment = moment.replace(tzinfo=zone)
        return moment.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def count_s(value: object, per_s: float = 1.0) -> float | None:
    """Returns a count since the epoch in seconds, None for what is no time of this kind.

    Args:
        per_s: how many of its units make a second: 1,000 for milliseconds.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    found = float(value) / per_s
    return found if 0.0 < found < LATEST_S else None
