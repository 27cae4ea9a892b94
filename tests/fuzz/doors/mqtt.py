"""MQTT: what a broker hands over; taken or kept, and the next one is read."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace

from aspen.model.schema import Type
from smartcis.catalog import CATALOG
from smartcis.ingest.readings import transactions, validate
from smartcis.models.refused import _text
from smartcis.wrappers.kinds import kind_of
from smartcis.wrappers.mqtt import MqttBroker
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.protocol import Batch, MessageRefusal, Readings, Settings
from tests.fuzz.door import Door, Fault

NOW_S = round(time.time(), 3)
COLUMNS = CATALOG.get("sensor").columns
PLACED = {one.name: 1 if one.type is Type.INT else "A" for one in COLUMNS}
SENSORS = {
    sid: PLACED | {"sid": sid, "kind": kind}
    for sid, kind in (("m1.seat", "seat"), ("a.temp", "temperature"), ("a.rfid", "rfid"))
}
SEEDS = (
    {"sid": "m1.seat", "value": 61.5, "unit": "kg", "at_s": NOW_S},
    [{"sid": "m1.seat", "value": 1, "unit": "kg", "at_s": NOW_S}] * 3,
    {"sid": "a.temp", "value": 20.25, "unit": "°C", "at": "2026-11-22T08:00:00Z"},
    {"sid": "a.rfid", "value": -60, "unit": "dBm", "at_s": NOW_S, "tag": "t1"},
)


def door() -> Door:
    """Returns the door."""
    config = kind_of("mqtt").checked({"topic": "house/+", "url": "mqtt://broker.example"})
    kept: list[MessageRefusal] = []
    settings = Settings("b", config, 10.0, client_id="fuzz", refuse=kept.append)
    wrapper, loop = MqttBroker(replace(settings)), asyncio.new_event_loop()

    def append(batch: Batch) -> int:
        assert isinstance(batch, Readings)
        rows = validate(list(batch.readings), SENSORS, now_s=NOW_S)
        transactions(rows, NOW_S)
        return len(rows)

    def enter(data: bytes) -> str:
        kept.clear()
        before = wrapper.appended
        loop.run_until_complete(wrapper._try(Message("house/a", data, NOW_S), append))
        if wrapper.appended > before:
            return "taken"
        if len(kept) != 1:
            raise Fault(f"neither taken nor kept: {len(kept)}")
        if kept[0].fault.code == "smartcis.wrappers.bad_message":
            raise Fault(f"it broke its reader: {kept[0].fault.message}")
        for text in (kept[0].fault.message, wrapper.pulse.reason, _text(kept[0].data[:2_000])):
            if "\0" in text or text != text.encode(errors="replace").decode():
                raise Fault(f"words that no database takes: {text!r}")
        return kept[0].fault.code

    words = (b'"sid"', b'"at_s"', b'"tag"', b'"value"', b"m1.seat", b'"unit"', b"kg")
    seeds = [json.dumps(one).encode() for one in SEEDS]
    return Door(seeds, enter, words, ("json", "json", "words", "bytes"))
