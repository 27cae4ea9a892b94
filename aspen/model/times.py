"""Times as texts: one spelling for each, as DuckDB prints it; its order is the order in time.

DATE         2026-11-23
TIME         13:05:00      13:05:00.25
TIMESTAMP    2026-11-23 13:05:00      2026-11-23 13:05:00.25
TIMESTAMPTZ  2026-11-23 13:05:00+00   2026-11-23 13:05:00.25+00      always in UTC

Law: of two times of one type, the earlier one is the lesser text: `+` is less than `.`, and both
    are less than any digit. Years go from 1 to 9999, seconds down to millionths.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MOMENT_ENDS = "+00"
_LONGEST = 100
_DATE = r"(?P<year>\d{1,4})(?P<mark>[-/])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<part>\d+))?)?"
_ZONE = r"(?:\s*(?P<zone>[Zz]|[+-]\d{1,2}(?::?\d{2}(?::?\d{2})?)?|[A-Za-z_]+(?:/[\w+-]+)*))?"
_DAY = re.compile(rf"\s*{_DATE}(?:(?:T|\s+){_CLOCK}{_ZONE})?\s*", re.ASCII)
_TIME_OF_DAY = re.compile(rf"\s*(?:{_DATE}(?:T|\s+))?{_CLOCK}{_ZONE}\s*", re.ASCII)
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})?:?(\d{2})?")


def date_of(text: str) -> str | None:
    """Returns the date a text begins with, None where it is no time."""
    found = _day(text)
    return None if found is None else found[0].date().isoformat()


def time_of(text: str) -> str | None:
    """Returns the time of day a text says, None where it says none."""
    found = _TIME_OF_DAY.fullmatch(text) if len(text) <= _LONGEST else None
    try:
        return None if found is None else spelt_time(_clock(found))
    except ValueError:
        return None


def timestamp_of(text: str) -> str | None:
    """Returns the date and time a text says, its zone left out; None where it is no time."""
    found = _day(text)
    return None if found is None else spelt(found[0])


def moment_of(text: str) -> str | None:
    """Returns the moment a text says, in UTC where it names no zone; None where it is none."""
    found = _day(text)
    if found is None:
        return None
    wall, zone = found
    try:
        offset = _offset(zone) if zone else timedelta()
        if offset is None:
            known = zone_named(zone)
            return None if known is None else spelt(in_utc(wall, known)) + MOMENT_ENDS
        return spelt(wall - offset) + MOMENT_ENDS
    except OverflowError:
        return None


READERS: dict[str, Callable[[str], str | None]] = {
    "DATE": date_of,
    "TIME": time_of,
    "TIMESTAMP": timestamp_of,
    "TIMESTAMPTZ": moment_of,
}
"""By the type, what reads a text in any of the usual spellings as a time of it."""


def spelt(moment: datetime) -> str:
    """Writes a date and time."""
    text = moment.isoformat(" ")
    return text.rstrip("0") if moment.microsecond else text


def spelt_time(clock: time) -> str:
    """Writes a time of day."""
    text = clock.isoformat()
    return text.rstrip("0") if clock.microsecond else text


@lru_cache(maxsize=1024)
def zone_named(name: str) -> tzinfo | None:
    """Returns a time zone by its name in the tz database, None where there is none."""
    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def in_utc(wall: datetime, zone: tzinfo) -> datetime:
    """Returns when clocks in a zone show a time; as in DuckDB, by standard time where in doubt.

    Raises:
        OverflowError: before year 1, or after 9999.
    """
    offsets = (wall.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    return wall - min(offset or timedelta() for offset in offsets)


def _day(text: str) -> tuple[datetime, str] | None:
    """Returns the date and time a text says, and the zone it names."""
    found = _DAY.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    try:
        day = date(int(found["year"]), int(found["month"]), int(found["day"]))
        clock = time() if found["hour"] is None else _clock(found)
        return datetime.combine(day, clock), found["zone"] or ""
    except ValueError:
        return None


def _clock(found: re.Match[str]) -> time:
    part = (found["part"] or "").ljust(6, "0")[:6]
    return time(int(found["hour"]), int(found["minute"]), int(found["second"] or 0), int(part))


def _offset(zone: str) -> timedelta | None:
    """Returns the offset from UTC a text spells out, None where it names a zone instead."""
    found = _OFFSET.fullmatch(zone)
    if found is None:
        return timedelta() if zone in "Zz" else None
    hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
    whole = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return -whole if found[1] == "-" else whole
