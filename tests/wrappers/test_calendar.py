"""A calendar over HTTP: rooms close when it says so, and nothing is silently stale."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from wrappers.conftest import changes_of, settings_of

from smartcis.models import Reservation, Source, SourceState
from smartcis.sources.reader import withdraw_disabled
from smartcis.wrappers.calendar import Calendar
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.protocol import Contents

pytestmark = pytest.mark.django_db
FILES = Path(__file__).parent / "ics"


def text_of(name: str) -> str:
    return (FILES / f"{name}.ics").read_bytes().decode()


@pytest.fixture
def calendar(home, site) -> Source:
    """A calendar of room A, that has said when the room is taken."""
    site.page = text_of("single")
    source = Source(
        source="cal-a",
        name="Calendar of A",
        kind="calendar",
        config={"url": site.url},
        unit_id="A",
        period_s=60.0,
        added_at=datetime.fromtimestamp(home.now_s - 100.0, UTC),
    )
    source.full_clean()
    source.save()
    assert home.poll(source)
    return source


def test_a_room_closes_while_its_calendar_says_so(home, calendar):
    assert home.rows("closed_room") == [("A", "reserved")]
    home.later(3600.0)  # 10:30, the meeting ends
    assert home.rows("closed_room") == []


def test_an_unchanged_calendar_changes_no_row(home, calendar, site):
    before = changes_of("reservation")
    assert len(before) == 1
    for _ in range(3):
        home.later(60.0)
        assert home.poll(calendar)
    assert changes_of("reservation") == before
    assert (site.asked, site.bodies) == (4, 1)  # the others were "not modified"
    home.later(7200.0)  # it is expanded again: two weeks from now are other two weeks
    assert home.poll(calendar)
    assert changes_of("reservation") == before


def test_only_what_changed_is_told(home, calendar, site):
    extra = text_of("cancelled")
    events = extra[extra.index("BEGIN:VEVENT") : extra.rindex("END:VCALENDAR")]
    site.page = text_of("single").replace("END:VCALENDAR", events + "END:VCALENDAR")
    home.later(60.0)
    home.poll(calendar)
    assert [weight for weight, _ in changes_of("reservation")] == [1, 1, 1]  # one is long past
    site.page = site.page.replace("SUMMARY:Perhaps", "SUMMARY:Surely")
    home.later(60.0)
    home.poll(calendar)
    (_, old), (_, new) = changes_of("reservation")[-2:]
    assert (old[0], old[4], new[0], new[4]) == (new[0], "Perhaps", old[0], "Surely")
    site.page = text_of("single")
    home.later(60.0)
    home.poll(calendar)
    assert [weight for weight, _ in changes_of("reservation")[-2:]] == [-1, -1]


def test_a_dead_calendar_is_marked_and_what_it_said_stands(home, calendar, site):
    assert home.state(calendar) == ("live", "")
    heard_s = home.now_s
    site.go()
    for state in ("live", "live", "late", "late", "dead"):
        home.later(60.0)
        assert not home.poll(calendar)
        assert home.state(calendar)[0] == state
    assert "no answer" in home.state(calendar)[1]
    (silent,) = home.rows("silent_source")
    assert silent[:6] == ("cal-a", "Calendar of A", "calendar", "A", None, heard_s)
    assert home.rows("closed_room") == [("A", "reserved")]
    site.come_back()
    home.later(60.0)
    assert home.poll(calendar)
    assert home.state(calendar) == ("live", "")
    assert home.rows("silent_source") == []


@pytest.mark.parametrize("page", ["<html>log in</html>", text_of("single")[:200], ""])
def test_what_is_no_calendar_empties_no_room(home, calendar, site, page):
    site.page = page
    home.later(60.0)
    assert not home.poll(calendar)
    assert Reservation.objects.count() == 1
    assert "calendar" in home.state(calendar)[1]


def test_a_reader_that_is_gone_makes_its_source_dead(home, calendar):
    home.later(3600.0)
    assert home.state(calendar) == ("dead", "nobody reads it")


def test_broken_events_are_named_and_the_others_close_the_room(home, calendar, site):
    site.page = text_of("broken")
    home.later(60.0)
    assert home.poll(calendar)
    titles = set(Reservation.objects.values_list("title", flat=True))
    assert titles == {"Good", "Half broken series", "Only a detail is broken"}
    state, reason = home.state(calendar)
    assert state == "live"
    assert reason.startswith("smartcis.wrappers.broken_event: event ")
    assert reason.endswith("(and 7 more)")
    assert len(SourceState.objects.get(pk=calendar.pk).warnings) == 8
    home.later(60.0)
    home.poll(calendar)  # unchanged: the warnings stand
    assert home.state(calendar) == (state, reason)


def test_rooms_by_location(home, site):
    site.page = text_of("places")
    rooms = {"seminar room A": "A", "Room B": "B"}
    source = Source.objects.create(
        source="all", kind="calendar", config={"url": site.url, "rooms": rooms}, period_s=60.0
    )
    assert home.poll(source)
    booked = set(Reservation.objects.values_list("unit_id", "title"))
    assert booked == {("A", "One"), ("B", "Private")}
    assert "no room is set for the location 'Rooftop'" in home.state(source)[1]


def test_a_room_that_does_not_exist_changes_nothing(home, calendar, site):
    Source.objects.filter(pk=calendar.pk).update(
        config={"url": site.url, "rooms": {"Room B": "nowhere"}}
    )
    site.page = text_of("places")
    home.later(60.0)
    assert not home.poll(calendar)
    assert Reservation.objects.count() == 1
    assert "there is no room 'nowhere'" in home.state(calendar)[1]
    Source.objects.filter(pk=calendar.pk).update(config={"url": site.url})
    home.later(60.0)
    assert home.poll(calendar)  # the page has not changed since, yet was never taken
    assert Reservation.objects.count() == 3


def test_a_calendar_switched_off_is_withdrawn(home, calendar):
    Reservation.objects.create(
        unit_id="B",
        start=datetime(2026, 3, 10, 9, tzinfo=UTC),
        end=datetime(2026, 3, 10, 10, tzinfo=UTC),
        title="entered here",
    )
    calendar.enabled = False
    calendar.save()
    assert withdraw_disabled() == 1
    assert home.rows("closed_room") == [("B", "reserved")]
    assert home.rows("source_status") == []
    calendar.enabled = True
    calendar.save()
    assert home.poll(calendar)
    assert home.rows("closed_room") == [("A", "reserved"), ("B", "reserved")]


def test_a_calendar_removed_takes_its_bookings_along(home, calendar):
    calendar.delete()
    assert home.rows("closed_room") == []
    assert home.rows("source_status") == []


def test_a_file_is_read_from_its_folder(tmp_path):
    (tmp_path / "a.ics").write_text(text_of("single"))
    settings = settings_of("calendar", {"file": "a.ics"}, rid="A", folder=tmp_path)
    wrapper = Calendar(settings, lambda: datetime(2026, 3, 10, tzinfo=UTC).timestamp())
    taken: list[Contents] = []
    wrapper.poll(lambda batch: taken.append(batch) or 1)
    (row,) = taken[0].rows.values()
    assert row[0] == "A"
    with pytest.raises(BadConfig, match="no folders"):
        Calendar(settings_of("calendar", {"file": "../secret"}, rid="A", folder=tmp_path))


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"url": "ftp://x/y"}, "http"),
        ({"zone": "Mars/Base"}, "Europe/Berlin"),
        ({"adress": "http://x/"}, "adress"),
        ({"rooms": ["A"]}, "texts to texts"),
    ],
)
def test_settings_that_make_no_sense_are_refused(config, why):
    source = Source(source="x", name="x", kind="calendar", config=config)
    with pytest.raises(ValidationError, match=why):
        source.clean()
