"""The Things Network v3: `v3/<application>@<tenant>/devices/<device>/up` with a decoded payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from smartcis.wrappers.errors import BadBrokerMessage
from smartcis.wrappers.payloads.lorawan import decoded_values
from smartcis.wrappers.payloads.protocol import Message, Stateless
from smartcis.wrappers.payloads.times import moment_s
from smartcis.wrappers.protocol import Measured

LEVELS = 5


class ThingsNetwork(Stateless):
    """Devices of an application of The Things Stack."""

    key: ClassVar[str] = "ttn"
    label: ClassVar[str] = "The Things Network (v3)"
    filters: ClassVar[tuple[str, ...]] = ("v3/+/devices/+/up",)

    def recognises(self, message: Message) -> bool:
        """Returns whether the topic is of a device's traffic."""
        levels = message.levels
        return len(levels) >= LEVELS and levels[0] == "v3" and levels[2] == "devices"

    def read(self, message: Message) -> Sequence[Measured]:
        """Returns what the payload formatter decoded; see `Family`."""
        levels = message.levels
        if levels[4:] != ["up"]:
            return ()  # joins, downlinks, service
        said = message.object()
        uplink = said.get("uplink_message")
        if not isinstance(uplink, Mapping):
            raise BadBrokerMessage("an uplink has an uplink_message", found=type(uplink).__name__)
        payload = uplink.get("decoded_payload")
        if not isinstance(payload, Mapping):
            raise BadBrokerMessage(
                "an uplink without a decoded payload cannot be read",
                found=type(payload).__name__,
                attempt="give the device a payload formatter in the console",
            )
        at_s = moment_s(uplink.get("received_at")) or moment_s(said.get("received_at"))
        found = decoded_values(levels[3], payload, at_s)
        battery = uplink.get("last_battery_percentage")
        if isinstance(battery, Mapping) and all(one.quantity != "battery" for one in found):
            found += _battery(levels[3], battery)
        return found


def _battery(device: str, said: Mapping[str, Any]) -> list[Measured]:
    at_s = moment_s(said.get("received_at"))
    return decoded_values(device, {"battery": said.get("value")}, at_s)
