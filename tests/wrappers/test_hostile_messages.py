"""Messages nobody can use: acknowledged, counted, kept, and never in the way of the next."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import aiomqtt
import pytest
from django.contrib.auth.models import User
from wrappers.conftest import settings_of
from wrappers.test_mqtt import TOPIC, ended, reading, until, weights

from smartcis import composition
from smartcis.models import RefusedMessage, Source, SourceState, StaffAccess
from smartcis.models.refused import BEGINNING_BYTES, KEPT, keep_refused
from smartcis.outbound import AddressRefused
from smartcis.sources.sink import SourceSink
from smartcis.wrappers.errors import BadRow, LogAway
from smartcis.wrappers.mqtt import MqttBroker
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.protocol import MessageRefusal

pytestmark = pytest.mark.django_db(transaction=True)

IN_FLIGHT = 20  # so many messages Mosquitto sends without an acknowledgement
HOSTILE = [
    b"[" * 5_000,
    b"[" * 5_000 + b"]" * 5_000,
    b"9" * 400,
    b'[{"sid": "m1.seat", "value": %s, "unit": "kg", "at_s": 1}]' % (b"9" * 400),
    b'{"sid": "m1.seat", "value": 1, "unit": "kg", "at_s": %s}' % (b"9" * 400),
    b'{"sid": "m1.seat", "value": 1e999, "unit": "kg", "at_s": 1}',
    rb'{"sid": "\ud800", "value": 1, "unit": "kg", "at_s": 1}',
    rb'{"sid": "m1.seat\u0000", "value": 1, "unit": "kg", "at_s": 1}',
    b'{"sid": "m1.seat", "sid": "m2.seat", "value": 1}',
    b'{"value": NaN}',
    b"\xff\xfe\x00",
    b"",
    b"null",
    b"[]",
    b"[[[]]]",
    b'{"sid": {"a": 1}, "value": [], "unit": {}, "at": []}',
    b'{"sid": "m1.seat", "value": 1, "unit": "kg", "at": "9999-12-31T23:59:59+00:00"}',
    b'{"sid": "m1.seat", "value": 1, "unit": "kg", "at": "0001-01-01T00:00:00+23:59"}',
    b" " * 2_000_000,
]


def source() -> Source:
    return Source.objects.create(
        source="b", kind="mqtt", config={"topic": "house/+", "url": "mqtt://127.0.0.1"}
    )


def wrapper_of(broker, sink: SourceSink) -> MqttBroker:
    config = settings_of("mqtt", {"topic": "house/+", "url": broker.url}, source="b")
    wrapper = MqttBroker(replace(config, refuse=sink.refuse))
    wrapper.longest_pause_s = 0.2
    return wrapper


@pytest.mark.asyncio
async def test_hostile_messages_are_kept_and_hold_nobody_up(broker, building, house):
    await asyncio.to_thread(source)
    sink = SourceSink("b", composition.log())
    wrapper = wrapper_of(broker, sink)
    task = asyncio.create_task(wrapper.run(sink))
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        while not wrapper.refused:
            await client.publish(TOPIC, b"hello?", qos=1)
            await asyncio.sleep(0.05)
        heard = wrapper.refused
        for message in HOSTILE:
            await client.publish(TOPIC, message, qos=1)
        good = [float(number) for number in range(9, 10 + IN_FLIGHT)]
        for value in good:
            await client.publish(TOPIC, json.dumps(reading(value)), qos=1)
        # A broker forgets acknowledgements that it has not read by the end. Behind the last of
        # these it has read that of the first, and those of all messages before that one.
        await until(lambda: wrapper.appended == len(good), "the good messages behind them")
    refused = wrapper.refused
    await ended(task)
    assert refused >= heard + len(HOSTILE)
    assert weights() == dict.fromkeys(good, 1)
    state = await asyncio.to_thread(SourceState.objects.get, pk="b")
    assert state.refused == refused
    # All were acknowledged: the next session gets none of them again.
    second = wrapper_of(broker, sink)
    task = asyncio.create_task(second.run(sink))
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        while not second.appended:
            await client.publish(TOPIC, json.dumps(reading(8.0)), qos=1)
            await asyncio.sleep(0.1)
    await ended(task)
    assert second.refused == 0
    kept = await asyncio.to_thread(lambda: list(RefusedMessage.objects.all()))
    assert max(one.size_bytes for one in kept) == 2_000_000
    assert all(len(one.beginning) <= 4 * BEGINNING_BYTES for one in kept)


@pytest.mark.asyncio
async def test_a_message_that_breaks_its_reader_is_refused_and_named():
    kept: list[MessageRefusal] = []
    config = settings_of("mqtt", {"topic": "x", "url": "mqtt://127.0.0.1"})
    wrapper = MqttBroker(replace(config, refuse=kept.append))

    def breaks(_batch):
        raise MemoryError("no room")

    await wrapper._try(Message("t", b'{"a": 1}', 0.0), breaks)
    assert "no room" in kept[0].fault.message
    assert (wrapper.refused, wrapper.appended) == (1, 0)


@pytest.mark.asyncio
async def test_a_message_is_not_acknowledged_before_it_is_kept():
    config = settings_of("mqtt", {"topic": "x", "url": "mqtt://127.0.0.1"})

    def away(_refusal):
        raise LogAway("the database is away")

    wrapper = MqttBroker(replace(config, refuse=away))
    with pytest.raises(LogAway):
        await wrapper._try(Message("t", b"nonsense", 0.0), lambda _batch: 1)
    assert wrapper.refused == 0


@pytest.mark.asyncio
async def test_a_broker_inside_is_called_when_the_operator_says_so(broker, settings):
    settings.NETWORKS, settings.MQTT_URL = [], ""
    wrapper = MqttBroker(settings_of("mqtt", {"topic": "house/+", "url": broker.url}))
    with pytest.raises(AddressRefused):
        await wrapper._client().__aenter__()
    settings.MQTT_URL = broker.url
    async with wrapper._client() as client:
        await client.subscribe("house/+")


def test_the_newest_are_kept_and_all_are_counted(house):
    source()
    for number in range(KEPT + 10):
        data = b"\x00\xff%d" % number + b"x" * 9_000
        keep_refused("b", MessageRefusal("house/\udcffa", data, BadRow("bad\ud800")))
    kept = list(RefusedMessage.objects.all())
    assert len(kept) == KEPT
    assert SourceState.objects.get(pk="b").refused == KEPT + 10
    assert kept[0].beginning.startswith(rf"\x00\xff{KEPT + 9}x")
    assert (kept[0].size_bytes, kept[0].code) == (9_004, BadRow.code)
    keep_refused("gone", MessageRefusal("a", b"", BadRow("no such source any more")))
    assert RefusedMessage.objects.count() == KEPT


def test_staff_sees_them_and_nobody_else_does(client, building, house):
    source()
    keep_refused("b", MessageRefusal("house/x", b"<script>", BadRow("a bad row")))
    (feed,) = client.get("/api/v1/feeds/").json()["results"]
    assert feed["refused"] == 1
    path = "/api/v1/feeds/b/refused/"
    assert client.get(path).status_code == 403
    client.force_login(User.objects.create_superuser("root"))
    (shown,) = client.get(path).json()
    assert (shown["topic"], shown["beginning"], shown["size_bytes"]) == ("house/x", "<script>", 8)
    assert client.get("/api/v1/feeds/nobody/refused/").status_code == 404
    assert StaffAccess.objects.get().what == "messages of b left out"
    page = client.get("/admin/smartcis/source/b/change/").content.decode()
    assert "refusedmessage/?source__source__exact=b" in page
    page = client.get("/admin/smartcis/refusedmessage/?source__source__exact=b").content.decode()
    assert "a bad row" in page
    assert "<script>" not in page.partition("a bad row")[2].partition("</tr>")[0]
