"""Kinds of sensor as rows: what each measures, in which unit and range, how often, at what price.

A kind with a stream of its own is described here and nowhere else: the catalog's streams, the
readings that are accepted, the simulator, the motes and the optimizer read this table. Kinds that
an operator adds as rows share one stream.

Sources: the kinds of the seeds' building (chapter 6); [SHT11] Sensirion SHT1x data sheet,
version 5; [own] our own choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

from aspen.errors import AspenError
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.motes.hardware import MCU_ACTIVE_MA, SUPPLY_V


class UnknownDevice(AspenError, code="aspen.motes.unknown_device"):
    """A kind of sensor that nobody described."""


SHARED_STREAM = "reading"
"""The stream of all kinds that are rows; it says with each value which kind and unit it has."""

DAY_S = 24 * 3600.0


class PowerSource(Enum):
    """What a sensor lives on: a mote's battery, the mains, or the machine whose program it is."""

    BATTERY = "battery"
    MAINS = "mains"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class DeviceKind:
    """One kind of sensor.

    Args:
        key: stable name, as in `sensor.kind`.
        name: for people.
        measures: the column of its stream with the measured quantity.
        unit: of its readings; the only one accepted.
        least: smallest value it can report; below, it is broken or mislabelled.
        greatest: largest value it can report.
        decimals: digits it reports after the point.
        period_s: usual time between readings.
        rate_hz: of all sensors of the demonstration building together, for the optimizer.
        sample_ma: current while it is powered for one sample.
        sample_s: how long that is.
        comment: one line for the schema browser.
        greatest_period_s: longest.
        kept_s: for so long the standing views keep a reading at least, and longer only where the
            sensor's interval allows; without an end where their windows alone say how long.
        power: what it lives on; a program on a machine has no radio.
        of_machine: whether it watches one machine; otherwise a room.
        of_sensor: whether its stream names the sensor before the room.
        of_people: whether simulated people decide what it measures.
        hears_tags: whether it reports when a tag comes by, and cannot be asked.
        changes_at_once: whether a jump is reported without waiting for the period.
        shared: whether it is an operator's row, whose readings go to the shared stream.
    """

    key: str
    name: str
    measures: str
    unit: str
    least: float
    greatest: float
    decimals: int
    period_s: float
    rate_hz: float
    sample_ma: float
    sample_s: float
    comment: str
    least_period_s: float = 0.2
    greatest_period_s: float = 100.0
    kept_s: float = math.inf
    power: PowerSource = PowerSource.BATTERY
    of_machine: bool = False
    of_sensor: bool = False
    of_people: bool = False
    hears_tags: bool = False
    changes_at_once: bool = False
    shared: bool = False

    @property
    def stream(self) -> str:
        """The relation its readings are appended to."""
        return SHARED_STREAM if self.shared else f"{self.key}_reading"

    @property
    def on_air(self) -> bool:
        """Whether its readings travel by radio."""
        return self.power is not PowerSource.HOST

    @property
    def can_be_asked(self) -> bool:
        """Whether a mote can sample it whenever it is asked to."""
        return self.on_air and not self.hears_tags

    @property
    def relation(self) -> Relation:
        """Its stream: whose reading it is, the value, and when."""
        about = ("mid", "sid") if self.of_machine else ("rid", "sid")
        names = about[::-1] if self.of_sensor else about
        value = Column(self.measures, Type.FLOAT, self.unit)
        return Relation(
            self.stream,
            (*(Column(name, Type.TEXT) for name in names), value, Column("at_s", Type.FLOAT, "s")),
            SourceKind.STREAM,
            key=("mid",) if self.of_machine else ("sid",),
            device=self.key,
            rate_hz=self.rate_hz,
            comment=self.comment,
        )


