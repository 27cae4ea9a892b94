"""ChirpStack v4: `application/<id>/device/<eui>/event/up`, decoded by a codec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from smartcis.wrappers.errors import BadBrokerMessage
from smartcis.wrappers.payloads.lorawan import decoded_values
from smartcis.wrappers.payloads.protocol import Message, Stateless
from smartcis.wrappers.payloads.times import moment_s
from smartcis.wrappers.protocol import Measured


class ChirpStack(Stateless):
    """Devices of a ChirpStack server."""

    key: ClassVar[str] = "chirpstack"
    label: ClassVar[str] = "ChirpStack (v4)"
    filters: ClassVar[tuple[str, ...]] = ("application/+/device/+/event/+",)

    def recognises(self, message: Message) -> bool:
        """Returns whether the topic ends as an event of a device, behind a region's prefix too."""
        match message.levels:
            case [*_, "application", _, "device", _, "event", _]:
                return True
        return False

    def read(self, message: Message) -> Sequence[Measured]:
        """Returns what the codec decoded, or the battery of a status; see `Family`."""
        *_, eui, _, event = message.levels
        if event not in ("up", "status"):
            return ()  # joins, acknowledgements, logs
        said = message.object()
        info, at_s = said.get("deviceInfo"), moment_s(said.get("time"))
        name = info.get("deviceName") if isinstance(info, Mapping) else None
        device, title = eui, name if isinstance(name, str) else ""
        if event == "status":
            return decoded_values(device, _status(said), at_s, title)
        payload = said.get("object")
        if not isinstance(payload, Mapping):
            raise BadBrokerMessage(
                "an uplink without a decoded object cannot be read",
                found=type(payload).__name__,
                attempt="give the device profile a codec",
            )
        return decoded_values(device, payload, at_s, title)


def _status(said: Mapping[str, Any]) -> dict[str, Any]:
    unknown = said.get("externalPowerSource") or said.get("batteryLevelUnavailable")
    return {} if unknown else {"battery": said.get("batteryLevel")}
