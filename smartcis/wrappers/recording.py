"""Recording: a file of measurements, replayed as if they were measured now, or in their own time.

    recorded   |08:00  |08:01  |08:02             speed 2, first row at noon:
    read as    |12:00:00  |12:00:30  |12:01:00

Law:        each row is handed over once, when its time has come, however polls are spread and
            wherever a process ends: what is read as when is decided by the file and by when the
            replay began, which is remembered before the first row is handed over.
Algorithm:  rows in the file's order are due at the latest time among them and all before; those of
            one second make a batch, whose key is where it begins. The place moves with each batch.
Source:     own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from smartcis.readings.times import PAST_S
from smartcis.wrappers.base import Poller
from smartcis.wrappers.config import ConfigField, zone
from smartcis.wrappers.errors import BadConfig, BadRow, SourceDown
from smartcis.wrappers.files import allowed_file
from smartcis.wrappers.payloads.fields import number
from smartcis.wrappers.payloads.mapping import SID_LENGTH
from smartcis.wrappers.payloads.times import count_s, moment_s
from smartcis.wrappers.protocol import Append, Capability, Measured, Measurements
from smartcis.wrappers.push import READINGS
from smartcis.wrappers.recorded_rows import check_format, rows_from

BATCH_S = 1.0
BATCH_ROWS = 500
ROWS_AT_ONCE = 5_000  # of one poll; the others wait for the next
USUAL_STEP_S = 1.0  # between the rounds of a recording of one moment
WARNINGS = 20
FASTEST = 1_000_000.0
NO_VALUE = ("", "na", "nan", "null", "none", "-")


@dataclass(frozen=True, slots=True)
class Place:
    """How far a replay has come.

    Args:
        began_s: when it began; part of every key.
        place: in the file, behind what was handed over.
        turn: how often it has begun at the first row again.
        turn_s: what the first row's time is read as.
        first_s: the first row's time in this turn; None before it.
        latest_s: the latest time so far in this turn.
        rows: how many rows of this turn say a time.
    """

    began_s: float
    place: int = 0
    turn: int = 0
    turn_s: float = 0.0
    first_s: float | None = None
    latest_s: float = 0.0
    rows: int = 0


class Recording(Poller):
    """One file."""

    key = "recording"
    label = "Recording (CSV or Parquet), replayed"
    fields = (
        ConfigField(
            "file", "text", "CSV or Parquet below a folder that the operator allows", required=True
        ),
        ConfigField("time", "text", "column of the time of measurement", required=True),
        ConfigField("time_form", "iso|s|ms", "iso, or s or ms since 1970", default="iso"),
        ConfigField("zone", "zone", "of times that say none; else UTC"),
        ConfigField(
            "values",
            "names",
            'column → kind of sensor: {"Temperature": "temperature", "CO2": "co2"}; with a column '
            "of sensors the kind may be empty: that of the sensor",
            required=True,
        ),
        ConfigField("units", "names", 'column → unit: {"Temperature": "°F"}', default={}),
        ConfigField("sensor", "text", "column of the sensor's id; empty for one device"),
        ConfigField("device", "text", "name of the one device; empty for the source's id"),
        ConfigField(
            "start",
            "now|own",
            "now: the first row is now; own: each in its own time",
            default="now",
        ),
        ConfigField("speed", "number", "2 replays an hour in half of one", default=1.0),
        ConfigField("loop", "flag", "whether it begins again at its end", default=False),
    )
    feeds = READINGS
    capabilities = (Capability.POLL,)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._path = allowed_file(str(config["file"]))
        check_format(self._path)
        self._zone = zone(str(config["zone"]))
        self._time, self._form = str(config["time"]), str(config["time_form"])
        self._values: Mapping[str, str] = config["values"]
        self._units: Mapping[str, str] = config["units"]
        self._sensor, self._device = str(config["sensor"]), str(config["device"])
        self._own, self._loop = config["start"] == "own", bool(config["loop"])
        self._speed = float(config["speed"])
        self._columns = [self._time, *self._values, *([self._sensor] if self._sensor else [])]
        named = self._sensor and len(self._values) == 1
        if not self._values or not (named or all(self._values.values())):
            raise BadConfig("each column of values needs a kind of sensor", found="none")
        if not 0.0 < self._speed <= FASTEST:
            raise BadConfig("the speed lies between 0 and a million", found=f"{self._speed:g}")
        if self._own and (self._loop or self._speed != 1.0):
            raise BadConfig(
                "in its own time a recording runs once and as fast as it was",
                found="loop" if self._loop else f"speed {self._speed:g}",
                attempt="start now, or leave loop and speed out",
            )

    def _read(self, append: Append, now_s: float) -> list[str]:
        memory = self.settings.memory
        if "began_s" not in memory:
            memory.update(asdict(Place(now_s, turn_s=now_s)))
            return []  # remembered first: should this process end, the times are the same again
        here, left, read = Place(**memory), ROWS_AT_ONCE, False
        warnings: list[str] = []
        while left > 0:
            next_s = None
            for step in self._steps(here, now_s):
                if isinstance(step, float):
                    next_s = step
                    break
                warnings += step.warnings
                if step.measured:
                    name = f"{here.began_s!r}/{here.turn}/{here.place}"
                    warnings += self._append(append, Measurements(name, step.measured, now_s))
                left -= step.rows
                here, read = step.behind, True
                memory.update(asdict(here))
                if left <= 0:
                    return warnings[:WARNINGS]
            if next_s is not None:
                if next_s > now_s + PAST_S:
                    warnings.append(f"the next row is {(next_s - now_s) / 86400:.0f} days ahead")
                break
            if not self._loop:
                if not read:
                    raise SourceDown("the recording has ended")
                break
            here = self._again(here)
            memory.update(asdict(here))
        return warnings[:WARNINGS]

    def _again(self, here: Place) -> Place:
        """Returns the beginning of the next turn, as far behind the last row as rows are apart."""
        if here.first_s is None:
            raise SourceDown("no row of the recording says a time")
        lasted_s = here.latest_s - here.first_s
        step_s = lasted_s / (here.rows - 1) if lasted_s > 0.0 else USUAL_STEP_S
        turn_s = here.turn_s + (lasted_s + step_s) / self._speed
        return Place(here.began_s, 0, here.turn + 1, turn_s)

    def _steps(self, here: Place, now_s: float) -> Iterator[_RecordedSecond | float]:
        """Returns batches that are wholly due, then when the next row is, if there is one."""
        step = _RecordedSecond(here)
        number_of: int | None = None  # of the second that the batch is of
        for place, row in rows_from(self._path, here.place, self._columns):
            at_s = None if row is None else self._time_s(row[self._time])
            if step.rows >= BATCH_ROWS:
                yield step
                step = _RecordedSecond(step.behind)
            if row is None or at_s is None:
                step.warn(place, "it is broken" if row is None else "it says no time")
                step.go(replace(step.behind, place=place))
                continue
            behind = self._behind(step.behind, place, at_s)
            due_s = self._read_as_s(behind, behind.latest_s)
            second = math.floor((due_s - here.began_s) / BATCH_S)
            if number_of not in (None, second) and step.rows:
                yield step
                step = _RecordedSecond(step.behind)
            if now_s < here.began_s + (second + 1) * BATCH_S:
                yield due_s
                return
            number_of = second
            step.go(behind)
            read_as_s = self._read_as_s(behind, at_s)
            if read_as_s > now_s - PAST_S:
                self._measure(step, place, row, read_as_s)
            else:
                step.warn(place, "it is too old for a live view")
        if step.rows:
            yield step

    def _behind(self, here: Place, place: int, at_s: float) -> Place:
        if here.first_s is None:
            turn_s = at_s if self._own else here.turn_s
            here = replace(here, first_s=at_s, latest_s=at_s, turn_s=turn_s)
        return replace(here, place=place, latest_s=max(here.latest_s, at_s), rows=here.rows + 1)

    def _read_as_s(self, here: Place, at_s: float) -> float:
        assert here.first_s is not None
        return here.turn_s + (at_s - here.first_s) / self._speed

    def _time_s(self, value: Any) -> float | None:
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=self._zone)).timestamp()
        if isinstance(value, date):
            value = value.isoformat()
        if self._form == "iso":
            return moment_s(value.strip() if isinstance(value, str) else value, self._zone)
        return count_s(number(value), 1000.0 if self._form == "ms" else 1.0)

    def _measure(
        self, step: _RecordedSecond, place: int, row: Mapping[str, Any], at_s: float
    ) -> None:
        device, sid = self._device or self.settings.source, ""
        if self._sensor:
            device = str(row[self._sensor] or "").strip()
            sid = device if len(self._values) == 1 else ""
            if not device or len(device) > SID_LENGTH or not device.isprintable():
                step.warn(place, "it names no sensor")
                return
        for column, quantity in self._values.items():
            said = row[column]
            if said is None or str(said).strip().lower() in NO_VALUE:
                continue
            value = number(float(said) if isinstance(said, Decimal) else said)
            if value is None:
                step.warn(place, f"{column} is no number: {str(said)[:20]!r}")
                continue
            unit = self._units.get(column, "")
            step.measured.append(Measured(device, quantity, value, unit, at_s, "", sid))


@dataclass(slots=True)
class _RecordedSecond:
    """Rows of one second, how many, and the place behind them."""

    behind: Place
    rows: int = 0
    measured: list[Measured] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def go(self, behind: Place) -> None:
        self.behind, self.rows = behind, self.rows + 1

    def warn(self, place: int, fault: str) -> None:
        if len(self.warnings) < WARNINGS:
            self.warnings.append(f"{BadRow.code}: row before {place}: {fault}")
