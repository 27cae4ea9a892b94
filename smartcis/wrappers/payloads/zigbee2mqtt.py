"""Zigbee2MQTT: `zigbee2mqtt/<friendly name>` with one JSON object of all that a device exposes.

    zigbee2mqtt/kitchen/air    {"temperature": 21.4, "battery": 97, "linkquality": 80}

What the bridge says of itself, availability and commands are of the family, and measure nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from smartcis.wrappers.payloads.fields import known_fields
from smartcis.wrappers.payloads.protocol import Message, Stateless
from smartcis.wrappers.payloads.times import count_s, moment_s
from smartcis.wrappers.protocol import Measured

BASE = "zigbee2mqtt"
NOT_DEVICES = ("availability", "set", "get")
MILLIVOLTS_FROM = 400.0  # no mains has more volts, no battery fewer millivolts


class Zigbee2Mqtt(Stateless):
    """Devices behind Zigbee2MQTT."""

    key: ClassVar[str] = "zigbee2mqtt"
    label: ClassVar[str] = "Zigbee2MQTT"
    filters: ClassVar[tuple[str, ...]] = ("zigbee2mqtt/#",)

    def recognises(self, message: Message) -> bool:
        """Returns whether the topic begins as the bridge's does unless it is told otherwise."""
        return message.topic.startswith(f"{BASE}/")

    def read(self, message: Message) -> Sequence[Measured]:
        """Returns what a device exposes; see `Family`."""
        _, *levels = message.levels
        if not levels or levels[0] == "bridge" or levels[-1] in NOT_DEVICES or not message.data:
            return ()
        payload, device = message.object(), "/".join(levels)
        at_s = _seen_s(payload)
        found: dict[str, Measured] = {}
        for one in known_fields(payload):
            if one.path:
                continue  # settings, updates, the device's own description
            unit = one.field.unit
            if one.field.quantity == "voltage" and one.value >= MILLIVOLTS_FROM:
                unit = "mV"
            # Where there are two of a quantity, illuminance_lux and its like are the later ones.
            found[one.field.quantity + one.channel] = Measured(
                "/".join(filter(None, (device, one.channel))),
                one.field.quantity,
                one.value,
                unit,
                at_s,
            )
        return tuple(found.values())


def _seen_s(payload: Mapping[str, Any]) -> float | None:
    seen = payload.get("last_seen")
    return count_s(seen, 1_000.0) if isinstance(seen, int | float) else moment_s(seen)
