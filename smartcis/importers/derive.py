"""Derive: from a drawing to a building with doors and a walking graph, in metres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count as counting

import shapely
from shapely.geometry import Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import Drawing, DrawnLevel, DrawnSolid, Finding, Note, label
from smartcis.importers.errors import NothingDrawn
from smartcis.importers.geometry.contact import contacts
from smartcis.importers.geometry.detour import without_trespass
from smartcis.importers.geometry.enclosed import enclosed_rooms
from smartcis.importers.geometry.entrances import Entrance
from smartcis.importers.geometry.gaps import gap_corridors
from smartcis.importers.geometry.known import DoorNames, KnownBuilding, as_known
from smartcis.importers.geometry.links import link_corridors
from smartcis.importers.geometry.naming import unit_ids
from smartcis.importers.geometry.passages import Passage, passages
from smartcis.importers.geometry.paths import path_passages, path_strips
from smartcis.importers.geometry.reach import unreached
from smartcis.importers.geometry.spaces import WalkableSpace, keyed, own_ground, polygons
from smartcis.importers.geometry.vertical import climbs
from smartcis.importers.geometry.walking_graph import WalkingGraph, walking_graph
from smartcis.importers.labels import labelled, name_in, unplaced
from smartcis.importers.level_names import level_id
from smartcis.importers.openings import Openings, drawn_openings
from smartcis.importers.places import located
from smartcis.importers.redrawn import redrawn, with_ground
from smartcis.importers.repair import repaired
from smartcis.importers.risers import drawn_risers, elevations
from smartcis.importers.ways_in import ways_in
from smartcis.importers.words import category_of

Progress = Callable[[str], None]
NOTHING_KNOWN = KnownBuilding()
SAME_M2 = 0.05  # of a level: less is rounding


@dataclass(frozen=True)
class LevelPlan:
    """A level: what is drawn on it.

    Args:
        ordinal: 0 at the ground.
        outline: everything walkable and drawn, in metres.
    """

    level_id: str
    feature_id: str
    ordinal: float
    name: str
    short_name: str
    outline: BaseGeometry


@dataclass(frozen=True)
class BuildingPlan:
    """Everything the importer concluded, ready to be stored.

    Args:
        format: of the file.
        notes: what was concluded, repaired and dropped.
        unreached: index of a space → why no entrance leads to it.
        exported: whether the product wrote the file; people may have drawn in it since.
    """

    format: str
    slug: str
    name: str
    attribution: str
    origin: tuple[float, float]
    buildings: tuple[tuple[str, str, BaseGeometry | None], ...]
    levels: tuple[LevelPlan, ...]
    spaces: tuple[WalkableSpace, ...]
    entrances: tuple[Entrance, ...]
    graph: WalkingGraph
    notes: tuple[Note, ...]
    unreached: dict[int, str]
    exported: bool = False


def derive(
    drawing: Drawing, progress: Progress = lambda _: None, known: KnownBuilding = NOTHING_KNOWN
) -> BuildingPlan:
    """Works the building out.

    Args:
        drawing: as read.
        progress: receives one line per step.
        known: the building as it is there, whose things keep their names.

    Raises:
        ImportRefused: nothing in it can be walked in.
    """
    progress("looking for what is broken")
    as_read, drawing = drawing, repaired(drawing, known.origin)
    notes = list(drawing.notes)
    footprint, buildings = _grounds(drawing, notes)
    units = _units(drawing)
    spaces: list[WalkableSpace] = []
    for level in drawing.levels:
        progress(f"level {level.ordinal}: rooms and corridors nobody drew")
        spaces += _level_spaces(drawing, level, units, footprint, known, notes)
    if not any(polygons(space.free) for space in spaces):
        raise NothingDrawn(
            "the walls of the file enclose no room",
            found=f"{len(drawing.solids)} walls and columns",
            attempt="export rooms as areas, or walls that meet",
        )
    spaces = as_known(spaces, known)
    notes += unplaced(drawing.labels, [(space.level, space.polygon) for space in spaces])
    fresh = redrawn(spaces, known) if drawing.exported else frozenset(range(len(spaces)))
    doors = drawn_openings(drawing, spaces, notes)
    entrances = ways_in(drawing, spaces, doors, footprint, notes)
    ways: list[Passage] = []
    for level in drawing.levels:
        progress(f"level {level.ordinal}: doors")
        ways += _level_passages(drawing, spaces, level.ordinal, entrances, doors, fresh)
    progress("walking graph")
    heights_m = elevations(drawing)
    rises = climbs(spaces, heights_m, _shafts(drawing, spaces))
    risers = drawn_risers(drawing, spaces, rises, heights_m, notes)
    graph = walking_graph(spaces, ways, entrances, rises, risers, DoorNames(known.doors))
    progress("checking every step against every wall")
    notes += without_trespass(spaces, graph)
    _conclusions(drawing, doors, graph, entrances, spaces, notes)
    assert drawing.origin is not None
    return BuildingPlan(
        format=drawing.format,
        slug=drawing.slug,
        name=drawing.name,
        attribution=drawing.attribution,
        origin=drawing.origin,
        buildings=tuple(buildings),
        levels=tuple(_level(level, spaces) for level in drawing.levels),
        spaces=tuple(spaces),
        entrances=tuple(entrances),
        graph=graph,
        notes=tuple(located(notes, as_read, drawing.origin, spaces)),
        unreached=unreached(spaces, graph),
        exported=drawing.exported,
    )


def _shafts(drawing: Drawing, spaces: Sequence[WalkableSpace]) -> list[tuple[int, int]]:
    """Returns pairs of spaces that the file says are one shaft, the lower first."""
    keys = keyed(spaces)
    pairs = [
        sorted((keys[one], keys[other]), key=lambda index: spaces[index].level)
        for one, other in drawing.shafts
        if one in keys and other in keys
    ]
    return [
        (lower, upper)
        for lower, upper in pairs
        if spaces[lower].climbs
        and spaces[upper].climbs
        and spaces[lower].level < spaces[upper].level
        and spaces[lower].parts
        and spaces[upper].parts
    ]


def _units(drawing: Drawing) -> list[WalkableSpace]:
    named = labelled(drawing.spaces, drawing.labels)
    listed = sorted(named, key=lambda one: (one.level, one.shaft, one.key))
    stored = {one.stored.rid for one in listed if one.stored}
    names = iter(
        unit_ids([(one.level, one.ref, one.category) for one in listed if not one.stored], stored)
    )
    return [
        WalkableSpace(
            one.stored.rid if one.stored else next(names),
            one.level,
            label(one.names) or one.ref,
            one.category,
            one.outline,
            one.outline,
            one.stored.feature_id if one.stored else one.key,
            one.shaft,
            derived=one.stored is not None and one.stored.derived,
            closed=one.closed,
            stored=one.stored is not None,
        )
        for one in listed
    ]


def _level_spaces(
    drawing: Drawing,
    level: DrawnLevel,
    units: Sequence[WalkableSpace],
    footprint: BaseGeometry | None,
    known: KnownBuilding,
    notes: list[Note],
) -> list[WalkableSpace]:
    """Returns what can be walked on one level: drawn, between walls, along paths, in gaps."""
    ordinal = level.ordinal
    here = [unit for unit in units if unit.level == ordinal]
    paths = [one for one in drawing.paths if one.level == ordinal]
    if drawing.exported:  # what was concluded is drawn, and has the ground it had
        own = with_ground(here, known)
        return own + _corridors(ordinal, "path", path_strips(paths, own, []), own)
    own = own_ground(here)
    solids = [one for one in drawing.solids if one.level == ordinal]
    if any(one.encloses for one in solids):
        doors = [one.shape for one in drawing.openings if one.level == ordinal]
        voids = _shapes(solids, False)
        rooms = enclosed_rooms(own, _shapes(solids, True), doors, level.outline, voids)
        own += [
            _walled(f"{level_id(ordinal)}-walled-{n}", ordinal, category, shape, drawing)
            for n, (shape, category) in enumerate(rooms, start=1)
        ]
        if rooms:
            why = f"{len(rooms)} areas between drawn walls are taken as rooms"
            notes.append(Note(Finding.CONCLUDED, "rooms", level_id(ordinal), why))
    blocked = _shapes(solids, True, False)
    strips = path_strips(paths, own, blocked)
    own += _corridors(ordinal, "path", strips)
    if not own:
        return []
    own += _corridors(ordinal, "gap", gap_corridors(own, footprint, blocked))
    own += _corridors(ordinal, "link", link_corridors(own, contacts(own), footprint, blocked))
    return own


def _walled(
    rid: str, ordinal: float, category: str, shape: BaseGeometry, drawing: Drawing
) -> WalkableSpace:
    """Returns a room between walls, called by the label in it."""
    name = name_in(shape, ordinal, drawing.labels)
    if name and category == "room":
        category = category_of(name)
    return WalkableSpace(rid, ordinal, name, category, shape, shape)


def _shapes(solids: Sequence[DrawnSolid], *kinds: bool) -> list[BaseGeometry]:
    """Returns the shapes of solids that enclose rooms, or do not."""
    return [one.shape for one in solids if one.encloses in kinds]


def _corridors(
    ordinal: float, kind: str, grounds: Sequence[Polygon], others: Sequence[WalkableSpace] = ()
) -> list[WalkableSpace]:
    """Returns grounds as corridors, numbered past those that are there."""
    taken = {space.rid for space in others}
    names = (name for n in counting(1) if (name := f"{level_id(ordinal)}-{kind}-{n}") not in taken)
    return [
        WalkableSpace(name, ordinal, "", "walkway", ground, ground, derived=True)
        for ground, name in zip(grounds, names, strict=False)
    ]


def _grounds(
    drawing: Drawing, notes: list[Note]
) -> tuple[BaseGeometry | None, list[tuple[str, str, BaseGeometry | None]]]:
    """Returns the ground covered by buildings that have spaces, and those buildings."""
    drawn = [one.outline for one in drawing.spaces] or [one.shape for one in drawing.solids]
    everything = shapely.union_all(drawn)
    covered = [ground for ground in drawing.grounds if ground.intersects(everything)]
    taken: list[tuple[str, str, BaseGeometry | None]] = []
    for building in drawing.buildings:
        ground = building.footprint
        if building.inside or (ground is not None and ground.intersects(everything)):
            taken.append((building.key, building.name, ground))
        else:
            why = "no unit of the venue lies in it"
            notes.append(Note(Finding.DROPPED, "building", building.key, why))
    if not taken:
        taken = [(drawing.slug, drawing.name, None)]
        notes.append(Note(Finding.CONCLUDED, "building", "", "no footprint of one is drawn"))
    return (shapely.union_all(covered) if covered else None), taken


def _level_passages(
    drawing: Drawing,
    spaces: Sequence[WalkableSpace],
    ordinal: float,
    entrances: Sequence[Entrance],
    doors: Openings,
    fresh: frozenset[int],
) -> list[Passage]:
    """Returns one level's passages, those at drawn openings and along paths among them.

    Args:
        fresh: indices of spaces at whose walls passages are concluded.
    """
    first = next((index for index, space in enumerate(spaces) if space.level == ordinal), None)
    if first is None:
        return []
    here = [space for space in spaces if space.level == ordinal]  # they stand together
    drawn = [
        replace(way, inner=way.inner - first, outer=way.outer - first)
        for way in doors.passages
        if spaces[way.inner].level == ordinal
    ]
    lines = [one.line for one in drawing.paths if one.level == ordinal]
    drawn += path_passages(here, lines, drawn)
    entered = frozenset(one.space - first for one in entrances)
    walls = [
        wall
        for wall in contacts(here)
        if not fresh.isdisjoint((first + wall.one, first + wall.other))
    ]
    return [
        replace(way, inner=first + way.inner, outer=first + way.outer)
        for way in passages(here, walls, entered, drawn)
    ]


def _conclusions(
    drawing: Drawing,
    openings: Openings,
    graph: WalkingGraph,
    entrances: Sequence[Entrance],
    spaces: Sequence[WalkableSpace],
    notes: list[Note],
) -> None:
    """Notes how much was concluded of what the file does not draw, not even as concluded before."""
    doors = sum(door.derived for door in graph.doors)
    doors -= sum(way.derived and way.is_door for way in openings.passages)
    ways = sum(one.derived for one in entrances) - sum(one.derived for one in drawing.entrances)
    corridors = sum(space.derived and not space.stored for space in spaces)
    for count, what, why in (
        (doors, "doors", "none is drawn between these neighbours"),
        (corridors, "corridors", "gaps between drawn spaces, and strips along paths"),
        (ways, "entrances", "guessed: the file names none"),
    ):
        if count > 0:
            notes.append(Note(Finding.CONCLUDED, f"{count} {what}", "", why))


def _level(level: DrawnLevel, spaces: Sequence[WalkableSpace]) -> LevelPlan:
    name = level_id(level.ordinal)
    shapes = [] if level.outline is None else [level.outline]
    shapes += [space.polygon for space in spaces if space.level == level.ordinal]
    outline = shapely.union_all(shapes)
    stored = level.outline if level.feature_id else None
    if stored is not None and outline.area < stored.area + SAME_M2:
        outline = stored  # it has its margin already
    else:
        outline = outline.buffer(0.25, join_style="mitre").simplify(0.05)
    return LevelPlan(
        level_id=name,
        feature_id=level.feature_id or level.key,
        ordinal=level.ordinal,
        name=(label(level.names) or f"Level {level.ordinal}")[:100],
        short_name=level.short_name or str(level.ordinal),
        outline=outline,
    )
