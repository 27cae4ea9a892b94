"""Recordings: measured in real offices and shipped with the simulator; see `data/ATTRIBUTION.md`.

Law: reading is pure: the same name gives the same values, whatever was read before.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_DATA = files("sensors_sim") / "data"


@dataclass(frozen=True, slots=True)
class Series:
    """A recorded series.

    Args:
        values: in the device's unit.
        step_s: between two values.
    """

    values: tuple[float, ...]
    step_s: float

    def at(self, at_s: float) -> float:
        """Returns the value that held at a time; after its end the series begins again."""
        return self.values[int(at_s // self.step_s) % len(self.values)]


def _column(name: str, column: str) -> tuple[float, ...]:
    text = (_DATA / name).read_text(encoding="utf-8")
    return tuple(float(row[column]) for row in csv.DictReader(io.StringIO(text)))


@cache
def nab_temperature() -> Series:
    """Returns the office temperature of the Numenta benchmark, hourly, in °C."""
    return Series(_column("nab_office_temperature.csv", "celsius"), 3600.0)


@cache
def uci_temperature() -> Series:
    """Returns the temperature of the UCI office, by the minute, in °C."""
    return Series(_column("uci_office.csv", "celsius"), 60.0)


@cache
def uci_light() -> Series:
    """Returns the light in the UCI office, by the minute, in lx."""
    return Series(_column("uci_office.csv", "lux"), 60.0)
