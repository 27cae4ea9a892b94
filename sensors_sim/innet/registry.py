"""Registry: the numbers by which sensors and texts are called on the air, and what samples give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from aspen.model.schema import Row, Value
from sensors_sim.innet.values import Dictionary
from sensors_sim.motes import Attached, DeviceStream


class Sampler(Protocol):
    """The world, as the devices notice it."""

    def sample(self, sid: str, at_s: float) -> Sequence[Row]:
        """Measure now.

        Args:
            at_s: simulated seconds, never less than in the last call for this sensor.

        Returns:
            One tuple of the stream's measured columns; none or several for a receiver of tags.
        """
        ...


class Registry:
    """Every sensor that was ever installed; numbers are never given twice."""

    def __init__(self, streams: Mapping[str, DeviceStream]) -> None:
        self.texts = Dictionary()
        self.streams = dict(sorted(streams.items()))
        self.stream_names = tuple(self.streams)
        self._numbers: dict[str, int] = {}
        self._attached: list[Attached] = []
        self._motes: list[int] = []
        self._rows: list[_RowShape] = []

    def install(self, sensor: Attached, mote: int) -> int:
        """Returns a sensor a number, or bring what is known of it up to date."""
        number = self._numbers.get(sensor.sid)
        shape = _RowShape(self.streams[sensor.stream], sensor)
        if number is None:
            number = self._numbers[sensor.sid] = len(self._attached)
            self._attached.append(sensor)
            self._motes.append(mote)
            self._rows.append(shape)
        else:
            self._attached[number] = sensor
            self._motes[number] = mote
            self._rows[number] = shape
        for value in sensor.attributes.values():
            if isinstance(value, str):
                self.texts.number(value)
        return number

    def number(self, sid: str) -> int:
        """Returns a sensor's number."""
        return self._numbers[sid]

    def attached(self, number: int) -> Attached:
        """Returns the sensor of a number."""
        return self._attached[number]

    def mote(self, number: int) -> int:
        """Returns the index of the mote a sensor sits on."""
        return self._motes[number]

    def row(self, number: int, measured: Row, at_s: float) -> Row:
        """Returns the row of a sample."""
        return self._rows[number].row(measured, at_s)

    def fixed_row(self, number: int) -> Row:
        """Returns a sensor's row with null for all that is measured."""
        shape = self._rows[number]
        return tuple(shape.template)


class _RowShape:
    """How a sensor's samples become rows."""

    def __init__(self, stream: DeviceStream, sensor: Attached) -> None:
        self.template: list[Value] = [
            sensor.attributes.get(name) if name in stream.fixed else None
            for name in stream.relation.names
        ]
        self._indices = [
            (stream.relation.index(name), stream.decimals.get(name)) for name in stream.measured
        ]
        self._time = stream.relation.index(stream.time) if stream.time else None

    def row(self, measured: Row, at_s: float) -> Row:
        row = self.template.copy()
        for (index, decimals), value in zip(self._indices, measured, strict=True):
            row[index] = (
                value
                if decimals is None or not isinstance(value, int | float)
                else round(value, decimals)
            )
        if self._time is not None:
            row[self._time] = round(at_s, 3)
        return tuple(row)
