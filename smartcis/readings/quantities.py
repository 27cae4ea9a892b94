"""Quantities: what common sensors measure, beyond the kinds that have a stream of their own.

A kind of these becomes a row of `sensor_kind` when its first sensor is placed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity.

    Args:
        key: of the kind of sensor that measures it.
        name: for people.
        unit: of its readings, empty for a bare number.
        least: smallest value that is one.
        greatest: largest value that is one.
    """

    key: str
    name: str
    unit: str
    least: float
    greatest: float


QUANTITIES: dict[str, Quantity] = {
    one.key: one
    for one in (
        Quantity("pressure", "Air pressure", "hPa", 300.0, 1_200.0),
        Quantity("co2", "CO₂", "ppm", 0.0, 100_000.0),
        Quantity("voc", "Volatile organic compounds", "ppb", 0.0, 1_000_000.0),
        Quantity("pm25", "Particulate matter up to 2.5 µm", "µg/m³", 0.0, 10_000.0),
        Quantity("pm10", "Particulate matter up to 10 µm", "µg/m³", 0.0, 10_000.0),
        Quantity("presence", "Presence", "", 0.0, 1.0),
        Quantity("water", "Water leak", "", 0.0, 1.0),
        Quantity("smoke", "Smoke", "", 0.0, 1.0),
        Quantity("switch", "Switch", "", 0.0, 1.0),
        Quantity("noise", "Noise", "dB", -20.0, 200.0),
        Quantity("battery", "Battery", "%", 0.0, 100.0),
        Quantity("voltage", "Voltage", "V", -2_000.0, 2_000.0),
        Quantity("current", "Current", "A", -10_000.0, 10_000.0),
        Quantity("power", "Power", "W", -10_000_000.0, 10_000_000.0),
        Quantity("consumption", "Electricity consumed", "kWh", 0.0, 1e9),
        Quantity("link_quality", "Link quality", "", 0.0, 255.0),
        Quantity("signal", "Signal strength", "dBm", -200.0, 50.0),
    )
}
"""By key."""
