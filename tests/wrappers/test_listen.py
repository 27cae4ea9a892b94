"""The service: follows the table of sources, keeps heartbeats going, ends when asked."""

from __future__ import annotations

import asyncio
import json
import time

import aiomqtt
import pytest
from django.core.exceptions import ValidationError
from wrappers.conftest import WAIT_S, changes_of, in_log

from aspen.results.lease import Lease
from smartcis import composition, tasks
from smartcis.ingest.relay import relay
from smartcis.models import Source
from smartcis.sources.listen import TURN_S, ListenerTurn, Listening

pytestmark = pytest.mark.django_db(transaction=True)


async def until(holds, what: str) -> None:
    end = time.monotonic() + WAIT_S
    while not await asyncio.to_thread(holds):
        assert time.monotonic() < end, f"waited in vain for {what}"
        await asyncio.sleep(0.05)


def reasons() -> list[str]:
    return [reason for _, (_, _, _, reason, _) in in_log("source_heartbeat")]


@pytest.mark.asyncio
async def test_sources_are_followed_as_they_come_and_change(building, house, broker):
    await asyncio.to_thread(relay, composition.log())
    stop = asyncio.Event()
    service = asyncio.create_task(Listening(composition.log()).run(stop))
    source = Source(
        source="b", kind="mqtt", config={"topic": "here/#", "url": broker.url}, period_s=1.0
    )
    await asyncio.to_thread(source.save)
    await until(lambda: in_log("source_heartbeat"), "the first heartbeat")

    async def heard(topic: str, value: float) -> None:
        """Publish until it is in the log: the subscription may take a moment."""
        reading = {"sid": "m1.seat", "value": value, "unit": "kg"}
        async with aiomqtt.Client("127.0.0.1", broker.port) as client:
            while not [row for _, row in in_log("seat_reading") if row[2] == value]:
                body = json.dumps(reading | {"at_s": time.time()})
                await client.publish(topic, body, qos=1)
                await asyncio.sleep(0.1)

    await asyncio.wait_for(heard("here/seat", 1.0), WAIT_S)
    await until(
        lambda: [row for _, row in in_log("source_heartbeat") if row[2] > row[1] - 1.0],
        "a heartbeat that heard it",
    )
    source.config = source.config | {"topic": "there/#"}
    await asyncio.to_thread(source.save)
    await asyncio.wait_for(heard("there/seat", 2.0), WAIT_S)
    source.config = source.config | {"url": "mqtt://"}  # past the admin's checks
    await asyncio.to_thread(source.save)
    await until(lambda: any("bad_config" in one for one in reasons()), "the complaint")
    stop.set()
    await asyncio.wait_for(service, WAIT_S)


def test_one_process_has_the_turn_until_it_gives_it_back(building, settings):
    name = f"{building}:listen"
    first = ListenerTurn(Lease(settings.REDIS_URL, name, TURN_S))
    second = ListenerTurn(Lease(settings.REDIS_URL, name, TURN_S))
    assert [first(), second(), first(), second()] == [True, False, True, False]
    first.give_back()
    assert [second(), first()] == [True, False]


@pytest.mark.asyncio
async def test_who_loses_the_turn_lets_go(building, house, broker):
    await asyncio.to_thread(relay, composition.log())
    config = {"topic": "here/#", "url": broker.url}
    source = Source(source="b", kind="mqtt", config=config, period_s=1.0)
    await asyncio.to_thread(source.save)
    turn, stop = [True], asyncio.Event()
    listening = Listening(composition.log(), may=lambda: turn[0])
    service = asyncio.create_task(listening.run(stop))
    await until(lambda: sorted(listening._listeners) == ["b"], "the listener")
    turn[0] = False
    await until(lambda: sorted(listening._listeners) == [], "it to let go")
    turn[0] = True
    await until(lambda: sorted(listening._listeners) == ["b"], "the listener again")
    stop.set()
    await asyncio.wait_for(service, WAIT_S)
    assert sorted(listening._listeners) == []


def test_a_broker_needs_an_address(building, house, settings):
    settings.MQTT_URL = ""
    with pytest.raises(ValidationError, match="MQTT_URL"):
        Source(source="b", name="b", kind="mqtt", config={"topic": "x"}).full_clean()
    settings.MQTT_URL = "mqtt://localhost"
    Source(source="b", name="b", kind="mqtt", config={"topic": "x"}).full_clean()


def test_beat_polls_what_is_due_and_nothing_twice(building, house, site, monkeypatch):
    relay(composition.log())
    site.page = "BEGIN:VCALENDAR\nEND:VCALENDAR\n"
    for number in (1, 2):
        Source.objects.create(
            source=f"cal-{number}", kind="calendar", unit_id="A", config={"url": site.url}
        )
    asked = []
    monkeypatch.setattr(
        tasks.poll_source, "apply_async", lambda args, **_: asked.append(tasks.poll_source(*args))
    )
    assert tasks.poll_sources() == 2
    assert tasks.poll_sources() == 0
    assert asked == [1, 1]
    assert tasks.poll_source("cal-1") == 0
    assert site.asked == 2
    assert len(changes_of("source_heartbeat")) == 2
