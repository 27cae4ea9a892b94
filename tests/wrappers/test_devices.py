"""Devices nobody knew: heard through a real broker, listed, placed, and then read."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace

import aiomqtt
import pytest
from django.core.exceptions import ValidationError
from wrappers.conftest import WAIT_S, changes_of, heard, in_log, settings_of, source_of
from wrappers.sparkplug_messages import births
from wrappers.test_listen import until
from wrappers.test_payloads import FILES, body, corpus

from smartcis import composition
from smartcis.access.owner import SYSTEM
from smartcis.actions.place_device import place_device
from smartcis.errors import Invalid
from smartcis.ingest.relay import relay
from smartcis.models import RefusedMessage, SeenDevice, Sensor, SourceMapping
from smartcis.readings.errors import BadReading
from smartcis.sources.devices import KEPT, sid_of
from smartcis.sources.listen import Listening
from smartcis.sources.recent import RecentMessages, recent_messages
from smartcis.sources.sink import SourceSink
from smartcis.wrappers.mqtt import MqttBroker
from smartcis.wrappers.payloads.propose import proposals
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.payloads.reader import PayloadReader
from smartcis.wrappers.protocol import Measured

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


async def published(broker, *messages: tuple[str, bytes]) -> None:
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        for topic, data in messages:
            await client.publish(topic, data, qos=1, retain=topic.startswith("homeassistant/"))


def everything() -> list[tuple[str, bytes]]:
    """The whole corpus as it would be published now."""
    now_s = round(time.time(), 3)
    return [
        (one["topic"], body(one, now_s)) for path in FILES for one in corpus(path)["messages"]
    ] + births(now_s)


@pytest.mark.asyncio
async def test_all_families_are_listed_placed_and_read_without_a_mapping(broker, building, house):
    await asyncio.to_thread(relay, composition.log())
    stop = asyncio.Event()
    service = asyncio.create_task(Listening(composition.log()).run(stop))
    config = {"topic": "#", "zone": "Europe/Berlin"}
    await asyncio.to_thread(lambda: source_of(broker.url, **config))  # the service runs already
    devices = {row[0] for path in FILES for row in corpus(path)["measured"]}
    listed: set[str] = set()
    end = time.monotonic() + WAIT_S
    while not devices <= listed:  # what is published before the subscription is nobody's
        assert time.monotonic() < end, devices - listed
        await published(broker, *everything())
        await asyncio.sleep(0.5)
        listed = await asyncio.to_thread(lambda: {one.device for one in SeenDevice.objects.all()})
    assert in_log("reading") == in_log("temperature_reading") == []

    def place_all() -> set[str]:
        for one in SeenDevice.objects.all():
            place_device(one, SYSTEM, rid="A")
        return set(Sensor.objects.filter(simulated=False).values_list("sid", flat=True))

    sids = await asyncio.to_thread(place_all)

    def said() -> set[str]:
        """The sensors that have been read."""
        return {row[place] for stream, place in SID_AT.items() for _, row in in_log(stream)}

    end = time.monotonic() + WAIT_S
    while not sids <= await asyncio.to_thread(said):
        assert time.monotonic() < end, sids - said()
        await published(broker, *everything())
        await asyncio.sleep(0.5)
    stop.set()
    await asyncio.wait_for(service, WAIT_S)
    fahrenheit = [row for _, row in in_log("temperature_reading") if "AM2301" in row[0]]
    assert {round(row[2], 1) for row in fahrenheit} <= {21.2, 22.0}
    mmhg = [row for _, row in in_log("reading") if "BMP280" in row[0]]
    assert {round(row[4]) for row in mmhg} == {1010}
    kept = await asyncio.to_thread(lambda: list(RefusedMessage.objects.values_list("topic")))
    assert kept == []


SID_AT = {
    "reading": 0,
    "temperature_reading": 0,
    "light_reading": 1,
    "door_reading": 1,
    "humidity_reading": 1,
}


def test_an_unknown_device_is_listed_and_no_reading(sink):
    sink(heard(Measured("kitchen/air", "co2", 612.0, "ppm", name="Air")))
    sink(heard(Measured("kitchen/air", "battery", 97.0, "%")))
    (one,) = SeenDevice.objects.all()
    assert (one.device, one.name) == ("kitchen/air", "Air")
    assert sorted(one.quantities) == ["battery", "co2"]
    assert one.quantities["co2"]["value"] == 612.0
    assert changes_of("reading") == []


def test_a_placed_device_is_read_in_the_kinds_unit(sink):
    measured = Measured("air", "pressure", 101.3, "kPa"), Measured("air", "co2", 612.0, "ppm")
    sink(heard(*measured))
    place_device(SeenDevice.objects.get(), SYSTEM, rid="A")
    assert sink(heard(*measured)) == 2
    rows = {row[1]: row for _, row in changes_of("reading")}
    assert rows["pressure"][4:6] == (pytest.approx(1013.0), "hPa")
    assert rows["co2"][:4] == (sid_of("b", "air", "co2"), "co2", "A", None)


def test_one_impossible_value_costs_the_others_nothing(sink):
    sink(heard(Measured("air", "co2", 612.0), Measured("air", "battery", 97.0)))
    place_device(SeenDevice.objects.get(), SYSTEM, rid="A")
    with pytest.raises(BadReading, match="cannot report"):
        sink(heard(Measured("air", "battery", 655.0), Measured("air", "co2", 700.0)))
    assert [row[4] for _, row in changes_of("reading")] == [700.0]
    with pytest.raises(BadReading, match="cannot be converted"):
        sink(heard(Measured("air", "co2", 20.0, "°C")))


def test_what_a_broker_kept_counts_only_with_its_time(sink):
    sink(heard(Measured("air", "co2", 612.0)))
    place_device(SeenDevice.objects.get(), SYSTEM, rid="A")
    now_s = time.time()
    assert sink(heard(Measured("air", "co2", 1.0), retained=True)) == 0
    week_ago = Measured("air", "co2", 2.0, at_s=now_s - 7 * 86_400.0)
    assert sink(heard(week_ago, retained=True)) == 0
    assert sink(heard(Measured("air", "co2", 3.0, at_s=now_s - 60.0), retained=True)) == 1
    assert [row[4] for _, row in changes_of("reading")] == [3.0]


def test_a_device_is_placed_once_and_later_quantities_with_it(sink):
    sink(heard(Measured("air", "co2", 612.0)))
    seen = SeenDevice.objects.get()
    assert [one.kind for one in place_device(seen, SYSTEM, mid="m1")] == ["co2"]
    sink(heard(Measured("air", "noise", 40.0)))
    seen.refresh_from_db()
    assert [one.kind for one in place_device(seen, SYSTEM, mid="m1")] == ["noise"]
    assert {one.machine_id for one in Sensor.objects.filter(simulated=False)} == {"m1"}
    with pytest.raises(Invalid, match="room or a machine"):
        place_device(seen, SYSTEM)


def test_a_placed_device_moves_with_its_sensors(sink):
    sink(heard(Measured("air", "co2", 612.0)))
    place_device(SeenDevice.objects.get(), SYSTEM, rid="A")
    assert place_device(SeenDevice.objects.get(), SYSTEM, rid="B") == []
    sensor = Sensor.objects.get(kind="co2")
    assert (sensor.unit_id, sensor.node_id) == ("B", 3)


def test_the_expected_interval_is_the_longest_silence_that_was_seen(sink):
    now_s = time.time()
    for late_s in (0.0, 300.0, 900.0):
        sink(heard(Measured("slow", "co2", 612.0), at_s=now_s + late_s))
    place_device(SeenDevice.objects.get(), SYSTEM, rid="A")
    assert Sensor.objects.get(kind="co2").period_s == pytest.approx(600.0)


def test_no_source_lists_more_devices_than_anybody_reads(sink, monkeypatch):
    monkeypatch.setattr("smartcis.sources.devices.KEPT", 3)
    assert KEPT > 3
    for number in range(5):
        sink(heard(Measured(f"d{number}", "co2", 1.0), at_s=1_000.0 + number))
    assert [one.device for one in SeenDevice.objects.all()] == ["d4", "d3", "d2"]


def test_ids_of_sensors_are_legible_and_no_two_alike():
    assert sid_of("b", "0x00158d", "co2") == "b:0x00158d:co2"
    names = ("a b", "a/b", "a_b", "a  b", "é" * 90, "é" * 91)
    strange = {sid_of("b", name, "co2") for name in names}
    assert len(strange) == 6
    assert all(len(one) <= 80 and " " not in one and "/" not in one for one in strange)


def test_recent_messages_are_the_newest_of_each_topic(building):
    recent = RecentMessages()
    recent.keep("b")
    assert recent_messages("b") == []
    for number in range(150):
        recent.add(Message(f"t/{number}", b"\xff%d" % number, 5.0))
    recent.add(Message("t/149", b"new", 6.0, retained=True))
    recent.keep("b")
    found = recent_messages("b")
    assert (found[0].topic, found[0].data, found[0].retained) == ("t/149", b"new", True)
    assert len(found) == 100


@pytest.mark.asyncio
async def test_a_mapping_added_to_a_running_source_is_read(broker, building, house):
    await asyncio.to_thread(relay, composition.log())
    stop = asyncio.Event()
    service = asyncio.create_task(Listening(composition.log()).run(stop))
    source = await asyncio.to_thread(lambda: source_of(broker.url, topic="nobody/here"))
    await until(lambda: in_log("source_heartbeat"), "the first heartbeat")
    said = {"topic": "plant/{room}/v", "path": "x", "kind": "co2", "identity": "{room}.co2"}

    def add() -> None:
        Sensor(sid="A.co2", kind="co2", unit_id="A", simulated=False).save()
        mapping = SourceMapping(source=source, **said)
        mapping.full_clean()
        mapping.save()

    await asyncio.to_thread(add)
    end = time.monotonic() + WAIT_S
    while not in_log("reading"):
        assert time.monotonic() < end, "the mapping was not read"
        await published(broker, ("plant/A/v", json.dumps({"x": 7}).encode()))
        await asyncio.sleep(0.2)
    await until(lambda: recent_messages("b"), "the page's messages")
    stop.set()
    await asyncio.wait_for(service, WAIT_S)
    assert {row[0] for _, row in in_log("reading")} == {"A.co2"}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"unit": "°C"}, "cannot be converted"),
        ({"kind": "nonsense"}, "no sensor kind"),
        ({"topic": "a/#/b"}, "a topic is levels"),
    ],
)
def test_a_mapping_that_cannot_be_is_not_saved(house, said, reason):
    mapping = {"topic": "a/{b}", "kind": "co2", "identity": "{b}"} | said
    with pytest.raises(ValidationError, match=reason):
        SourceMapping(source=source_of(), **mapping).full_clean()


def test_proposals_read_what_they_propose():
    data = b'{"a": {"co2": 612, "b c": [1, {"d.e": 4}]}, "contact": true}'
    message = Message("plant/A/state", data, 5.0)
    found = proposals(message)
    assert {one.mapping.path for one in found} == {
        "a.co2",
        "a.b c[0]",
        "a.b c[1]['d.e']",
        "contact",
    }
    for one in found:
        said = replace(one.mapping, kind=one.mapping.kind or "noise")
        (measured,) = PayloadReader([said]).read(message).measured
        assert measured.value == one.value * said.scale + said.offset


@pytest.mark.asyncio
async def test_hostile_payloads_of_all_families_are_kept_and_hold_nobody_up(
    broker, building, house
):
    await asyncio.to_thread(lambda: source_of(broker.url, topic="#"))
    sink = SourceSink("b", composition.log())
    settings = settings_of("mqtt", {"topic": "#", "url": broker.url}, source="b")
    wrapper = MqttBroker(replace(settings, refuse=sink.refuse))
    task = asyncio.create_task(wrapper.run(sink))
    hostile = [(one["topic"], body(one)) for path in FILES for one in corpus(path)["refused"]] + [
        ("spBv1.0/g/NBIRTH/n", b"\xff" * 40),
        ("spBv1.0/g/NDATA/n", b"\x12\x02\x10\x07"),
    ]
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        while not wrapper.refused:
            await client.publish("hello", b"?", qos=1)
            await asyncio.sleep(0.05)
        before = wrapper.refused
        for topic, data in hostile:
            await client.publish(topic, data, qos=1)
        await client.publish("zigbee2mqtt/last", b'{"temperature": 20}', qos=1)
        seen = SeenDevice.objects.filter(device="last")
        await until(seen.exists, "the good message behind them")
    task.cancel()
    await asyncio.wait([task])
    assert wrapper.refused >= before + len(hostile)
    kept = await asyncio.to_thread(
        lambda: set(RefusedMessage.objects.values_list("topic", flat=True))
    )
    assert {topic for topic, _ in hostile} <= kept
