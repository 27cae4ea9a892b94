"""MQTT with a real broker: killed, restarted, forgetful; nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from collections import Counter

import aiomqtt
import pytest
from django.db import connections
from wrappers.conftest import WAIT_S, health, settings_of

from aspen.log.entry import Transaction
from smartcis import composition
from smartcis.sources.sink import SourceSink
from smartcis.wrappers.errors import BadConfig, LogAway
from smartcis.wrappers.mqtt import MqttBroker
from smartcis.wrappers.payloads.own import readings_of

pytestmark = pytest.mark.django_db(transaction=True)
TOPIC = "house/seats"


def reading(value: float, sid: str = "m1.seat", **more) -> dict:
    return {"sid": sid, "value": value, "unit": "kg", "at_s": round(time.time(), 3)} | more


def weights() -> Counter:
    """How often each weight stands in the log."""
    log = composition.log()
    return Counter(
        change.row[2]
        for _, entry in log.read(0, log.head())
        if isinstance(entry, Transaction)
        for change in entry.changes
        if change.relation == "seat_reading"
    )


def wrapper_of(broker) -> MqttBroker:
    wrapper = MqttBroker(settings_of("mqtt", {"topic": "house/+", "url": broker.url}))
    wrapper.longest_pause_s = 0.2
    return wrapper


@pytest.fixture
def append(building, house):
    sink = SourceSink("s", composition.log())

    def threaded(batch):
        try:
            return sink(batch)
        finally:
            connections.close_all()  # this thread's own

    return threaded


async def until(holds, what: str) -> None:
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        await asyncio.sleep(0.02)


async def ended(task) -> None:
    task.cancel()
    await asyncio.wait([task])


async def publish(broker, *messages: object) -> None:
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        for message in messages:
            body = message if isinstance(message, str) else json.dumps(message)
            await client.publish(TOPIC, body, qos=1)


async def subscribed(broker, append) -> tuple[MqttBroker, asyncio.Task]:
    """A running wrapper that certainly hears: its first message is a sign, refused by the log."""
    wrapper = wrapper_of(broker)
    task = asyncio.create_task(wrapper.run(append))
    while not wrapper.refused:
        await publish(broker, "hello?")
        await asyncio.sleep(0.05)
    return wrapper, task


async def publish_slowly(broker, readings) -> None:
    async with aiomqtt.Client("127.0.0.1", broker.port, timeout=WAIT_S) as client:
        for one in readings:
            await client.publish(TOPIC, json.dumps(one), qos=1)
            await asyncio.sleep(0.002)


@pytest.mark.parametrize("kind", ["broker", "forgetful_broker"])
@pytest.mark.asyncio
async def test_a_killed_broker_costs_no_reading_and_doubles_none(kind, append, request):
    broker = request.getfixturevalue(kind)
    wrapper, task = await subscribed(broker, append)
    readings = [reading(float(n)) for n in range(120)]
    sending = asyncio.create_task(publish_slowly(broker, readings))
    await until(lambda: wrapper.appended > 30, "the first readings")
    broker.end(signal.SIGKILL)
    await ended(sending)
    await until(lambda: wrapper.pulse.reason.startswith("broker"), "the wrapper to notice")
    broker.start()
    heard = wrapper.refused
    while wrapper.refused == heard:
        await publish(broker, "hello again?")
        await asyncio.sleep(0.05)
    # A device cannot know what its broker lost after acknowledging it, nor who heard: it repeats.
    await publish_slowly(broker, readings)
    await until(lambda: len(weights()) == 120, "all readings")
    await until(lambda: wrapper.pulse.reason == "", "the reason to pass")
    await ended(task)
    assert weights() == Counter({float(n): 1 for n in range(120)})


@pytest.mark.asyncio
async def test_the_broker_keeps_what_comes_while_nobody_listens(broker, append):
    _, task = await subscribed(broker, append)
    await ended(task)
    await publish(broker, *(reading(float(n)) for n in range(20)))
    broker.end(signal.SIGTERM)
    broker.start()
    task = asyncio.create_task(wrapper_of(broker).run(append))
    await until(lambda: len(weights()) == 20, "what was kept")
    await ended(task)
    assert set(weights().values()) == {1}


@pytest.mark.asyncio
async def test_a_message_is_not_acknowledged_before_it_stands_in_the_log(broker, append):
    """The first reader dies between append and acknowledgement, the second gets it again."""
    appended, calls, release = threading.Event(), [], threading.Event()

    def dies(batch):
        calls.append(batch.key)
        append(batch)
        appended.set()
        release.wait(WAIT_S)
        return 1

    _, task = await subscribed(broker, dies)
    await publish(broker, reading(7.0))
    await until(appended.is_set, "the append")
    await ended(task)
    release.set()
    second = wrapper_of(broker)

    def again(batch):
        calls.append(batch.key)
        return append(batch)

    task = asyncio.create_task(second.run(again))
    await until(lambda: second.appended, "the second delivery")
    await ended(task)
    assert calls[-1] == calls[-2]
    assert weights() == Counter({7.0: 1})


@pytest.mark.asyncio
async def test_a_log_that_is_away_delays_messages_and_loses_none(broker, append):
    failures = iter([LogAway("away"), LogAway("away, but it had it")])

    def shaky(batch):
        append(batch)
        fault = next(failures, None)
        if fault is not None:
            raise fault
        return 1

    wrapper, task = await subscribed(broker, shaky)
    await publish(broker, reading(1.0), reading(2.0))
    await until(lambda: wrapper.appended == 2, "both messages")
    await ended(task)
    assert weights() == Counter({1.0: 1, 2.0: 1})


@pytest.mark.asyncio
async def test_a_message_that_is_none_is_named_and_holds_nobody_up(broker, append):
    wrapper, task = await subscribed(broker, append)
    await publish(broker, reading(3.0, sid="nobody"))
    await until(lambda: "smartcis.ingest.unknown_sensor" in wrapper.pulse.reason, "the refusal")
    await publish(broker, [reading(4.0), reading(5.0)])
    await until(lambda: wrapper.appended == 1, "the good message")
    await ended(task)
    assert weights() == Counter({4.0: 1, 5.0: 1})
    assert health(wrapper.pulse, time.time())[0] == "live"


@pytest.mark.asyncio
async def test_a_kept_message_is_no_sign_of_life(broker, append):
    wrapper, task = await subscribed(broker, append)
    hour_ago_s = round(time.time() - 3600.0, 3)
    await publish(broker, reading(6.0, at_s=hour_ago_s))
    await until(lambda: wrapper.appended == 1, "the old message")
    await ended(task)
    assert weights() == Counter({6.0: 1})
    assert health(wrapper.pulse, time.time())[0] != "live"
    log = composition.log()
    (at_s,) = [
        entry.at_s
        for _, entry in log.read(0, log.head())
        if isinstance(entry, Transaction) and entry.changes[0].relation == "seat_reading"
    ]
    assert hour_ago_s - 1 <= at_s <= hour_ago_s  # windows count from the measurement


def test_equal_messages_have_one_key_and_others_another():
    assert readings_of("a", b'{"x": 1}').key == readings_of("a", b'{"x": 1}').key
    assert readings_of("a", b'{"x": 1}').key != readings_of("b", b'{"x": 1}').key
    assert readings_of("a", b'{"x": 1}').key != readings_of("a", b'{"x": 2}').key


@pytest.mark.parametrize("topic", ["a/#/b", "a+/b"])
def test_a_topic_that_is_none_is_refused(topic):
    with pytest.raises(BadConfig, match="topic filter"):
        MqttBroker(settings_of("mqtt", {"topic": topic, "url": "mqtt://localhost"}))


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost", "http://x", "mqtt://"),
        *("mqtt://a:65536", "mqtts://a:x", "mqtt://a:0", "mqtt://a:-1", "mqtt://[a"),
    ],
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(BadConfig, match="mqtt://"):
        MqttBroker(settings_of("mqtt", {"topic": "x", "url": url}))
