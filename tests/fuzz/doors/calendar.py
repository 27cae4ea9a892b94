"""Calendars: feeds as they come over HTTP, expanded over two weeks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from smartcis.wrappers.errors import SourceDown
from smartcis.wrappers.fetch import storable
from smartcis.wrappers.ical import read_calendar
from tests.fuzz.door import Door, Fault

FEEDS = Path(__file__).resolve().parents[2] / "wrappers" / "ics"
START_S = datetime(2026, 3, 9, tzinfo=UTC).timestamp()
END_S = START_S + 15 * 24 * 3600.0
SERIES = b"""BEGIN:VCALENDAR
BEGIN:VEVENT
UID:a
DTSTART:20260101T100000Z
DTEND:20260101T110000Z
RRULE:FREQ=WEEKLY;BYDAY=MO,TU;INTERVAL=2
EXDATE:20260310T100000Z
END:VEVENT
END:VCALENDAR"""
DAYS = b"""BEGIN:VCALENDAR
X-WR-TIMEZONE:Europe/Berlin
BEGIN:VEVENT
UID:b
SUMMARY:x
LOCATION:A
DTSTART;VALUE=DATE:20260310
DURATION:P2D
RDATE;VALUE=DATE:20260312
END:VEVENT
END:VCALENDAR"""
WORDS = (
    *(
        b"FREQ=HOURLY",
        b"FREQ=SECONDLY",
        b"FREQ=YEARLY",
        b"COUNT=999999999",
        b"INTERVAL=0",
        b"UNTIL=",
    ),
    *(b"INTERVAL=99999999", b"BYMONTHDAY=30", b"BYMONTH=2", b"BYSETPOS=-366", b"BYDAY=-53SU"),
    *(b"BYWEEKNO=53", b"BYYEARDAY=366", b"BYHOUR=0,1,2", b"10000101T000000Z", b"99991231T235959Z"),
    *(b"DTSTART:00010101T000000", b"DURATION:-P1D", b"DURATION:P99999W", b"RDATE;VALUE=PERIOD:"),
    *(
        b"RRULE:",
        b"EXRULE:FREQ=DAILY",
        b"EXDATE:",
        b"RECURRENCE-ID;RANGE=THISANDFUTURE:",
        b"TZID=Mad",
    ),
    *(b"BEGIN:VEVENT", b"END:VEVENT", b"BEGIN:VTIMEZONE", b"BEGIN:VALARM", b"TZOFFSETTO:+9999"),
    *(
        b"TZID=/Europe/Berlin",
        b"SEQUENCE:-1",
        b"STATUS:CANCELLED",
        b"METHOD:CANCEL",
        b"CLASS:PRIVATE",
    ),
)


def door() -> Door:
    """Returns the door."""
    feeds = [one.read_bytes() for one in sorted(FEEDS.glob("*.ics"))]
    return Door([*feeds, *(SERIES, DAYS) * 6], _enter, WORDS, ("words", "words", "lines", "bytes"))


def _enter(data: bytes) -> str:
    try:
        found = read_calendar(storable(data.decode(errors="replace")), "", START_S, END_S)
    except SourceDown as down:
        return down.message[:40]
    for one in found.bookings:
        if not one.end_s >= START_S - 1 or not one.start_s < one.end_s or "\0" in one.title:
            raise Fault(f"a booking that cannot be: {one}")
    return "with warnings" if found.warnings else "taken"
