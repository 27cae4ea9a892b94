"""Drawing: what every format is read into, and all that the derivation knows.

    file ── Importer.read ──> Drawing ── repaired ──> Drawing in metres ── derive ──> BuildingPlan

A drawing says what somebody drew, never what follows from it. Shapes may cross themselves and
levels may stand twice: repair and derivation come after, once for all formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.files import Files

Names = Mapping[str, str]
"""Language tag → text; the empty tag where the file does not say."""
LEVEL_HEIGHT_M = 4.0


class Finding(StrEnum):
    """What was done about something in the file."""

    CONCLUDED = "concluded"
    REPAIRED = "repaired"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class LevelPoint:
    """A point of a level, in metres."""

    level: float
    x_m: float
    y_m: float


@dataclass(frozen=True, slots=True)
class Note:
    """One thing the importer did not take as it stood.

    Args:
        what: kind of thing, in the building's words.
        where: the file's own identifier, or the place; empty where it is about the whole.
        why: the reason, a clause without a full stop.
        at: where that is, None where nobody knows.
    """

    finding: Finding
    what: str
    where: str
    why: str
    at: LevelPoint | None = None


class RiserKind(StrEnum):
    """How something joins levels."""

    STAIRS = "stairs"
    LIFT = "lift"
    RAMP = "ramp"


RISERS = {
    "stairs": RiserKind.STAIRS,
    "escalator": RiserKind.STAIRS,
    "elevator": RiserKind.LIFT,
    "ramp": RiserKind.RAMP,
}
"""IMDF category → how a thing of it joins levels."""


@dataclass(frozen=True, slots=True)
class DrawnLevel:
    """A floor.

    Args:
        ordinal: 0 at the ground; fractions are mezzanines.
        outline: None when not drawn.
        elevation_m: of its floor above level 0, None when the file does not say.
        feature_id: what an earlier import called it, where the product itself wrote the file.
    """

    key: str
    ordinal: float
    names: Names
    short_name: str = ""
    outline: BaseGeometry | None = None
    elevation_m: float | None = None
    feature_id: str = ""


@dataclass(frozen=True, slots=True)
class StoredAs:
    """What the product called a space when it wrote the file.

    Args:
        feature_id: of the file it was drawn in first; empty for a concluded one.
        derived: concluded from a gap instead of drawn.
        drawing: the file it was added with; empty for the venue's own.
    """

    rid: str
    feature_id: str = ""
    derived: bool = False
    drawing: str = ""


@dataclass(frozen=True, slots=True)
class DrawnSpace:
    """A room, corridor, staircase or shaft on one level.

    Args:
        category: IMDF unit category; `unspecified` when not known.
        ref: what tells it from others (a room number, a hall's own name), empty for "Stairs".
        shaft: equal for the drawings of one shaft on several levels.
        closed: not for the public.
        stored: what it was called, where the product itself wrote the file.
    """

    key: str
    level: float
    outline: BaseGeometry
    category: str = "unspecified"
    names: Names = field(default_factory=dict)
    ref: str = ""
    shaft: str = ""
    closed: bool = False
    stored: StoredAs | None = None


@dataclass(frozen=True, slots=True)
class DrawnOpening:
    """A door or a gap in a wall.

    Args:
        shape: a point, a line across the gap, or the area that the leaf fills.
        between: keys of the spaces it joins, where the file says; one for a way out.
        derived: concluded by an earlier import.
        door: whether a door stands there that closes the first of the two it is between; None
            where the file leaves both to the derivation.
    """

    key: str
    level: float
    shape: BaseGeometry
    between: tuple[str, ...] = ()
    name: str = ""
    derived: bool = False
    door: bool | None = None


@dataclass(frozen=True, slots=True)
class DrawnEntrance:
    """A way in from outside.

    Args:
        level: None when the file does not say.
        refused: why the public cannot use it; empty when it can.
        space: key of the space it opens into, where the file says.
        derived: concluded by an earlier import.
    """

    key: str
    level: float | None
    point: Point
    name: str = ""
    refused: str = ""
    space: str = ""
    derived: bool = False


@dataclass(frozen=True, slots=True)
class DrawnRiser:
    """Stairs, a lift or a ramp drawn as points or lines between levels.

    Args:
        stops: (level, point) from the lowest up, at least two.
    """

    key: str
    kind: RiserKind
    stops: tuple[tuple[float, Point], ...]


@dataclass(frozen=True, slots=True)
class DrawnPath:
    """A line that people walk along."""

    key: str
    level: float
    line: BaseGeometry


@dataclass(frozen=True, slots=True)
class DrawnSolid:
    """What nobody walks through: a wall, a window, a column, a hole in the floor.

    Args:
        encloses: whether it bounds rooms, as walls and windows do.
    """

    key: str
    level: float
    shape: BaseGeometry
    encloses: bool = True


@dataclass(frozen=True, slots=True)
class DrawnFixture:
    """Furniture and equipment: a desk, a counter, a kiosk.

    Args:
        bearing_deg: of a kiosk: where people look who stand before it, clockwise from north.
    """

    key: str
    level: float
    shape: BaseGeometry
    kind: str
    bearing_deg: float | None = None


@dataclass(frozen=True, slots=True)
class DrawnLabel:
    """A name that stands at a point, for whatever lies there without one."""

    key: str
    level: float
    point: Point
    names: Names


@dataclass(frozen=True, slots=True)
class DrawnBuilding:
    """One house.

    Args:
        footprint: None when not drawn.
        inside: whether the file says itself that the levels belong to it.
        drawing: the file it was added with, where the product itself wrote this one.
        attribution: whom that is owed to.
    """

    key: str
    name: str
    footprint: BaseGeometry | None
    inside: bool = False
    drawing: str = ""
    attribution: str = ""


@dataclass(frozen=True)
class Drawing:
    """A read file.

    Args:
        format: the importer's name.
        origin: longitude and latitude of x = y = 0; None while shapes are in degrees.
        grounds: further ground known to be built over, houses aside.
        anchor: longitude and latitude that x = y = 0 should have; None lets the shapes decide.
        shafts: keys of two spaces each, of neighbouring levels, that are one shaft.
    """

    format: str
    slug: str
    name: str
    attribution: str = ""
    origin: tuple[float, float] | None = None
    level_height_m: float = LEVEL_HEIGHT_M
    levels: tuple[DrawnLevel, ...] = ()
    spaces: tuple[DrawnSpace, ...] = ()
    openings: tuple[DrawnOpening, ...] = ()
    entrances: tuple[DrawnEntrance, ...] = ()
    risers: tuple[DrawnRiser, ...] = ()
    paths: tuple[DrawnPath, ...] = ()
    solids: tuple[DrawnSolid, ...] = ()
    fixtures: tuple[DrawnFixture, ...] = ()
    labels: tuple[DrawnLabel, ...] = ()
    buildings: tuple[DrawnBuilding, ...] = ()
    grounds: tuple[BaseGeometry, ...] = ()
    notes: tuple[Note, ...] = ()
    anchor: tuple[float, float] | None = None
    shafts: tuple[tuple[str, str], ...] = ()

    @property
    def exported(self) -> bool:
        """Whether the product wrote the file; people may have drawn in it since."""
        return any(one.stored is not None for one in self.spaces)

    def mapped(self, move: Callable[[Any], Any], **changes: Any) -> Drawing:
        """Returns the drawing with every shape moved, and other fields changed."""
        return replace(
            self,
            levels=tuple(
                replace(one, outline=None if one.outline is None else move(one.outline))
                for one in self.levels
            ),
            spaces=tuple(replace(one, outline=move(one.outline)) for one in self.spaces),
            openings=tuple(replace(one, shape=move(one.shape)) for one in self.openings),
            entrances=tuple(replace(one, point=move(one.point)) for one in self.entrances),
            risers=tuple(
                replace(one, stops=tuple((level, move(point)) for level, point in one.stops))
                for one in self.risers
            ),
            paths=tuple(replace(one, line=move(one.line)) for one in self.paths),
            solids=tuple(replace(one, shape=move(one.shape)) for one in self.solids),
            fixtures=tuple(replace(one, shape=move(one.shape)) for one in self.fixtures),
            labels=tuple(replace(one, point=move(one.point)) for one in self.labels),
            buildings=tuple(
                replace(one, footprint=None if one.footprint is None else move(one.footprint))
                for one in self.buildings
            ),
            grounds=tuple(move(one) for one in self.grounds),
            **changes,
        )


class Importer(Protocol):
    """A format."""

    name: str
    """What people call it."""

    def recognises(self, files: Files) -> bool:
        """Returns whether files are of this format, by what stands in them."""
        ...

    def read(self, files: Files) -> Drawing:
        """Reads a building.

        Raises:
            ImportRefused: the files cannot be read.
        """
        ...


def label(names: Names) -> str:
    """Returns a name in English, else in the file's own first language, else empty."""
    if not names:
        return ""
    return names.get("en") or names.get("") or next((text for text in names.values() if text), "")
