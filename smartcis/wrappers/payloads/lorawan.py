"""LoRaWAN: payloads that a codec of a network server has decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartcis.wrappers.payloads.fields import known_fields
from smartcis.wrappers.protocol import Measured


def decoded_values(
    device: str, payload: Mapping[str, Any], at_s: float | None, name: str = ""
) -> list[Measured]:
    """Returns the known quantities of a decoded payload, the first of each name.

    Numbered names, as in Cayenne's `temperature_1`, are channels of the device.
    """
    found: dict[tuple[str, str], Measured] = {}
    for one in known_fields(payload):
        place = f"{device}/{one.channel}" if one.channel else device
        measured = Measured(place, one.field.quantity, one.value, one.field.unit, at_s, name)
        found.setdefault((place, one.field.quantity), measured)
    return list(found.values())
