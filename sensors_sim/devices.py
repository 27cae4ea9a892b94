"""Devices as rows: what each kind of sensor measures, in which unit, how often.

Source: own; the kinds are those of the seeds' building (chapter 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from sensors_sim.errors import UnknownDevice

__all__ = ["DEVICE_KINDS", "DeviceKind", "UnknownDevice", "device_kind"]


@dataclass(frozen=True, slots=True)
class DeviceKind:
    """One kind of sensor.

    Args:
        key: stable name, as in `sensor.kind`.
        name: for people.
        unit: of its readings.
        least: smallest value it can report.
        greatest: largest value it can report.
        decimals: digits it reports after the point.
        period_s: usual time between readings.
        least_period_s: shortest time between readings.
        greatest_period_s: longest; the standing views forget a reading after two minutes.
        stream: relation its readings are appended to.
        of_machine: whether it watches one machine; otherwise a room.
        changes_at_once: whether a jump is reported without waiting for the period.
    """

    key: str
    name: str
    unit: str
    least: float
    greatest: float
    decimals: int
    period_s: float
    least_period_s: float
    greatest_period_s: float
    stream: str
    of_machine: bool = False
    changes_at_once: bool = False


DEVICE_KINDS: tuple[DeviceKind, ...] = (
    DeviceKind(
        key="seat",
        name="Seat",
        unit="kg",
        least=0.0,
        greatest=250.0,
        decimals=1,
        period_s=10.0,
        least_period_s=0.2,
        greatest_period_s=100.0,
        stream="seat_reading",
        of_machine=True,
        changes_at_once=True,
    ),
    DeviceKind(
        key="light",
        name="Light",
        unit="lx",
        least=0.0,
        greatest=100_000.0,
        decimals=0,
        period_s=10.0,
        least_period_s=0.2,
        greatest_period_s=100.0,
        stream="light_reading",
    ),
    DeviceKind(
        key="temperature",
        name="Temperature",
        unit="°C",
        least=-40.0,
        greatest=85.0,
        decimals=2,
        period_s=15.0,
        least_period_s=0.2,
        greatest_period_s=240.0,
        stream="temperature_reading",
    ),
    DeviceKind(
        key="cpu",
        name="Processor",
        unit="%",
        least=0.0,
        greatest=100.0,
        decimals=1,
        period_s=10.0,
        least_period_s=0.2,
        greatest_period_s=100.0,
        stream="cpu_reading",
        of_machine=True,
    ),
    DeviceKind(
        key="rfid",
        name="RFID receiver",
        unit="dBm",
        least=-110.0,
        greatest=0.0,
        decimals=1,
        period_s=1.0,  # between two beacons of one moving tag
        least_period_s=0.2,
        greatest_period_s=30.0,
        stream="rfid_reading",
    ),
    DeviceKind(
        key="energy",
        name="Energy meter",
        unit="W",
        least=0.0,
        greatest=3_680.0,  # 16 A at 230 V
        decimals=1,
        period_s=10.0,
        least_period_s=0.2,
        greatest_period_s=100.0,
        stream="energy_reading",
        of_machine=True,
    ),
    DeviceKind(
        key="door",
        name="Door contact",
        unit="",
        least=0.0,
        greatest=1.0,
        decimals=0,
        period_s=10.0,
        least_period_s=0.2,
        greatest_period_s=100.0,
        stream="door_reading",
    ),
)

_BY_KEY = {kind.key: kind for kind in DEVICE_KINDS}


def device_kind(key: str) -> DeviceKind:
    """Look a kind up.

    Raises:
        UnknownDevice: nobody described it; the nearest names come first in `exists`.
    """
    if key in _BY_KEY:
        return _BY_KEY[key]
    near = get_close_matches(key, _BY_KEY, n=2)
    raise UnknownDevice(
        f"there is no sensor kind {key!r}",
        found=key,
        exists=[*near, *(name for name in _BY_KEY if name not in near)],
    )
