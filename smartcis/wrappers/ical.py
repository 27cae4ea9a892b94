"""iCalendar: the text of a feed → when which location is taken, and what of it cannot be read.

    text ── unfold ── events by UID ── expand each ── bookings
                          └── broken ── a named warning, the others stay

Law:        an event that cannot be read changes nothing about any other event.
Algorithm:  each UID (a series and its exceptions) is parsed and expanded on its own, and pays for
            it (`steps.py`); what is surely over or far ahead is not parsed.
Source:     RFC 5545; expansion by recurring-ical-events; own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import recurring_ical_events  # type: ignore[import-untyped]  # it has none
from celery.exceptions import SoftTimeLimitExceeded
from icalendar import Calendar

from aspen.errors import AspenError
from smartcis.wrappers.errors import BrokenEvent, SourceDown
from smartcis.wrappers.steps import LONGEST_SERIES_S, OF_AN_OCCURRENCE, Steps
from smartcis.wrappers.zones import time_zones

TITLE_LENGTH = 200
UID_LENGTH = 200
WARNINGS = 200
DAY_S = 24 * 3600.0
# Without these nobody knows when it happens; any other broken property does no harm.
TIMES = ("DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID", "STATUS")
PRIVATE = {"PRIVATE", "CONFIDENTIAL"}

_FOLD = re.compile(r"\r?\n[ \t]|\r[ \t]")
_TZID = re.compile(r';TZID="?([^":;\n]+)')
_SERIES = re.compile(r"^(?:RRULE|RDATE|RECURRENCE-ID|DURATION)[;:]", re.MULTILINE | re.IGNORECASE)
_LINES = re.compile(r"\r\n|\n|\r")
_HEAD = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//SmartCIS//EN"


@dataclass(frozen=True, slots=True)
class Booking:
    """One occurrence of one event that takes a location.

    Args:
        key: event and occurrence; the same while it is moved or renamed.
        start_s: seconds since the epoch; `end_s` likewise, exclusive.
        location: as the calendar writes it, empty for none.
    """

    key: str
    start_s: float
    end_s: float
    title: str
    location: str


@dataclass(slots=True)
class CalendarContents:
    """What a feed says between two moments; `warnings` name what of it cannot be used."""

    bookings: list[Booking] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_calendar(text: str, zone: str, start_s: float, end_s: float) -> CalendarContents:
    """Reads what takes a location between two moments.

    Args:
        text: the feed.
        zone: of times that name none; empty for the feed's own, else UTC.
        start_s: seconds since the epoch; `end_s` likewise.

    Raises:
        SourceDown: it is no calendar, not a whole one, or takes too much work.
    """
    feed = _Feed(text, zone)
    return CalendarContents(feed.bookings(start_s, end_s), feed.warnings)


class _Feed:
    """A feed taken apart: of each UID an event, or a series with its exceptions."""

    def __init__(self, text: str, zone: str) -> None:
        text = _FOLD.sub("", text.lstrip("\ufeff"))
        lines = [line for line in _LINES.split(text) if line.strip()]
        if not lines or lines[0].strip().upper() != "BEGIN:VCALENDAR":
            raise SourceDown("not a calendar", found=(lines[0] if lines else "nothing")[:60])
        if lines[-1].strip().upper() != "END:VCALENDAR":
            # Half a feed would look like cancelled events.
            raise SourceDown("the calendar is cut off", found=lines[-1][:60])
        self.warnings: list[str] = []
        self._steps = Steps()
        self._events: dict[str, list[str]] = {}
        self._zones: dict[str, str] = {}
        for kind, block in self._blocks(lines):
            if kind == "VEVENT":
                uid = _property(block, "UID") or hashlib.sha256(block.encode()).hexdigest()[:32]
                self._events.setdefault(uid[:UID_LENGTH], []).append(block)
            else:
                self._zones[_property(block, "TZID")] = block
        whole = "\n".join(lines)
        own = _property(whole, "X-WR-TIMEZONE")
        self._zone = ZoneInfo(zone or (own if own in time_zones() else "UTC"))
        if _property(whole, "METHOD").upper() == "CANCEL":
            self._events.clear()

    def _blocks(self, lines: list[str]) -> Iterator[tuple[str, str]]:
        """Returns events and time zones as text; reports one that does not end."""
        kind, block = "", list[str]()
        for line in lines:
            word = line.strip().upper()
            if word in {"BEGIN:VEVENT", "BEGIN:VTIMEZONE"}:
                if kind:
                    uid = _property("\n".join(block), "UID") or "without UID"
                    self._warn(uid, "it does not end")
                kind, block = word.partition(":")[2], []
            if kind:
                block.append(line)
            if kind and word == f"END:{kind}":
                yield kind, "\n".join(block)
                kind = ""

    def _warn(self, uid: str, message: str) -> None:
        if len(self.warnings) < WARNINGS:
            self.warnings.append(f"{BrokenEvent.code}: event {uid[:60]!r}: {message}")

    def bookings(self, start_s: float, end_s: float) -> list[Booking]:
        """Expands all events between two moments; reports those that cannot be."""
        found: list[Booking] = []
        for uid, blocks in self._events.items():
            if len(blocks) == 1 and _surely_not(blocks[0], start_s, end_s):
                continue
            try:
                with self._steps.event():
                    found += self._expanded(uid, blocks, start_s, end_s)
            except BrokenEvent as broken:
                self._warn(uid, broken.message)
        return found

    def _expanded(self, uid: str, blocks: list[str], start_s: float, end_s: float) -> list[Booking]:
        calendar = Calendar()
        for block in blocks:
            calendar.subcomponents += self._readable(uid, block)
        span = [datetime.fromtimestamp(moment_s, UTC) for moment_s in (start_s, end_s)]
        try:
            found = recurring_ical_events.of(calendar).between(*span)
            self._steps.spend(OF_AN_OCCURRENCE * len(found))
            booked = [one for event in found for one in self._booked(uid, event)]
        except (AspenError, SoftTimeLimitExceeded):
            raise
        except Exception as error:  # what a foreign text can break is without end
            raise BrokenEvent(f"it cannot be expanded: {error}") from error
        return [one for one in booked if one.start_s < end_s and one.end_s > start_s]

    def _readable(self, uid: str, block: str) -> list[Any]:
        """Returns an event or exception, and its time zones; reports what is wrong with it."""
        zones = {self._zones.get(name, "") for name in _TZID.findall(block)} - {""}
        text = "\n".join((*zones, block))
        try:
            self._steps.look(text)
            calendar = Calendar.from_ical(f"{_HEAD}\n{text}\nEND:VCALENDAR")
            (event,) = calendar.walk("VEVENT")
            self._check(uid, event)
        except (SourceDown, SoftTimeLimitExceeded):
            raise
        except BrokenEvent as broken:
            self._warn(uid, broken.message)
            return []
        except Exception as error:  # noqa: BLE001  # what a foreign text can break is without end
            self._warn(uid, f"it cannot be read: {error}")
            return []
        return list(calendar.subcomponents)

    def _check(self, uid: str, event: Any) -> None:
        for name, reason in event.errors:
            if name is None or name.upper() in TIMES:
                raise BrokenEvent(f"{name or 'a line'} cannot be read: {reason}")
        start = event.get("DTSTART")
        if start is None:
            raise BrokenEvent("it does not say when it starts (DTSTART)")
        end = event.get("DTEND")
        if end is not None and self._moment(end.dt) < self._moment(start.dt):
            raise BrokenEvent("it ends before it starts")
        if "RRULE" in event or "RDATE" in event:
            length = event.duration.total_seconds()
            if length > LONGEST_SERIES_S:
                raise BrokenEvent("it repeats before it ends: it lasts longer than a month")
        zone = start.params.get("TZID", "")
        if zone and isinstance(start.dt, datetime) and start.dt.tzinfo is None:
            self._warn(uid, f"unknown time zone {zone!r}: read as {self._zone.key}")

    def _booked(self, uid: str, event: Any) -> Iterator[Booking]:
        busy = str(event.get("X-MICROSOFT-CDO-BUSYSTATUS", "")).upper()
        if (
            str(event.get("STATUS", "")).upper() == "CANCELLED"
            or str(event.get("TRANSP", "")).upper() == "TRANSPARENT"
            or busy == "FREE"
        ):
            return
        start_s, end_s = self._moment(event["DTSTART"].dt), self._moment(event["DTEND"].dt)
        if end_s <= start_s:
            return  # a reminder: it takes no time
        private = str(event.get("CLASS", "")).upper() in PRIVATE
        title = "Private" if private else str(event.get("SUMMARY", "")).strip() or "Busy"
        which = event.get("RECURRENCE-ID")
        key = uid if which is None else f"{uid}/{self._moment(which.dt):.0f}"
        yield Booking(
            key, start_s, end_s, title[:TITLE_LENGTH], str(event.get("LOCATION", "")).strip()
        )

    def _moment(self, when: date | datetime) -> float:
        """Returns seconds since the epoch; a day begins at midnight of the feed's zone."""
        if not isinstance(when, datetime):
            when = datetime.combine(when, time.min)
        return (when if when.tzinfo else when.replace(tzinfo=self._zone)).timestamp()


def _property(block: str, name: str) -> str:
    found = re.search(rf"^{name}(?:;[^:\n]*)?:(.*)$", block, re.MULTILINE | re.IGNORECASE)
    return found[1].strip() if found else ""


def _surely_not(block: str, start_s: float, end_s: float) -> bool:
    """Returns whether the days of a single event lie outside two moments, whatever its zone."""
    if _SERIES.search(block):
        return False
    first = _property(block, "DTSTART")[:8]
    last = _property(block, "DTEND")[:8] or first
    if not (first.isdecimal() and last.isdecimal() and len(first) == len(last) == len("20260310")):
        return False
    return last < _day(start_s - 2 * DAY_S) or first > _day(end_s + 2 * DAY_S)


def _day(at_s: float) -> str:
    return f"{datetime.fromtimestamp(at_s, UTC):%Y%m%d}"
