"""Tasmota: `tele/<name>/SENSOR` and `STATE`, a module of sensors per nested object.

    tele/hall/SENSOR   {"Time": "…", "AM2301": {"Temperature": 70.1, …}, "TempUnit": "F"}
    tele/hall/STATE    {"Time": "…", "POWER": "ON", "Wifi": {"RSSI": 72, "Signal": -64}}

`Time` is local and names no zone: it counts where the source has one,
and the device's clock is set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from smartcis.wrappers.payloads.fields import DEPTH, field_named, number
from smartcis.wrappers.payloads.protocol import Message, Stateless
from smartcis.wrappers.payloads.times import moment_s
from smartcis.wrappers.protocol import Measured

READ = ("SENSOR", "STATE", "STATUS8", "STATUS10", "STATUS11")
PREFIXES = ("tele", "stat")
LEVELS = 3
CLOCK_WRONG_S = 3_600.0  # an hour off, it is the wrong zone or no clock
KWH = {"Total": "consumption"}
UNITS = {"temperature": "TempUnit", "pressure": "PressureUnit"}
NOT_MEASURED = ("Today", "Yesterday", "Vcc", "RSSI", "Dimmer")  # RSSI of Wi-Fi is in percent here


class Tasmota(Stateless):
    """Devices with Tasmota's firmware.

    Args:
        zone: of the devices' clocks; None for not known.
    """

    key: ClassVar[str] = "tasmota"
    label: ClassVar[str] = "Tasmota"
    filters: ClassVar[tuple[str, ...]] = ("tele/+/SENSOR", "tele/+/STATE")

    def __init__(self, zone: ZoneInfo | None = None) -> None:
        self._zone = zone

    def recognises(self, message: Message) -> bool:
        """Returns whether the topic has one of Tasmota's prefixes, wherever it was put."""
        levels = message.levels
        first, *middle, last = levels if len(levels) >= LEVELS else ("", "")
        return first in PREFIXES or (last in READ and any(one in PREFIXES for one in middle))

    def read(self, message: Message) -> Sequence[Measured]:
        """Returns what all modules measured; see `Family`."""
        levels = message.levels
        if levels[-1] not in READ or not message.data:
            return ()
        device = "/".join(one for one in levels[:-1] if one not in PREFIXES)
        payload = message.object()
        inner = payload.get("StatusSNS", payload.get("StatusSTS", payload))
        if not isinstance(inner, Mapping):
            return ()
        at_s = moment_s(inner.get("Time"), self._zone)
        if at_s is not None and abs(at_s - message.at_s) > CLOCK_WRONG_S:
            at_s = None
        return [
            Measured("/".join((device, *path)), quantity, value, _unit(quantity, unit, inner), at_s)
            for path, quantity, value, unit in _modules(inner, ())
        ]


def _unit(quantity: str, unit: str, payload: Mapping[str, Any]) -> str:
    said = payload.get(UNITS.get(quantity, ""))
    return said if isinstance(said, str) else unit


def _modules(
    payload: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str, float, str]]:
    """Returns module, quantity, value and unit; a list has one value for each channel."""
    for name, value in payload.items():
        if isinstance(value, Mapping):
            if len(path) < DEPTH:
                yield from _modules(value, (*path, name))
            continue
        quantity, unit = _quantity(name, path)
        several = value if isinstance(value, list) else [value]
        for channel, one in enumerate(several, start=1):
            measured = number(one)
            if quantity and measured is not None:
                own = (*path, str(channel)) if isinstance(value, list) else path
                if quantity == "switch" and name != "POWER":
                    own = (*own, name.removeprefix("POWER"))
                yield own, quantity, measured, unit


def _quantity(name: str, path: tuple[str, ...]) -> tuple[str, str]:
    if not path:
        return ("switch", "") if name.rstrip("0123456789") == "POWER" else ("", "")
    if path[-1] == "Wifi":
        return ("signal", "dBm") if name == "Signal" else ("", "")
    if name in KWH and path[-1].startswith("ENERGY"):
        return KWH[name], "kWh"
    field = None if name in NOT_MEASURED else field_named(name)
    return (field.quantity, field.unit) if field is not None else ("", "")
