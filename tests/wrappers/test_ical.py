"""iCalendar texts, one file per case: what is booked, and what is named as broken."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartcis.wrappers.errors import SourceDown
from smartcis.wrappers.ical import read_calendar

FILES = Path(__file__).parent / "ics"
START, END = datetime(2026, 3, 9, tzinfo=UTC), datetime(2026, 3, 24, tzinfo=UTC)


def text_of(name: str) -> str:
    return (FILES / f"{name}.ics").read_bytes().decode()


def read(text: str, zone: str = ""):
    return read_calendar(text, zone, START.timestamp(), END.timestamp())


def booked(name: str, zone: str = "") -> dict[str, str]:
    """Event → when, in UTC, as `10 09:00-10:30` with the day of March 2026."""
    found: dict[str, list[str]] = {}
    for one in sorted(read(text_of(name), zone).bookings, key=lambda one: one.start_s):
        start, end = (datetime.fromtimestamp(s, UTC) for s in (one.start_s, one.end_s))
        days = "" if start.date() == end.date() else f"{end:%d} "
        found.setdefault(one.key.partition("@")[0], []).append(
            f"{start:%d %H:%M}-{days}{end:%H:%M}"
        )
    return {name: ", ".join(times) for name, times in found.items()}


def test_a_single_event_with_a_folded_title():
    assert booked("single") == {"single": "10 09:00-10:30"}
    (one,) = read(text_of("single")).bookings
    assert one.title == "Project meeting with a title that is folded over two lines"


def test_a_series_with_a_gap_and_a_moved_occurrence():
    assert booked("recurring") == {"weekly": "10 13:00-14:00, 23 09:00-10:00"}


def test_a_moved_occurrence_keeps_its_name():
    moved = read(text_of("recurring")).bookings
    text = text_of("recurring")
    plain = text[: text.rindex("BEGIN:VEVENT")] + "END:VCALENDAR\r\n"
    unmoved = read(plain).bookings
    assert {one.key for one in moved} == {one.key for one in unmoved}
    assert len({one.key for one in moved}) == 2


def test_cancelled_events_and_occurrences_take_no_room():
    assert booked("cancelled") == {
        "daily": "09 08:00-09:00, 11 08:00-09:00",
        "on": "10 14:00-15:00",
    }


def test_a_calendar_of_cancellations_books_nothing():
    text = text_of("single").replace("VERSION:2.0", "VERSION:2.0\r\nMETHOD:CANCEL")
    assert read(text).bookings == []


def test_all_day_events_marked_free_leave_the_room_open():
    # The feed's own zone says when a day begins: an hour before UTC's.
    assert booked("all_day") == {"painting": "09 23:00-11 23:00"}
    assert booked("all_day", "UTC") == {"painting": "10 00:00-12 00:00"}


def test_zones_of_all_kinds():
    assert booked("zones", "Europe/Berlin") == {
        "own-zone": "10 09:00-10:00",
        "windows": "10 11:00-12:00",
        "olson": "10 16:00-17:00",
        "floating": "10 11:00-12:00",
        "unknown": "10 11:00-12:00",
    }
    (warning,) = read(text_of("zones"), "Europe/Berlin").warnings
    assert "unknown@test" in warning
    assert "'Atlantis/Centre': read as Europe/Berlin" in warning


def test_broken_events_are_named_and_the_others_stay():
    assert booked("broken") == {
        "good": "10 09:00-10:00",
        "series": "09 11:00-12:00, 10 11:00-12:00",
        "bad-attachment": "10 15:00-16:00",
    }
    warnings = read(text_of("broken")).warnings
    assert all(one.startswith("smartcis.wrappers.broken_event: event '") for one in warnings)
    named = {one.split("'")[1].partition("@")[0]: one.split("': ", 1)[1] for one in warnings}
    assert set(named) == {
        *("no-start", "bad-start", "backwards", "bad-rule", "every-second", "bad-line"),
        *("endless", "series"),
    }
    assert named["no-start"] == "it does not say when it starts (DTSTART)"
    assert named["backwards"] == "it ends before it starts"
    assert named["every-second"] == "it repeats secondly"
    assert named["endless"] == "it does not end"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a calendar"),
        ("<html>Please log in</html>", "not a calendar"),
        (text_of("single").removesuffix("END:VCALENDAR\r\n"), "cut off"),
    ],
)
def test_what_is_no_whole_calendar_is_a_dead_source(text, why):
    with pytest.raises(SourceDown, match=why):
        read(text)


def test_an_empty_calendar_books_nothing():
    assert read("BEGIN:VCALENDAR\nVERSION:2.0\nEND:VCALENDAR\n").bookings == []


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=30),
        max_size=4,
    ),
    st.integers(0, 3),
)
def test_a_foreign_line_in_one_event_changes_no_other(lines, where):
    """Whatever stands in an event, the other events read as if it were not there."""
    junk = ["UID:junk@test", *lines]
    junk.insert(min(where, len(junk)), "DTSTART:20260310T000000Z")
    block = "\r\n".join(["BEGIN:VEVENT", *junk, "END:VEVENT", ""])
    text = text_of("recurring")
    at = text.index("BEGIN:VEVENT")
    others = [one for one in read(text[:at] + block + text[at:]).bookings if "weekly" in one.key]
    assert others == read(text).bookings


def test_the_span_is_what_was_asked_for():
    day = timedelta(days=1)
    text = text_of("cancelled")
    found = read_calendar(text, "", START.timestamp(), (START + day).timestamp())
    assert [one.key.partition("@")[0] for one in found.bookings] == ["daily"]
