"""Registry: what is installed, and the numbers by which sensors and texts are called on the air."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Protocol

from aspen.model.schema import Row, Value
from sensors_sim.innet.values import Dictionary
from sensors_sim.motes import Attached, DeviceStream
from sensors_sim.network.mote import Mote


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
    """Every mote and sensor that was ever installed; numbers are never given twice.

    `motes` are by their address on the air; of motes of one name `index` has the newest.
    """

    def __init__(self, streams: Mapping[str, DeviceStream]) -> None:
        self.texts = Dictionary()
        self.streams = dict(sorted(streams.items()))
        self.stream_names = tuple(self.streams)
        self.motes: list[Mote] = []
        self.index: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._sensors: list[_Installed] = []

    # Motes.

    def add(self, mote: Mote) -> None:
        """Install a mote and its sensors."""
        self.motes.append(mote)
        self.index[mote.spec.mote] = mote.index
        for sensor in mote.spec.sensors:
            self.install(sensor, mote.index)

    def name(self, index: int) -> str:
        """Returns a mote's name."""
        return self.motes[index].spec.mote

    def bases(self) -> list[Mote]:
        """Returns the base stations."""
        return [mote for mote in self.motes if mote.base]

    def _present(self) -> Iterator[Mote]:
        return (mote for mote in self.motes if self.index[mote.spec.mote] == mote.index)

    def carriers(self, streams: Container[str]) -> int:
        """Returns how many motes carry a sensor of one of these streams."""
        return sum(
            any(one.stream in streams for one in mote.spec.sensors) for mote in self._present()
        )

    def members(self, streams: Container[str]) -> list[int]:
        """Returns the sensors of these streams that are installed now."""
        return [
            self._numbers[one.sid]
            for mote in self._present()
            for one in mote.spec.sensors
            if one.stream in streams
        ]

    # Sensors.

    def install(self, sensor: Attached, mote: int) -> int:
        """Returns a sensor a number, or bring what is known of it up to date."""
        number = self._numbers.get(sensor.sid)
        installed = _Installed(self.streams[sensor.stream], sensor, mote)
        if number is None:
            number = self._numbers[sensor.sid] = len(self._sensors)
            self._sensors.append(installed)
        else:
            self._sensors[number] = installed
        for value in sensor.attributes.values():
            if isinstance(value, str):
                self.texts.number(value)
        return number

    def number(self, sid: str) -> int:
        """Returns a sensor's number."""
        return self._numbers[sid]

    def attached(self, number: int) -> Attached:
        """Returns the sensor of a number."""
        return self._sensors[number].sensor

    def mote(self, number: int) -> int:
        """Returns the index of the mote a sensor sits on."""
        return self._sensors[number].mote

    def row(self, number: int, measured: Row, at_s: float) -> Row:
        """Returns the row of a sample."""
        return self._sensors[number].row(measured, at_s)

    def fixed_row(self, number: int) -> Row:
        """Returns a sensor's row with null for all that is measured."""
        return tuple(self._sensors[number].template)


class _Installed:
    """A sensor, its mote, and how its samples become rows."""

    def __init__(self, stream: DeviceStream, sensor: Attached, mote: int) -> None:
        self.sensor = sensor
        self.mote = mote
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
