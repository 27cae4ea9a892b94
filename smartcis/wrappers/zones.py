"""Zones: the names of time zones. Python looks them up in hundreds of files, each time."""

from __future__ import annotations

from functools import cache
from zoneinfo import available_timezones


@cache
def time_zones() -> frozenset[str]:
    """Returns the names of all time zones, such as Europe/Berlin."""
    return frozenset(available_timezones())
