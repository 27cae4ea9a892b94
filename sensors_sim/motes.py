"""Motes: plain descriptions of the sensor network. Positions in metres, walls as segments.

Nothing here knows a building's tables: whoever has them passes geometry.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aspen.model.schema import Relation, SourceKind, Value
from aspen.motes.hardware import BATTERY_MJ, WAKE_S
from sensors_sim.constants import LIGHT_WALL_DB
from sensors_sim.errors import BadWorld


@dataclass(frozen=True, slots=True)
class Attached:
    """A sensor on a mote.

    Args:
        stream: relation its rows belong to.
        attributes: the columns of that relation that never change for this sensor.
    """

    sid: str
    stream: str
    attributes: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class MoteSpec:
    """A node of the radio network.

    Args:
        mote: stable name.
        level: any value equal for equal floors.
        storey: floors above the ground; the radio pays for every ceiling in between.
        sensors: what it measures; a relay has none.
        base: whether it is a base station: wired, powered, a root of the tree.
        wake_s: seconds between two looks at the channel; 0 keeps the radio on.
        battery_mj: what it begins with; infinite on mains.
    """

    mote: str
    x_m: float
    y_m: float
    level: str = ""
    storey: int = 0
    sensors: tuple[Attached, ...] = ()
    base: bool = False
    wake_s: float = WAKE_S
    battery_mj: float = BATTERY_MJ

    @property
    def powered(self) -> bool:
        """Whether it hangs on mains."""
        return math.isinf(self.battery_mj)


def base_station(mote: str, x_m: float, y_m: float, level: str = "", storey: int = 0) -> MoteSpec:
    """Describe a base station: powered, its radio always on."""
    return MoteSpec(mote, x_m, y_m, level, storey, base=True, wake_s=0.0, battery_mj=math.inf)


@dataclass(frozen=True, slots=True)
class Wall:
    """A straight piece of wall on one level."""

    level: str
    x1_m: float
    y1_m: float
    x2_m: float
    y2_m: float
    loss_db: float = LIGHT_WALL_DB


@dataclass(frozen=True, slots=True)
class DeviceStream:
    """How motes fill the rows of one relation.

    Args:
        relation: its `device` is the kind of sensor.
        measured: columns a sample gives, in order.
        time: column that holds when; empty for none.
        decimals: digits after the point of a measured FLOAT column; others travel as doubles.
    """

    relation: Relation
    measured: tuple[str, ...]
    time: str = "at_s"
    decimals: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.relation.kind is not SourceKind.STREAM:
            raise BadWorld("motes measure streams", found=self.relation.name)
        for name in (*self.measured, *((self.time,) if self.time else ())):
            self.relation.index(name)

    @property
    def fixed(self) -> tuple[str, ...]:
        """Columns that come from the sensor's attributes."""
        moving = {*self.measured, self.time}
        return tuple(name for name in self.relation.names if name not in moving)


@dataclass(frozen=True)
class Field:
    """Everything the radio network consists of.

    Args:
        motes: base stations among them.
        walls: what weakens the radio between motes of one level.
        streams: relations the motes fill, by name.
    """

    motes: tuple[MoteSpec, ...]
    walls: tuple[Wall, ...] = ()
    streams: Mapping[str, DeviceStream] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _once("motes", (mote.mote for mote in self.motes))
        _once("sensors", (one.sid for mote in self.motes for one in mote.sensors))
        for mote in self.motes:
            check_mote(mote, self.streams)


def check_mote(mote: MoteSpec, streams: Mapping[str, DeviceStream]) -> None:
    """Refuse a mote whose sensors could not fill their rows.

    Raises:
        BadWorld: an unknown stream, or an attribute that is missing.
    """
    for sensor in mote.sensors:
        stream = streams.get(sensor.stream)
        if stream is None:
            raise BadWorld(
                f"sensor {sensor.sid} measures for no stream of motes",
                found=sensor.stream,
                exists=sorted(streams),
            )
        for name in stream.fixed:
            if name not in sensor.attributes:
                raise BadWorld(
                    f"sensor {sensor.sid} lacks the attribute {name}",
                    found=", ".join(sensor.attributes),
                    exists=stream.fixed,
                )


def walls_of(level: str, rings: Iterable[Sequence[Sequence[float]]]) -> tuple[Wall, ...]:
    """Returns the walls that room outlines draw; a side two rooms share is one wall.

    Args:
        rings: closed outlines of [x, y] in metres.
    """
    seen: dict[tuple[float, ...], Wall] = {}
    for ring in rings:
        for one, other in zip(ring, [*ring[1:], ring[0]], strict=True):
            ends = sorted(
                ((round(one[0], 1), round(one[1], 1)), (round(other[0], 1), round(other[1], 1)))
            )
            if ends[0] != ends[1]:
                flat = (*ends[0], *ends[1])
                seen.setdefault(flat, Wall(level, *flat))
    return tuple(seen.values())


def _once(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadWorld(f"two {what} share a name", found=name)
        seen.add(name)
