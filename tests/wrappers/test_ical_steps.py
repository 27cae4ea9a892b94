"""Calendars that ask for more work than a building is worth: refused before they had it."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from smartcis.wrappers import steps, zones
from smartcis.wrappers.errors import SourceDown
from smartcis.wrappers.ical import CalendarContents, read_calendar

START_S = datetime(2026, 3, 10, tzinfo=UTC).timestamp()
DAY_S = 24 * 3600.0
GOOD = ("UID:good", "DTSTART:20260311T100000Z", "DTEND:20260311T110000Z")
CPU_S = 10.0  # of what would take minutes or for ever


def calendar(*events: tuple[str, ...], around: tuple[str, ...] = ()) -> str:
    blocks = ["\n".join(("BEGIN:VEVENT", *event, "END:VEVENT")) for event in events]
    return "\n".join(("BEGIN:VCALENDAR", "VERSION:2.0", *around, *blocks, "END:VCALENDAR"))


def read(text: str) -> CalendarContents:
    return read_calendar(text, "UTC", START_S, START_S + 14 * DAY_S)


def series(*lines: str, start: str = "20260101T100000Z", end: str = "20260101T110000Z"):
    return ("UID:bad", f"DTSTART:{start}", f"DTEND:{end}", *lines)


OLD = {"start": "10000101T100000Z", "end": "10000101T100100Z"}
EVIL = {
    "every hour since the year 1000": series("RRULE:FREQ=HOURLY", **OLD),
    "the 30th of February": series("RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"),
    "the 30th of February, each hour": series("RRULE:FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30"),
    "the 31st of April, counted": series("RRULE:FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31;COUNT=3"),
    "a week that no year has": series("RRULE:FREQ=DAILY;BYMONTH=2;BYYEARDAY=200"),
    "a thousand million times": series("RRULE:FREQ=HOURLY;COUNT=1000000000", **OLD),
    "every second": series("RRULE:FREQ=SECONDLY"),
    "every minute": series("RRULE:FREQ=MINUTELY;INTERVAL=1"),
    "every second of every hour": series(
        "RRULE:FREQ=DAILY;BYHOUR=1,2,3,4,5;BYMINUTE=1,2,3,4;BYSECOND=1,2,3,4,5,6"
    ),
    "a rule of a megabyte": series("RRULE:FREQ=YEARLY;BYSETPOS=" + ",".join(["1"] * 500_000)),
    "a hundred thousand dates": series("RDATE:" + ",".join(["20260311T100000Z"] * 100_000)),
    "a flood of exceptions": series("RRULE:FREQ=DAILY", *("EXDATE:20260311T100000Z",) * 100_000),
    "a thousand years, every day": series("RRULE:FREQ=DAILY", end="30000101T100000Z"),
}


@pytest.mark.parametrize("name", EVIL)
def test_an_event_that_takes_too_much_is_named_and_the_others_stay(name):
    began = time.process_time()
    found = read(calendar(EVIL[name], GOOD))
    assert time.process_time() - began < CPU_S
    assert [one.key.partition("/")[0] for one in found.bookings] == ["good"]
    assert any("'bad'" in warning for warning in found.warnings)


HONEST = {
    "a stand-up of ten years": (series("RRULE:FREQ=DAILY", start="20160101T100000Z",
                                       end="20160101T101500Z"), 14),
    "weekly since 1990": (series("RRULE:FREQ=WEEKLY;BYDAY=WE", start="19900103T100000Z",
                                 end="19900103T110000Z"), 2),
    "each hour for years": (series("RRULE:FREQ=HOURLY;INTERVAL=12", start="20200101T000000Z",
                                   end="20200101T003000Z"), 28),
    "leap days": (series("RRULE:FREQ=YEARLY", start="20000229T100000Z",
                         end="20000229T110000Z"), 0),
    "with three hundred exceptions": (
        series("RRULE:FREQ=DAILY", *("EXDATE:20260312T100000Z",) * 300), 13
    ),
    "a single one of a whole year": (
        ("UID:x", "DTSTART;VALUE=DATE:20260101", "DTEND;VALUE=DATE:20270101"), 1
    ),
    "a single one by duration": (("UID:x", "DTSTART:20260228T000000Z", "DURATION:P30D"), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_what_people_write_is_read(name):
    event, times = HONEST[name]
    found = read(calendar(event))
    assert found.warnings == []
    assert len(found.bookings) == times


def test_a_time_zone_that_changes_every_second_is_refused_with_its_event():
    zone = (
        "BEGIN:VTIMEZONE", "TZID:Mad", "BEGIN:STANDARD", "DTSTART:19700101T000000",
        "RRULE:FREQ=SECONDLY", "TZOFFSETFROM:+0000", "TZOFFSETTO:+0100", "END:STANDARD",
        "END:VTIMEZONE",
    )  # fmt: skip
    bad = ("UID:bad", "DTSTART;TZID=Mad:20260311T100000", "DTEND;TZID=Mad:20260311T110000")
    began = time.process_time()
    found = read(calendar(bad, GOOD, around=zone))
    assert time.process_time() - began < CPU_S
    assert [one.key.partition("/")[0] for one in found.bookings] == ["good"]


def test_a_feed_that_takes_too_much_is_down_and_withdraws_nothing(monkeypatch):
    monkeypatch.setattr(steps, "OF_A_FEED", 20_000)
    events = [(f"UID:{number}", *GOOD[1:]) for number in range(100)]
    with pytest.raises(SourceDown, match="too much work"):
        read(calendar(*events))
    over = [(f"UID:{number}", "DTSTART:20200101T100000Z") for number in range(10_000)]
    assert len(read(calendar(*over, GOOD)).bookings) == 1  # what is over costs nothing


def test_a_flood_of_broken_events_is_a_bounded_list_of_warnings():
    text = calendar(*((f"UID:{number}", "SUMMARY:x") for number in range(1_000)))
    assert len(read(text).warnings) < 1_000


def test_the_names_of_time_zones_are_looked_up_once(monkeypatch):
    looked_up = []
    monkeypatch.setattr(zones, "available_timezones", lambda: looked_up.append(1) or {"Asia/Tokyo"})
    zones.time_zones.cache_clear()
    text = calendar(("UID:a", "DTSTART:20260311T000000", "DTEND:20260311T010000"))
    text = text.replace("VERSION:2.0", "X-WR-TIMEZONE:Asia/Tokyo")
    found = [read_calendar(text, "", START_S, START_S + 14 * DAY_S) for _ in range(3)]
    zones.time_zones.cache_clear()
    assert len(looked_up) == 1
    assert {one.bookings[0].start_s for one in found} == {START_S + 15 * 3600.0}
