"""Names for a day, cards, and the book of who looked."""

from __future__ import annotations

import zlib
from datetime import datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_views
from smartcis.actions.rename_visitors import AT_HOUR, rename_visitors
from smartcis.catalog import CATALOG
from smartcis.models import OutboxEntry, StaffAccess, Visitor
from smartcis.models.accesses import ONE_LOOK, note_access
from smartcis.models.outbox import _Committed
from smartcis.policies import POSITIONS_KEPT_S
from smartcis.queries import standing_queries

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def unrelayed(monkeypatch):
    """What is written stays in the outbox."""
    monkeypatch.setattr(_Committed, "listeners", ())


def changes() -> list[list]:
    told = OutboxEntry.objects.order_by("pk").values_list("body", flat=True)
    return [change for body in told for change in body.get("changes", ())]


def test_each_day_has_its_names_and_all_change_at_once():
    day = timezone.localdate()
    people = [Visitor.objects.create(tag=f"t{n}", consent="room", named_on=day) for n in range(3)]
    people.append(Visitor.objects.create(tag="shy", named_on=day))
    names = {one.tag: one.pseudonym for one in people}
    assert len(set(names.values())) == len(people)
    early = datetime(day.year, day.month, day.day, AT_HOUR) + timedelta(days=1)  # noqa: DTZ001 - the house's own clock
    OutboxEntry.objects.all().delete()
    assert rename_visitors(early - timedelta(minutes=1)) == 0
    assert rename_visitors(early) == len(people)
    assert rename_visitors(early + timedelta(hours=23)) == 0
    fresh = dict(Visitor.objects.values_list("tag", "pseudonym"))
    assert fresh.keys() == names.keys()
    assert not set(fresh.values()) & set(names.values())
    assert OutboxEntry.objects.values("token").distinct().count() == 1, "one log transaction"
    assert sorted(row[:3] for row in changes()) == sorted(
        ["visitor", weight, tag] for tag in ("t0", "t1", "t2") for weight in (-1, 1)
    ), "who is hidden has no row"


def test_a_look_goes_on_until_nobody_looked_for_a_while():
    anna = get_user_model().objects.create_user("anna", is_staff=True)
    for _ in range(3):
        note_access(anna.pk, "anna", "followed", "visitor_heard")
    note_access(anna.pk, "anna", "followed", "another")
    note_access(None, "", "followed", "visitor_heard")
    assert sorted(StaffAccess.objects.values_list("account", "what", "times")) == [
        ("anna", "another", 1),
        ("anna", "visitor_heard", 3),
        ("console", "visitor_heard", 1),
    ]
    StaffAccess.objects.update(last_at=timezone.now() - ONE_LOOK - timedelta(seconds=1))
    note_access(anna.pk, "anna", "followed", "visitor_heard")
    assert StaffAccess.objects.filter(account="anna", what="visitor_heard").count() == 2
    anna.delete()
    assert StaffAccess.objects.filter(account="anna").count() == 3, "the book outlives the account"


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("op", password="x"))
    return client


def test_staff_hides_a_real_tag_and_cannot_show_it(operator):
    add = reverse("admin:smartcis_visitor_add")
    form = {"tag": "real", "consent": "exact", "speed_m_s": "1.2", "enabled": "on"}
    assert operator.post(add, form).status_code == 302
    visitor = Visitor.objects.get()
    assert (visitor.simulated, visitor.consent) == (False, "hidden")
    page = reverse("admin:smartcis_visitor_change", args=["real"])
    assert f"/#visitor={visitor.code}" in operator.get(page).content.decode()
    assert operator.post(page, {**form, "simulated": "on"}).status_code == 302
    visitor.refresh_from_db()
    assert (visitor.simulated, visitor.consent) == (False, "hidden")
    Visitor.objects.filter(pk="real").update(consent="room")
    several = reverse("admin:smartcis_visitor_changelist")
    code = visitor.code
    for action in ("hide", "give_new_codes"):
        chosen = {"action": action, "_selected_action": ["real"]}
        assert operator.post(several, chosen).status_code == 302
    visitor.refresh_from_db()
    assert visitor.consent == "hidden"
    assert visitor.code != code
    OutboxEntry.objects.all().delete()
    form |= {"tag": "made", "simulated": "on", "consent": "room"}
    assert operator.post(add, form).status_code == 302
    assert [row[:3] + row[4:] for row in changes()] == [["visitor", 1, "made", "room", True]]


def test_nobody_edits_the_book_of_looks(operator):
    note_access(None, "anna", "asked once", "ONCE SELECT v.tag FROM visitor v")
    several = reverse("admin:smartcis_staffaccess_changelist")
    assert b"asked once" in operator.get(several).content
    one = StaffAccess.objects.get()
    for path in (
        reverse("admin:smartcis_staffaccess_add"),
        reverse("admin:smartcis_staffaccess_delete", args=[one.pk]),
    ):
        assert operator.post(path, {"post": "yes"}).status_code == 403
    page = reverse("admin:smartcis_staffaccess_change", args=[one.pk])
    assert operator.post(page, {"account": "nobody"}).status_code == 403
    assert StaffAccess.objects.get().account == "anna"


def test_what_a_lane_keeps_names_no_tag_that_has_been_silent():
    lane = Lane()
    heard = Change("rfid_reading", 1, ("a-tag", "r", 1, -60.0, 0.0))
    other = Change("seat_reading", 1, ("a-machine", "s", 0.0, 0.0))
    entries = [
        *(Declare(0.0, relation) for relation in CATALOG),
        *(
            Register(0.0, str(view.name), plan_text(view.plan))
            for view in compile_views(standing_queries(), CATALOG)
        ),
        Transaction(0.0, (heard, other)),
        Tick(1.0),
    ]
    lane.apply(list(enumerate(entries, start=1)))
    assert b"a-tag" in zlib.decompress(lane.snapshot())
    lane.apply([(len(entries) + 1, Tick(POSITIONS_KEPT_S + 1.0))])
    kept = zlib.decompress(lane.snapshot())
    assert b"a-machine" in kept, "the newest reading of a machine is remembered"
    assert b"a-tag" not in kept