DEVICE_KINDS: tuple[DeviceKind, ...] = (
    DeviceKind(
        key="seat",
        name="Seat",
        measures="weight_kg",
        unit="kg",
        least=-1.0,  # an empty seat's load cell drifts below zero
        greatest=500.0,
        decimals=1,
        period_s=10.0,
        rate_hz=4.0,
        sample_ma=2.0,
        sample_s=0.020,  # load cell bridge of 1.5 kΩ at 3 V, settling [own]
        of_machine=True,
        of_people=True,
        changes_at_once=True,
        comment="Weight on the seat in front of a machine.",
    ),
    DeviceKind(
        key="light",
        name="Light",
        measures="lux",
        unit="lx",
        least=0.0,
        greatest=200_000.0,  # direct sun is about 130,000 lx
        decimals=0,
        period_s=10.0,
        greatest_period_s=DAY_S,
        kept_s=120.0,
        rate_hz=2.0,
        sample_ma=0.7,
        sample_s=0.010,  # photodiode on the ADC with its reference [own]
        comment="Brightness of a room.",
    ),
    DeviceKind(
        key="temperature",
        name="Temperature",
        measures="celsius",
        unit="°C",
        least=-60.0,
        greatest=150.0,
        decimals=2,
        period_s=15.0,
        greatest_period_s=DAY_S,
        kept_s=300.0,
        rate_hz=1.0,
        sample_ma=0.55,
        sample_s=0.320,  # 14 bit, measuring [SHT11] table 2 and section 3.4
        of_sensor=True,
        comment="Temperature at a sensor.",
    ),
    DeviceKind(
        key="cpu",
        name="Processor",
        measures="cpu_pct",
        unit="%",
        least=0.0,
        greatest=100.0,
        decimals=1,
        period_s=10.0,
        rate_hz=4.0,
        sample_ma=0.0,
        sample_s=0.0,
        power=PowerSource.HOST,
        of_machine=True,
        of_people=True,
        comment="Processor load of a machine.",
    ),
    DeviceKind(
        key="rfid",
        name="RFID receiver",
        measures="rssi_dbm",
        unit="dBm",
        least=-150.0,
        greatest=20.0,
        decimals=1,
        period_s=1.0,  # between two beacons of one moving tag
        greatest_period_s=30.0,
        rate_hz=5.0,
        sample_ma=0.0,
        sample_s=0.0,  # what the radio hears anyway
        power=PowerSource.MAINS,
        of_people=True,
        hears_tags=True,
        comment="A visitor's tag, heard by a hallway reader.",
    ),
    DeviceKind(
        key="energy",
        name="Energy meter",
        measures="watts",
        unit="W",
        least=0.0,
        greatest=10_000.0,
        decimals=1,
        period_s=10.0,
        rate_hz=1.0,
        sample_ma=1.0,
        sample_s=0.050,  # metering chip's register read over a bus [own]
        power=PowerSource.MAINS,  # a meter hangs on the mains it measures
        of_machine=True,
        of_people=True,
        comment="Power a machine draws at the wall, by the meter it is plugged into.",
    ),
    DeviceKind(
        key="door",
        name="Door contact",
        measures="ajar",
        unit="",
        least=0.0,
        greatest=1.0,
        decimals=0,
        period_s=10.0,
        rate_hz=1.0,
        sample_ma=0.001,
        sample_s=0.001,  # reed switch read through a pull-up [own]
        comment="A contact at the door of a room: 1 while it stands open, 0 while it is shut.",
    ),
    DeviceKind(
        key="humidity",
        name="Humidity",
        measures="humidity_pct",
        unit="%",
        least=0.0,
        greatest=100.0,
        decimals=1,
        period_s=15.0,
        greatest_period_s=DAY_S,
        kept_s=300.0,
        rate_hz=1.0,
        sample_ma=0.55,
        sample_s=0.080,  # 12 bit, measuring [SHT11] table 1 and section 3.4
        comment="Relative humidity of a room's air.",
    ),
)

_BY_KEY = {kind.key: kind for kind in DEVICE_KINDS}
_OTHER_SAMPLE = (1.0, 0.020)  # mA and s of a device that the table does not know [own]


def device_kind(key: str) -> DeviceKind:
    """Returns a kind.

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


def sample_mj(key: str) -> float:
    """Returns the energy of one sample of a kind of sensor."""
    kind = _BY_KEY.get(key)
    current_ma, powered_s = (kind.sample_ma, kind.sample_s) if kind else _OTHER_SAMPLE
    return (current_ma + MCU_ACTIVE_MA) * SUPPLY_V * powered_s
