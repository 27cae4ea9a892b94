"""Fields: the names that makers give to quantities, and values as numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

WORD_LENGTH = 40
DEPTH = 4  # of objects within a payload that are looked into


@dataclass(frozen=True, slots=True)
class PayloadField:
    """What a field of that name is.

    Args:
        quantity: the key of a kind of sensor.
        unit: of its values where nothing else is said, empty for the kind's own.
        inverted: whether true means 0, as for a contact that is shut.
    """

    quantity: str
    unit: str = ""
    inverted: bool = False


def _named(field: PayloadField, *names: str) -> dict[str, PayloadField]:
    return dict.fromkeys(names, field)


FIELDS: Mapping[str, PayloadField] = {
    **_named(
        PayloadField("temperature", "°C"),
        *("temperature", "temp", "temperaturec", "tempc", "airtemperature", "localtemperature"),
        *("ambienttemperature", "roomtemperature", "tempcsht", "temperaturecelsius"),
    ),
    **_named(PayloadField("temperature", "°F"), "temperaturef", "tempf"),
    **_named(
        PayloadField("humidity", "%"),
        *("humidity", "hum", "relativehumidity", "airhumidity", "humsht", "rh", "humiditypct"),
    ),
    **_named(
        PayloadField("pressure", "hPa"),
        *("pressure", "barometricpressure", "airpressure", "barometer", "atmosphericpressure"),
        "pressurehpa",
    ),
    **_named(
        PayloadField("co2", "ppm"),
        "co2",
        "carbondioxide",
        "eco2",
        "co2ppm",
        "co2concentration",
        "co2level",
    ),
    **_named(PayloadField("voc", "ppb"), "voc", "tvoc", "volatileorganiccompounds", "tvocppb"),
    **_named(PayloadField("pm25", "µg/m³"), "pm25", "pm2p5"),
    **_named(PayloadField("pm10", "µg/m³"), "pm10"),
    **_named(
        PayloadField("light", "lx"),
        *("illuminance", "illuminancelux", "lux", "light", "lightlevel", "lightintensity"),
        *("ambientlight", "brightnesslux"),
    ),
    **_named(
        PayloadField("presence"),
        *("occupancy", "presence", "motion", "pir", "occupied", "motiondetected", "peoplepresence"),
    ),
    **_named(PayloadField("door", inverted=True), "contact"),
    **_named(PayloadField("door"), "dooropen", "dooropenstatus", "windowopen", "open", "opening"),
    **_named(
        PayloadField("water"),
        "waterleak",
        "waterleakstatus",
        "leak",
        "flood",
        "waterdetected",
        "water",
    ),
    **_named(PayloadField("smoke"), "smoke", "smokedetected"),
    **_named(PayloadField("noise", "dB"), "noise", "soundlevel", "noiselevel", "laeq", "sound"),
    **_named(
        PayloadField("battery", "%"),
        *("battery", "batterypercent", "batterylevel", "batterypercentage", "batpct", "soc"),
    ),
    **_named(
        PayloadField("voltage", "V"), "voltage", "batv", "batteryvoltage", "vbat", "vdd", "vcc"
    ),
    **_named(PayloadField("voltage", "mV"), "batterymv", "voltagemv", "batmv"),
    **_named(PayloadField("current", "A"), "current"),
    **_named(PayloadField("power", "W"), "power", "activepower", "powerw"),
    **_named(
        PayloadField("consumption", "kWh"),
        *("energy", "consumption", "energytotal", "totalenergy", "energykwh"),
    ),
    **_named(PayloadField("link_quality"), "linkquality", "lqi"),
    **_named(PayloadField("signal", "dBm"), "rssi", "signalstrength"),
}
"""By name in small letters, without anything between them."""

_TRUE = frozenset({"on", "true", "open", "opened", "occupied", "detected", "yes", "wet", "motion"})
_FALSE = frozenset({"off", "false", "closed", "close", "clear", "cleared", "no", "dry", "shut"})
_CHANNEL = re.compile(r"[_ -]\d{1,3}$")


def field_named(name: str) -> PayloadField | None:
    """Returns what a name says, None for nothing that anybody knows."""
    return FIELDS.get(re.sub(r"[^a-z0-9]", "", name[:60].lower()))


def number(value: object) -> float | None:
    """Returns a value as a number: 1 and 0 for yes and no; None for what is none."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    if not isinstance(value, str) or len(value) > WORD_LENGTH:
        return None
    word = value.strip().lower()
    if word in _TRUE or word in _FALSE:
        return float(word in _TRUE)
    try:
        found = float(word)
    except ValueError:
        return None
    return found if math.isfinite(found) and "_" not in word else None


@dataclass(frozen=True, slots=True)
class Found:
    """A field whose name is known.

    Args:
        path: the names of the objects around it.
        channel: the number behind its name, as in `temperature_2`; empty without.
    """

    path: tuple[str, ...]
    name: str
    channel: str
    field: PayloadField
    value: float


def known_fields(payload: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[Found]:
    """Finds the fields of an object, and of the objects within it, that have a known name."""
    for name, value in payload.items():
        if isinstance(value, Mapping):
            if len(path) < DEPTH:
                yield from known_fields(value, (*path, name))
            continue
        field, channel = field_named(name), ""
        if field is None and (tail := _CHANNEL.search(name)) is not None:
            field, channel = field_named(name[: tail.start()]), tail.group()[1:]
        measured = number(value)
        if field is not None and measured is not None:
            yield Found(path, name, channel, field, turned(field, measured))


def turned(field: PayloadField, value: float) -> float:
    """Returns a value as its quantity counts it: 1 where a device says 0, if that is inverted."""
    return 1.0 - value if field.inverted and value in (0.0, 1.0) else value
