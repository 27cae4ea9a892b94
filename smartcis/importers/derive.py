"""Derive: from a read archive to a building with doors and a walking graph, in metres."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import shapely
from shapely.geometry import Point, Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.contact import contacts
from smartcis.importers.geometry.entrances import (
    Entrance,
    concluded_entrances,
    mapped_entrance,
)
from smartcis.importers.geometry.gaps import gap_corridors
from smartcis.importers.geometry.links import link_corridors
from smartcis.importers.geometry.naming import unit_ids
from smartcis.importers.geometry.passages import Passage, drawn_opening, passages
from smartcis.importers.geometry.projection import Projection
from smartcis.importers.geometry.reach import unreached
from smartcis.importers.geometry.spaces import WalkableSpace, own_ground
from smartcis.importers.geometry.vertical import climbs
from smartcis.importers.geometry.walking_graph import WalkingGraph, walking_graph
from smartcis.importers.imdf import Feature, Imdf

Progress = Callable[[str], None]


@dataclass(frozen=True)
class LevelPlan:
    """A level: what is drawn on it.

    Args:
        ordinal: 0 at the ground.
        outline: everything walkable and drawn, in metres.
    """

    level_id: str
    feature_id: str
    ordinal: int
    name: str
    short_name: str
    outline: BaseGeometry


@dataclass(frozen=True)
class Dropped:
    """Something of the file that was not taken."""

    feature_id: str
    what: str
    reason: str


@dataclass(frozen=True)
class BuildingPlan:
    """Everything the importer concluded, ready to be stored.

    Args:
        unreached: index of a space → why no entrance leads to it.
    """

    slug: str
    name: str
    attribution: str
    origin: tuple[float, float]
    buildings: tuple[tuple[str, str, BaseGeometry | None], ...]
    levels: tuple[LevelPlan, ...]
    spaces: tuple[WalkableSpace, ...]
    entrances: tuple[Entrance, ...]
    graph: WalkingGraph
    dropped: tuple[Dropped, ...]
    unreached: dict[int, str]


def derive(imdf: Imdf, progress: Progress = lambda _: None) -> BuildingPlan:
    """Works the building out.

    Args:
        imdf: as read.
        progress: receives one line per step.
    """
    drawn = [unit.geometry for unit in imdf.units if unit.geometry is not None]
    projection = Projection.around(drawn)
    ordinals = {level.id: int(level.properties["ordinal"]) for level in imdf.levels}
    dropped: list[Dropped] = []
    footprint, buildings = _grounds(imdf, projection, drawn, dropped)
    units = _units(imdf, projection, ordinals)
    spaces: list[WalkableSpace] = []
    for ordinal in sorted(set(ordinals.values())):
        progress(f"level {ordinal}: gap corridors")
        own = own_ground([unit for unit in units if unit.level == ordinal])
        gaps = gap_corridors(own, footprint)
        own += _corridors(ordinal, "gap", gaps)
        own += _corridors(ordinal, "link", link_corridors(own, contacts(own), footprint))
        spaces += own
    entrances = _entrances(imdf, projection, spaces, footprint, dropped)
    ways: list[Passage] = []
    for ordinal in sorted(set(ordinals.values())):
        progress(f"level {ordinal}: doors")
        ways += _level_passages(imdf, projection, spaces, ordinal, entrances, dropped)
    progress("walking graph")
    graph = walking_graph(spaces, ways, entrances, climbs(spaces, imdf.level_height_m))
    lost = unreached(spaces, graph)
    return BuildingPlan(
        slug=imdf.slug,
        name=imdf.name,
        attribution=imdf.attribution,
        origin=(projection.lon_deg, projection.lat_deg),
        buildings=tuple(buildings),
        levels=tuple(_level(level, projection, spaces) for level in imdf.levels),
        spaces=tuple(spaces),
        entrances=tuple(entrances),
        graph=graph,
        dropped=tuple(dropped),
        unreached=lost,
    )


def _corridors(ordinal: int, kind: str, grounds: Sequence[Polygon]) -> list[WalkableSpace]:
    return [
        WalkableSpace(
            f"L{ordinal}-{kind}-{number}", ordinal, "", "walkway", ground, ground, derived=True
        )
        for number, ground in enumerate(grounds, start=1)
    ]


def _units(imdf: Imdf, projection: Projection, ordinals: dict[str, int]) -> list[WalkableSpace]:
    def way(unit: Feature) -> str:
        return str(unit.properties.get("osmId") or unit.properties.get("correlation_id") or "")

    listed = sorted(imdf.units, key=lambda u: (ordinals[u.properties["level_id"]], way(u), u.id))
    labels = []
    for unit in listed:
        # Names like "Stairs" say no more than the category; a reference or a hall's name does.
        label = unit.tags.get("ref") or unit.tags.get("name") or ("" if unit.tags else unit.name)
        labels.append((ordinals[unit.properties["level_id"]], label, unit.category))
    names = unit_ids(labels)
    spaces = []
    for unit, (level, label, _), rid in zip(listed, labels, names, strict=True):
        assert unit.geometry is not None
        polygon = projection.metres(unit.geometry)
        name = unit.tags.get("name") or label or unit.name
        spaces.append(
            WalkableSpace(rid, level, name, unit.category, polygon, polygon, unit.id, way(unit))
        )
    return spaces


def _grounds(
    imdf: Imdf, projection: Projection, drawn: Sequence[BaseGeometry], dropped: list[Dropped]
) -> tuple[BaseGeometry | None, list[tuple[str, str, BaseGeometry | None]]]:
    """Returns the ground covered by buildings that have units, and those buildings."""
    everything = shapely.union_all([projection.metres(shape) for shape in drawn])
    shapes: dict[str, BaseGeometry] = {}
    covered = []
    for footprint in imdf.footprints:
        if footprint.geometry is None or footprint.tags.get("amenity") == "parking":
            continue
        shape = projection.metres(footprint.geometry)
        for building_id in footprint.properties.get("building_ids") or ():
            shapes[building_id] = shape
        if shape.intersects(everything):
            covered.append(shape)
    levels_of = {
        name for level in imdf.levels for name in level.properties.get("building_ids") or ()
    }
    taken: list[tuple[str, str, BaseGeometry | None]] = []
    for building in imdf.buildings:
        ground = shapes.get(building.id)
        if building.id in levels_of or (ground is not None and ground.intersects(everything)):
            taken.append((building.id, building.name, ground))
        else:
            dropped.append(Dropped(building.id, "building", "no unit of the venue lies in it"))
    return (shapely.union_all(covered) if covered else None), taken


def _entrances(
    imdf: Imdf,
    projection: Projection,
    spaces: Sequence[WalkableSpace],
    footprint: BaseGeometry | None,
    dropped: list[Dropped],
) -> list[Entrance]:
    found: list[Entrance] = []
    counts: Counter[str] = Counter()
    for amenity in imdf.amenities:
        if amenity.category != "entry" or not isinstance(amenity.geometry, Point):
            counts[amenity.category] += 1
            continue
        tag = amenity.tags.get("level")
        level = int(tag) if tag is not None and tag.lstrip("-").isdigit() else None
        point = projection.metres(amenity.geometry)
        assert isinstance(point, Point)
        outcome = mapped_entrance(spaces, point, level, amenity.tags.get("name", ""))
        if amenity.tags.get("access") in {"no", "private"}:
            outcome = "no public access"
        if isinstance(outcome, Entrance):
            found.append(outcome)
        else:
            dropped.append(Dropped(amenity.id, "entrance", outcome))
    dropped += [
        Dropped("", f"amenities '{category}'", "not used: units say the same")
        for category, count in sorted(counts.items())
        for _ in range(count)
    ]
    if not found:
        levels = sorted({space.level for space in spaces if space.is_walkway})
        ground = min(levels, key=lambda level: (abs(level), level), default=0)
        outline = footprint or shapely.union_all(
            [space.polygon for space in spaces if space.level == ground]
        )
        found = concluded_entrances(spaces, outline, ground)
    return found


def _level_passages(
    imdf: Imdf,
    projection: Projection,
    spaces: Sequence[WalkableSpace],
    ordinal: int,
    entrances: Sequence[Entrance],
    dropped: list[Dropped],
) -> list[Passage]:
    """Returns one level's passages, those at drawn openings among them."""
    first = next(index for index, space in enumerate(spaces) if space.level == ordinal)
    here = [space for space in spaces if space.level == ordinal]  # they stand together
    levels = {level.id for level in imdf.levels if int(level.properties["ordinal"]) == ordinal}
    drawn: list[Passage] = []
    for opening in imdf.openings:
        if opening.geometry is None or opening.properties.get("level_id") not in levels:
            continue
        outcome = drawn_opening(here, projection.metres(opening.geometry))
        if isinstance(outcome, Passage):
            drawn.append(outcome)
        else:
            dropped.append(Dropped(opening.id, "opening", outcome))
    entered = frozenset(one.space - first for one in entrances)
    return [
        replace(way, inner=first + way.inner, outer=first + way.outer)
        for way in passages(here, contacts(here), entered, drawn)
    ]


def _level(level: Feature, projection: Projection, spaces: Sequence[WalkableSpace]) -> LevelPlan:
    ordinal = int(level.properties["ordinal"])
    assert level.geometry is not None
    shapes = [projection.metres(level.geometry)]
    shapes += [space.polygon for space in spaces if space.level == ordinal]
    outline = shapely.union_all(shapes).buffer(0.25, join_style="mitre").simplify(0.05)
    short = level.properties.get("short_name") or {}
    return LevelPlan(
        level_id=f"L{ordinal}",
        feature_id=level.id,
        ordinal=ordinal,
        name=level.name or f"Level {ordinal}",
        short_name=str(short.get("en") or ordinal),
        outline=outline,
    )
