"""Entries: what the building's listings and questions answer, as REST names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smartcis.client.rows import Cell, RowsColumn

Ring = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class LevelEntry:
    """A floor.

    Args:
        bounds_m: min x, min y, max x, max y.
    """

    id: str
    name: str
    short_name: str
    ordinal: float
    bounds_m: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class KioskEntry:
    """A screen on a wall; `node` is its walking point."""

    id: str
    name: str
    node: int
    level_id: str
    x_m: float
    y_m: float
    bearing_deg: float | None


@dataclass(frozen=True, slots=True)
class BuildingEntry:
    """The building, its floors, its kiosks, and the software that its machines have."""

    slug: str
    name: str
    attribution: str
    simulated_note: str
    levels: tuple[LevelEntry, ...]
    default_level: str
    kiosks: tuple[KioskEntry, ...]
    software: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanUnits:
    """What a floor's plan says of its rooms; see `RoomEntry`."""

    units: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class RoomEntry:
    """A room, corridor, staircase or lift.

    Args:
        polygon: outer ring, then holes; metres, x east, y north.
        label: where its name stands, metres.
        node: its walking point.
        level_id: its floor.
    """

    id: str
    name: str
    category: str
    polygon: tuple[Ring, ...]
    label: tuple[float, float]
    node: int | None
    level_id: str


@dataclass(frozen=True, slots=True)
class MachineEntry:
    """A machine and what is installed on it."""

    mid: str
    host: str
    rid: str
    node: int
    level_id: str
    x_m: float
    y_m: float
    cpu_type: str
    simulated: bool
    software: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DoorEntry:
    """A door and its state."""

    id: str
    state: str
    x_m: float
    y_m: float
    level_id: str


@dataclass(frozen=True, slots=True)
class SensorEntry:
    """A sensor, and what it measures when it is simulated."""

    sid: str
    kind: str
    rid: str
    mid: str | None
    node: int
    level_id: str
    x_m: float
    y_m: float
    simulated: bool
    enabled: bool
    waveform: str
    parameters: Mapping[str, Any]
    fault: str
    fault_amount: float | None
    period_s: float


@dataclass(frozen=True, slots=True)
class RunWays:
    """Why a text may not be run in a way; empty where it may.

    Args:
        live: kept running until it is ended.
        once: answered once.
    """

    live: str
    once: str


@dataclass(frozen=True, slots=True)
class ValidText:
    """A text that can be submitted.

    Args:
        kind: query, once, or the statement: INSERT, DROP, …
        columns: of its answer.
    """

    kind: str
    columns: tuple[RowsColumn, ...]
    ways: RunWays


@dataclass(frozen=True, slots=True)
class ExplainedText:
    """A query's way through the house.

    Args:
        text: all its borders, to be read.
        explained: what the optimizer decided, as data.
    """

    text: str
    explained: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DoneStatement:
    """What a statement that is no query changed.

    Args:
        statement: INSERT, DROP and the like.
        name: the relation it names.
        changed: rows; of CREATE and DROP, relations.
    """

    statement: str
    name: str
    changed: int


@dataclass(frozen=True, slots=True)
class BaseFact:
    """A base row that an answer rests on.

    Args:
        row: column → value; empty when the row is another visitor's.
        necessary: without this row the answer is gone.
        hidden: the row is another visitor's.
    """

    relation: str
    row: Mapping[str, Cell]
    necessary: bool
    hidden: bool


@dataclass(frozen=True, slots=True)
class WhyRow:
    """What a row rests on.

    Args:
        sets: each suffices; smallest first. One empty set: the row rests on given facts alone.
        complete: all minimal sets are listed; otherwise one that suffices.
        at_s: seconds since 1970.
    """

    view: str
    row: tuple[Cell, ...]
    sets: tuple[tuple[BaseFact, ...], ...]
    complete: bool
    epoch: int
    at_s: float


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How the engine is.

    Args:
        engine: live, starting, delayed or offline.
        position: in the log, at which the views stand.
        head: newest position of the log.
        lag_s: seconds since the views last had all of the log.
        error: what ended the engine's last run.
        down: processes of the product that are not up.
    """

    engine: str
    epoch: int
    position: int
    head: int
    lag_s: float
    error: str
    down: tuple[str, ...]
