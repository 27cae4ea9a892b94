"""BACnet/IP: present values of a device's objects, each a quantity.

    object-list ── analog and binary inputs and values ── units, name ──> what each measures
    present-value ── every poll ──> measured

Law:        an object that is refused, or whose quantity nobody knows, is named and costs the others
            nothing; a device that does not answer is down.
Memory:     what each object measures, read again every hour.
Source:     ASHRAE 135, clauses 12 (objects) and 15.5 (ReadProperty).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from smartcis.outbound import AddressRefused, addresses_of
from smartcis.wrappers.base import Poller
from smartcis.wrappers.config import ConfigField, described, port_of
from smartcis.wrappers.errors import BadConfig, BadRow, SourceDown, reason_of
from smartcis.wrappers.payloads.fields import field_named
from smartcis.wrappers.protocol import Append, Capability, Measured, Measurements
from smartcis.wrappers.push import READINGS

if TYPE_CHECKING:
    from smartcis.wrappers.bacnet_client import BacnetClient

PORT = 47_808
POLL_S = 45.0
READ_AGAIN_S = 3_600.0
OBJECTS = 500
READ_KINDS = ("analog-input", "analog-value", "binary-input", "binary-value")
BINARY = "binary-"
OBJECT = (
    ConfigField("object", "text", "such as analog-input,1", required=True),
    ConfigField("kind", "text", "of sensor", required=True),
    ConfigField("unit", "text", "of the value; empty for the one that the object says"),
    ConfigField("device", "text", "whose it is; empty for the object's name"),
)
UNITS: Mapping[str, tuple[str, str]] = {
    "degrees-celsius": ("temperature", "°C"),
    "degrees-fahrenheit": ("temperature", "°F"),
    "degrees-kelvin": ("temperature", "K"),
    "percent-relative-humidity": ("humidity", "%"),
    "parts-per-million": ("co2", "ppm"),
    "parts-per-billion": ("voc", "ppb"),
    "micrograms-per-cubic-meter": ("pm25", "µg/m³"),
    "luxes": ("light", "lx"),
    "hectopascals": ("pressure", "hPa"),
    "millibars": ("pressure", "hPa"),
    "decibels": ("noise", "dB"),
    "decibels-a": ("noise", "dB"),
    "watts": ("power", "W"),
    "milliwatts": ("power", "mW"),
    "kilowatts": ("power", "kW"),
    "megawatts": ("power", "MW"),
    "watt-hours": ("consumption", "Wh"),
    "kilowatt-hours": ("consumption", "kWh"),
    "megawatt-hours": ("consumption", "MWh"),
    "volts": ("voltage", "V"),
    "millivolts": ("voltage", "mV"),
    "kilovolts": ("voltage", "kV"),
    "amperes": ("current", "A"),
    "milliamperes": ("current", "mA"),
}
"""By engineering unit: what is usually measured in it, and the unit as it is written here."""


@dataclass(frozen=True, slots=True)
class BacnetPoint:
    """An object and what it measures.

    Args:
        object: as the standard spells it.
        kind: of sensor.
        unit: of its value.
        device: whose it is.
        name: for people.
    """

    object: str
    kind: str
    unit: str
    device: str
    name: str = ""


class BacnetDevice(Poller):
    """One device."""

    key = "bacnet"
    label = "BACnet/IP"
    fields = (
        ConfigField("host", "text", "name or address of the device", required=True),
        ConfigField("port", "whole", "47808 unless said", default=PORT),
        ConfigField(
            "objects",
            "objects",
            'what is read: [{"object": "analog-input,1", "kind": "temperature"}]; also unit and '
            "device; empty for its analog and binary inputs and values, by their units and names",
            default=[],
        ),
    )
    period_s = 30.0
    feeds = READINGS
    capabilities = (Capability.POLL, Capability.SAMPLE)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._host, self._port = str(config["host"]), port_of(config)
        given = [
            described("bacnet object", one, OBJECT, number)
            for number, one in enumerate(config["objects"], start=1)
        ]
        self._given = [
            BacnetPoint(one["object"], one["kind"], one["unit"], one["device"] or one["object"])
            for one in given
        ]
        named = [(one.device, one.kind) for one in self._given]
        if len(set(named)) < len(named):
            raise BadConfig(
                "two objects are the same quantity of one device", found=str(named)[:80]
            )

    def _read(self, append: Append, now_s: float) -> list[str]:
        try:
            addresses = addresses_of(self._host, self._port)
            address = next((one for one in addresses if ":" not in one), None)
            if address is None:
                raise SourceDown(f"{self._host[:60]} has no IPv4 address")
            measured, warnings = asyncio.run(self._ask(address, now_s))
        except BadRow as bad:
            raise SourceDown(bad.message, found=bad.found) from bad
        except AddressRefused as refused:
            raise SourceDown(refused.message, found=refused.found) from refused
        except TimeoutError as error:
            raise SourceDown(f"the device was not read within {POLL_S:g} s") from error
        except OSError as error:
            raise SourceDown(f"the device does not answer: {reason_of(error)}") from error
        if not measured:
            raise SourceDown(warnings[0] if warnings else "the device has no inputs or values")
        return warnings + self._append(append, Measurements("", measured, now_s))

    async def _ask(self, address: str, now_s: float) -> tuple[list[Measured], list[str]]:
        from smartcis.wrappers.bacnet_client import bacnet_client  # noqa: PLC0415  # see its head

        async with asyncio.timeout(POLL_S), bacnet_client(address, self._port) as client:
            points, strange = await self._points(client, now_s)
            measured, warnings = [], list(strange)
            for one in points:
                try:
                    value = _number(one.object, await client.read(one.object, "present-value"))
                except BadRow as bad:
                    warnings.append(f"{bad.code}: {bad.message}")
                else:
                    found = Measured(one.device, one.kind, value, one.unit, now_s, one.name)
                    measured.append(found)
            return measured, warnings

    async def _points(
        self, client: BacnetClient, now_s: float
    ) -> tuple[list[BacnetPoint], Sequence[str]]:
        """Returns what is read, and what cannot be, a sentence each."""
        memory = self.settings.memory
        said = repr(self._given)
        fresh = 0 <= now_s - float(memory.get("read_s", 0.0)) < READ_AGAIN_S
        if not (fresh and memory.get("said") == said):
            points, strange = await (self._described(client) if self._given else _found(client))
            memory.update(
                read_s=now_s, said=said, points=[asdict(one) for one in points], strange=strange
            )
        return [BacnetPoint(**one) for one in memory["points"]], memory["strange"]

    async def _described(self, client: BacnetClient) -> tuple[list[BacnetPoint], list[str]]:
        """Returns the objects that the operator named, with their units."""
        from smartcis.wrappers.bacnet_client import object_named  # noqa: PLC0415  # see its head

        points, strange = [], []
        for one in self._given:
            try:
                thing = object_named(one.object)
            except ValueError:
                strange.append(f"{BadRow.code}: {one.object[:60]!r} is no object")
                continue
            units, name = await _units(client, thing), await _name(client, thing)
            unit = one.unit or UNITS.get(units, ("", ""))[1]
            points.append(BacnetPoint(thing, one.kind, unit, one.device, name))
        return points, strange


async def _found(client: BacnetClient) -> tuple[list[BacnetPoint], list[str]]:
    """Returns the objects of a device whose quantity is known."""
    points, strange = [], []
    things = [one for one in await client.objects() if one.partition(",")[0] in READ_KINDS]
    for thing in things[:OBJECTS]:
        units, name = await _units(client, thing), await _name(client, thing)
        kind, unit = UNITS.get(units, ("", ""))
        field = field_named(name) or field_named(name.replace("-", " ").split()[-1] if name else "")
        if not kind and field is not None and not field.inverted:
            kind = field.quantity
        if not kind and thing.startswith(BINARY):
            kind = "switch"
        if kind:
            points.append(BacnetPoint(thing, kind, unit, thing, name))
        else:
            strange.append(
                f"{BadRow.code}: {thing} ({name}, {units or 'without units'}): nobody knows what "
                "it measures; name it under objects"
            )
    if len(things) > OBJECTS:
        strange.append(f"{BadRow.code}: it has {len(things)} objects, of which {OBJECTS} are read")
    return points, strange


async def _units(client: BacnetClient, thing: str) -> str:
    """Returns an object's engineering units, empty where it has none."""
    if thing.startswith(BINARY):
        return ""
    try:
        return str(await client.read(thing, "units"))
    except BadRow:
        return ""


async def _name(client: BacnetClient, thing: str) -> str:
    """Returns an object's name, empty where it says none."""
    try:
        name = str(await client.read(thing, "object-name"))
    except BadRow:
        return ""
    return name if name.isprintable() else ""


def _number(thing: str, value: Any) -> float:
    """Returns a present value: 1 and 0 for active and inactive.

    Raises:
        BadRow: it is none.
    """
    try:
        number = float(int(value)) if thing.startswith(BINARY) else float(value)
    except (TypeError, ValueError) as error:
        raise BadRow(f"{thing} holds no number: {str(value)[:40]}") from error
    if not math.isfinite(number):
        raise BadRow(f"{thing} holds no number: {number}")
    return number
