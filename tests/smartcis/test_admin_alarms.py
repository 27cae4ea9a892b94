"""The admin's pages for alarms and for what is sent of them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from smartcis.models import Alarm, Delivery, MaintainedQuery, MaintainedView, Outlet

pytestmark = pytest.mark.django_db
PAGE = "/admin/smartcis/alarm/"


@pytest.fixture
def outlet() -> Outlet:
    view = MaintainedView.objects.create(name="q_x", sql="SELECT", sources=[], columns=[])
    query = MaintainedQuery.objects.create(sql="SELECT", view=view)
    return Outlet.objects.create(query=query, outputs=[])


@pytest.fixture
def alarms(outlet) -> list[Alarm]:
    common = {"outlet": outlet, "query": outlet.pk, "target": "too warm", "key": {}}
    shown = {"value": 26.4, "unit": "°C", "rid": "A", "raised_s": 10.0, "changed_s": 10.0}
    kinds = (("a", "threshold", None), ("b", "no data", None), ("c", "threshold", 20.0))
    return [
        Alarm.objects.create(digest=digest, kind=kind, cleared_s=cleared_s, **common, **shown)
        for digest, kind, cleared_s in kinds
    ]


@pytest.fixture
def root(client):
    client.force_login(User.objects.create_superuser("root"))
    return client


def do(client, page: str, action: str, *chosen) -> str:
    sent = {"action": action, "_selected_action": [one.pk for one in chosen]}
    return client.post(page, sent, follow=True).content.decode()


def test_alarms_are_listed_with_value_place_and_history(root, alarms):
    page = root.get(PAGE).content.decode()
    assert all(word in page for word in ("too warm", "26.4 °C", "stands", "Jan. 1, 1970"))
    assert "3 alarms" in page
    assert "1 alarm" in root.get(f"{PAGE}?state=cleared").content.decode()
    assert "2 alarms" in root.get(f"{PAGE}?state=standing").content.decode()
    do(root, PAGE, "acknowledge", alarms[0])
    one = root.get(f"{PAGE}{alarms[0].pk}/change/").content.decode()
    assert "acknowledged by root" in one
    assert "What happened" in one or "what happened" in one


def test_deeds_are_those_of_the_map_and_refusals_are_said(root, alarms):
    standing, silent, past = alarms
    do(root, PAGE, "mute_8_h", standing, silent)
    assert set(Alarm.objects.filter(muted_until_s=None)) == {past}
    do(root, PAGE, "unmute", standing)
    do(root, PAGE, "take", standing)
    standing.refresh_from_db()
    assert (standing.muted_until_s, standing.assigned_to.username) == (None, "root")
    assert "nly an alarm about no data is ended by hand" in do(root, PAGE, "end", standing)
    do(root, PAGE, "end", silent)
    silent.refresh_from_db()
    assert silent.cleared_s is not None
    assert "his alarm was cleared" in do(root, PAGE, "acknowledge", past)


def test_what_was_given_up_is_tried_again(root, outlet):
    page = "/admin/smartcis/delivery/"
    common = {"outlet": outlet, "epoch": 1, "position": 1, "at_s": 1.0, "row": [], "weight": 1}
    said = {"title": "too warm", "step": "raised"}
    lost = Delivery.objects.create(
        key="a", kind="EMAIL", target="a@b.example", state="given_up", alarm=said, **common
    )
    Delivery.objects.create(key="b", target="http://x/", state="delivered", **common)
    listed = root.get(page).content.decode()
    assert "too warm: raised" in listed
    assert "a row came" in listed
    assert "1 will be tried again" in do(root, page, "retry", *Delivery.objects.all())
    lost.refresh_from_db()
    assert lost.state == "pending"
