"""World: plain descriptions of what the kernel simulates. No Django, no files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sensors_sim.errors import BadWorld


@dataclass(frozen=True, slots=True)
class SensorSpec:
    """A simulated sensor.

    Args:
        kind: key of a device kind.
        node: walking point it stands at.
        level: any value equal for equal floors.
        waveform: key of a waveform.
        parameters: checked, defaults filled in.
        mid: the machine it watches, empty for none.
        fault: key of a fault, empty for none.
        fault_amount: how much of it.
    """

    sid: str
    kind: str
    node: int
    level: str
    x_m: float
    y_m: float
    waveform: str
    parameters: Mapping[str, Any]
    period_s: float
    mid: str = ""
    fault: str = ""
    fault_amount: float = 0.0


@dataclass(frozen=True, slots=True)
class VisitorSpec:
    """Someone who walks about with a tag."""

    tag: str
    speed_m_s: float


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of the walking graph."""

    level: str
    x_m: float
    y_m: float


@dataclass(frozen=True, slots=True)
class PathEdge:
    """A directed edge of the walking graph.

    Args:
        door_id: empty for none.
    """

    dst: int
    length_mm: int
    door_id: str = ""


@dataclass(frozen=True)
class World:
    """Everything at the start.

    Args:
        spots: walking points by number.
        steps: directed edges by start point.
        locked: ids of doors nobody passes.
    """

    sensors: tuple[SensorSpec, ...] = ()
    visitors: tuple[VisitorSpec, ...] = ()
    spots: Mapping[int, Spot] = field(default_factory=dict)
    steps: Mapping[int, tuple[PathEdge, ...]] = field(default_factory=dict)
    locked: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for src, steps in self.steps.items():
            for step in steps:
                if src not in self.spots or step.dst not in self.spots:
                    raise BadWorld(
                        "a step leads from or to no walking point", found=f"{src} → {step.dst}"
                    )
        seen: set[str] = set()
        for sensor in self.sensors:
            if sensor.sid in seen:
                raise BadWorld("two sensors share an id", found=sensor.sid)
            seen.add(sensor.sid)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sensor reported.

    Args:
        value: in `unit`, within the device's range, rounded as the device does.
        at_s: simulated seconds since the kernel began.
        tag: whom an RFID receiver heard, empty otherwise.
    """

    sid: str
    value: float
    unit: str
    at_s: float
    tag: str = ""
