"""Devices and mappings as staff see them: the page of messages, the list of devices, REST."""

from __future__ import annotations

import json
import time

import pytest
from django.contrib.auth.models import User
from wrappers.conftest import changes_of, heard

from smartcis.models import SeenDevice, SourceMapping
from smartcis.sources.recent import RecentMessages
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.protocol import Measured

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]

FORM = {
    "family": "fields",
    "topic": "plant/{room}/v",
    "path": "x",
    "kind": "co2",
    "unit": "",
    "scale": "1",
    "offset": "0",
    "identity": "{room}.co2",
    "time_path": "",
    "time_form": "arrival",
    "enabled": "on",
}
PAGE = "/admin/smartcis/source/b/messages/"


@pytest.fixture
def staff(client):
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def newest(sink) -> RecentMessages:
    """Messages that the source heard."""
    recent = RecentMessages()
    now_s = time.time()
    recent.add(Message("plant/A/v", b'{"x": 612, "temperature": "21.5"}', now_s))
    recent.add(Message("zigbee2mqtt/air", b'{"temperature": 20.5, "humidity": 40}', now_s))
    recent.add(Message("plant/text", b"<script>alert(1)</script>", now_s))
    recent.keep("b")
    return recent


def test_the_page_shows_messages_and_who_recognises_them(staff, newest):
    page = staff.get(PAGE)
    text = page.content.decode()
    assert "Zigbee2MQTT" in text
    assert "air: Temperature 20.5 °C" in text
    assert "<script>alert" not in text
    assert page["Refresh"]
    proposed = "topic=plant%2FA%2F%7Bdevice%7D&amp;family=fields&amp;path=temperature"
    assert proposed in text
    prefilled = staff.get(f"{PAGE}?topic=plant/%7Broom%7D/v&path=x&kind=co2")
    assert "Refresh" not in prefilled
    assert 'value="plant/{room}/v"' in prefilled.content.decode()


def test_a_mapping_is_tried_on_the_messages_before_it_is_kept(staff, newest):
    tried = staff.post(PAGE, {**FORM, "try": "1"}).content.decode()
    assert "A.co2: CO₂ 612 ppm" in tried
    assert not SourceMapping.objects.exists()
    broken = staff.post(PAGE, {**FORM, "identity": "{nobody}", "try": "1"}).content.decode()
    assert "nobody is no name" in broken
    none = staff.post(PAGE, {**FORM, "topic": "elsewhere/{room}", "try": "1"}).content.decode()
    assert "No message" in none
    refused = staff.post(PAGE, {**FORM, "topic": "a/#/b", "keep": "1"}).content.decode()
    assert "a topic is levels" in refused
    assert staff.post(PAGE, {**FORM, "keep": "1"}).status_code == 302
    assert SourceMapping.objects.get().said().identity == "{room}.co2"
    assert "plant/{room}/v" in staff.get("/admin/smartcis/source/b/change/").content.decode()


def test_others_do_not_see_messages(client, sink):
    assert client.get(PAGE).status_code == 302
    client.force_login(User.objects.create_user("somebody", is_staff=True))
    assert client.get(PAGE).status_code == 403


def test_a_device_is_placed_in_the_list_with_one_click(staff, sink):
    sink(heard(Measured("air", "co2", 612.0, "ppm"), Measured("air", "temperature", 70.0, "°F")))
    path = "/admin/smartcis/seendevice/"
    assert "not placed" in staff.get(path).content.decode()
    seen = SeenDevice.objects.get()
    rows = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(seen.pk)}
    done = staff.post(path, {**rows, "form-0-unit": "A", "form-0-machine": "", "_save": "Save"})
    assert done.status_code == 302
    assert "2 of 2" in staff.get(path).content.decode()
    sink(heard(Measured("air", "co2", 640.0, "ppm"), Measured("air", "temperature", 70.0, "°F")))
    assert [row[4] for _, row in changes_of("reading")] == [640.0]
    assert [round(row[2], 2) for _, row in changes_of("temperature_reading")] == [21.11]


def test_mappings_and_devices_are_set_up_over_rest(staff, sink):
    feed = "/api/v1/feeds/b"
    mapping = {"topic": "plant/{room}/v", "path": "x", "kind": "co2", "identity": "{room}.co2"}

    def put(path, said):
        return staff.put(f"{feed}/{path}/", json.dumps(said), "application/json")

    (kept,) = put("mappings", {"mappings": [mapping]}).json()["mappings"]
    assert kept == FORM | mapping | {"scale": 1.0, "offset": 0.0, "enabled": True}
    refused = put("mappings", {"mappings": [mapping, mapping | {"unit": "°C"}]})
    assert (refused.status_code, refused.json()["code"]) == (400, "smartcis.actions.invalid")
    assert len(staff.get(f"{feed}/mappings/").json()["mappings"]) == 1
    sink(heard(Measured("air", "co2", 612.0, "ppm")))
    (seen,) = staff.get(f"{feed}/devices/").json()
    assert (seen["device"], seen["rid"], seen["quantities"]["co2"]["value"]) == ("air", None, 612.0)
    (sensor,) = put(f"devices/{seen['id']}", {"rid": "A"}).json()
    assert (sensor["sid"], sensor["simulated"]) == ("b:air:co2", False)
    assert put("devices/99", {"rid": "A"}).status_code == 404
    assert sink(heard(Measured("air", "co2", 700.0, "ppm"))) == 1
