"""OpenStreetMap: indoor data as XML or as Overpass JSON, by Simple Indoor Tagging."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import shapely
from shapely.geometry import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import (
    RISERS,
    Drawing,
    DrawnBuilding,
    DrawnEntrance,
    DrawnLabel,
    DrawnLevel,
    DrawnOpening,
    DrawnPath,
    DrawnRiser,
    DrawnSolid,
    DrawnSpace,
    Finding,
    Note,
    label,
)
from smartcis.importers.errors import NothingDrawn
from smartcis.importers.files import Files
from smartcis.importers.formats.osm_extract import Thing, extracts, rings, things_of
from smartcis.importers.formats.osm_tags import (
    PRIVATE,
    is_indoor,
    kind_of,
    names_of_tags,
    ref_of_tags,
)
from smartcis.importers.level_names import levels_of
from smartcis.importers.repair import as_point
from smartcis.importers.words import Role

ATTRIBUTION = "© OpenStreetMap contributors, ODbL 1.0"
LEVEL_KEYS = ("level", "indoor:level", "buildingpart:level", "floor", "level:ref")


class OsmImporter:
    """OpenStreetMap."""

    name = "OpenStreetMap indoor (XML or Overpass JSON)"

    def recognises(self, files: Files) -> bool:
        """Returns whether some file begins as an extract does."""
        return bool(extracts(files))

    def read(self, files: Files) -> Drawing:
        """Reads what of an extract is indoors, in degrees."""
        return _Reading(files, things_of(files), self.name).drawing()


class _Reading:
    """One reading: an extract and what of it is indoors."""

    def __init__(self, files: Files, things: Mapping[str, Thing], name: str) -> None:
        self.notes: list[Note] = []
        self._format, self._slug = name, files.stem
        self._things = things
        self._complete()
        self._kinds = {
            key: kind for key, thing in things.items() if (kind := kind_of(thing.tags)) is not None
        }
        self._known: Sequence[float] = ()
        self._known = self._ordinals()
        self._on: dict[str, list[float]] = {}  # node → levels of the ways it lies on
        for thing in things.values():
            kind = self._kinds.get(thing.key)
            if thing.kind == "way" and kind and kind[0] in {Role.SPACE, Role.SOLID, Role.PATH}:
                for node in thing.nodes:
                    self._on.setdefault(node, []).extend(self._levels(thing))

    def drawing(self) -> Drawing:
        """Returns what was found."""
        spaces = list(self._spaces())
        solids = list(self._solids())
        if not spaces and not solids:
            raise NothingDrawn(
                "the extract has no indoor rooms, corridors or walls",
                found=f"{len(self._things)} nodes, ways and relations",
                exists=["indoor=room", "indoor=corridor", "indoor=area", "indoor=wall"],
                attempt="take an extract of a building that is mapped indoors",
            )
        drawn = shapely.union_all(
            [shapely.make_valid(one.outline) for one in spaces]
            or [shapely.make_valid(one.shape) for one in solids]
        )
        hull = drawn.convex_hull
        buildings = list(self._buildings(hull))
        named = [one.name for one in buildings if one.name]
        return Drawing(
            format=self._format,
            slug=self._slug,
            name=named[0] if len(named) == 1 else self._slug,
            attribution=ATTRIBUTION,
            levels=tuple(self._drawn_levels({one.level for one in spaces})),
            spaces=tuple(spaces),
            openings=tuple(self._openings()),
            entrances=tuple(self._entrances(hull)),
            risers=tuple(self._risers()),
            paths=tuple(self._paths()),
            solids=tuple(solids),
            labels=tuple(self._labels()),
            buildings=tuple(buildings),
            grounds=tuple(one.footprint for one in buildings if one.footprint is not None),
            notes=tuple(self.notes),
        )

    def _complete(self) -> None:
        """Gives ways the positions of their nodes, and relations those of their ways."""
        for thing in self._things.values():
            if thing.kind == "way" and len(thing.line) < len(thing.nodes):
                ends = (self._things.get(f"node/{ref}") for ref in thing.nodes)
                thing.line = [one.line[0] for one in ends if one is not None and one.line]
                if len(thing.line) < len(thing.nodes):
                    why = "some of its nodes are not in the extract"
                    self.notes.append(Note(Finding.REPAIRED, "way", thing.key, why))
        for thing in self._things.values():
            if thing.kind == "relation" and not any(line for _, line in thing.parts):
                thing.parts = [
                    (role, way.line)
                    for role, its, ref in thing.members
                    if its == "way" and (way := self._things.get(f"way/{ref}")) is not None
                ]

    def _ordinals(self) -> list[float]:
        found: set[float] = set()
        for key in self._kinds:
            found |= set(self._levels(self._things[key]))
        return sorted(found)

    def _levels(self, thing: Thing) -> list[float]:
        """Returns the levels a thing is tagged with, repeated ones included."""
        for key in LEVEL_KEYS:
            if found := levels_of(thing.tags.get(key), self._known):
                repeated = levels_of(thing.tags.get("repeat_on"), self._known)
                return sorted({*found, *repeated})
        return levels_of(thing.tags.get("repeat_on"), self._known)

    def _of(self, *roles: Role) -> Iterator[tuple[Thing, str]]:
        for key, (role, category) in self._kinds.items():
            if role in roles:
                yield self._things[key], category

    def _area(self, thing: Thing) -> BaseGeometry | None:
        """Returns the area of a closed way or a multipolygon, None for anything else."""
        if thing.kind == "way":
            ring = thing.line
            if len(ring) < 4:  # noqa: PLR2004  # a triangle, closed
                return None
            return Polygon(ring) if ring[0] == ring[-1] else None
        if thing.kind == "relation":
            outer = rings(line for role, line in thing.parts if role != "inner")
            inner = rings(line for role, line in thing.parts if role == "inner")
            if outer is not None:
                return outer if inner is None else shapely.difference(outer, inner)
        return None

    def _spaces(self) -> Iterator[DrawnSpace]:
        for thing, category in self._of(Role.SPACE):
            area = self._area(thing)
            if area is None:
                continue
            levels = self._levels(thing)
            if not levels:
                levels = [0.0]
                why = "it names no level: taken as 0"
                self.notes.append(Note(Finding.CONCLUDED, "level", thing.key, why))
            names, ref = names_of_tags(thing.tags), ref_of_tags(thing.tags)
            for level in levels:
                yield DrawnSpace(
                    thing.key if len(levels) == 1 else f"{thing.key}@{level:g}",
                    level,
                    area,
                    category,
                    names or ({"": ref} if ref else {}),
                    ref,
                    shaft=thing.key if category in RISERS or len(levels) == 1 else "",
                    closed=thing.tags.get("access") in PRIVATE and category == "walkway",
                )

    def _labels(self) -> Iterator[DrawnLabel]:
        """Returns points of interest: they name the room they stand in."""
        for thing in self._things.values():
            named = names_of_tags(thing.tags)
            if thing.kind == "node" and thing.line and named and thing.key not in self._kinds:
                for level in self._levels(thing):
                    yield DrawnLabel(thing.key, level, Point(thing.line[0]), named)

    def _solids(self) -> Iterator[DrawnSolid]:
        for thing, _ in self._of(Role.SOLID, Role.VOID):
            encloses = self._kinds[thing.key][0] is Role.SOLID
            shape: BaseGeometry | None = self._area(thing)
            if (
                encloses
                and thing.kind == "way"
                and len(thing.line) > 1
                and thing.tags.get("area") != "yes"
            ):
                shape = LineString(thing.line)  # a wall around a room is not a block of wall
            if shape is None:
                continue
            for level in self._levels(thing) or [0.0]:
                yield DrawnSolid(thing.key, level, shape, encloses=encloses)

    def _openings(self) -> Iterator[DrawnOpening]:
        for thing, _ in self._of(Role.DOOR):
            shape = self._shape(thing)
            if shape is None:
                continue
            levels = self._levels(thing) or sorted(
                {level for node in (thing.id, *thing.nodes) for level in self._on.get(node, ())}
            )
            for level in levels:
                name = label(names_of_tags(thing.tags))
                key = thing.key if len(levels) == 1 else f"{thing.key}@{level:g}"
                yield DrawnOpening(key, level, shape, name=name)
            if not levels:
                why = "it names no level and lies on no wall or room"
                self.notes.append(Note(Finding.DROPPED, "door", thing.key, why))

    def _shape(self, thing: Thing) -> BaseGeometry | None:
        if thing.kind == "node":
            return Point(thing.line[0]) if thing.line else None
        return LineString(thing.line) if len(thing.line) > 1 else None

    def _entrances(self, hull: BaseGeometry) -> Iterator[DrawnEntrance]:
        for thing, _ in self._of(Role.ENTRANCE):
            shape = self._shape(thing)
            if shape is None or not hull.buffer(0.0002).intersects(shape):
                continue
            refused = ""
            if thing.tags.get("access") in PRIVATE:
                refused = "no public access"
            elif thing.tags["entrance"] in {"emergency", "exit"}:
                refused = "a way out only"
            levels = self._levels(thing) or sorted(set(self._on.get(thing.id, ())))
            level = levels[0] if len(levels) == 1 else 0.0 if 0.0 in levels else None
            point = as_point(shape)
            name = label(names_of_tags(thing.tags)) or thing.tags.get("ref", "")
            yield DrawnEntrance(thing.key, level, point, name, refused)

    def _risers(self) -> Iterator[DrawnRiser]:
        for thing, category in self._of(Role.SPACE):
            kind = RISERS.get(category)
            if kind is None or self._area(thing) is not None:
                continue
            levels = self._levels(thing)
            if len(levels) < 2:  # noqa: PLR2004  # a climb has two ends
                ends = [
                    self._on_others(node, thing) for node in (thing.nodes[:1] + thing.nodes[-1:])
                ]
                levels = sorted({level for end in ends for level in end})
            if len(levels) < 2 or not thing.line:  # noqa: PLR2004  # same
                why = "it names no two levels"
                self.notes.append(Note(Finding.DROPPED, category, thing.key, why))
                continue
            if thing.kind == "node":
                at = Point(thing.line[0])
                yield DrawnRiser(thing.key, kind, tuple((level, at) for level in levels))
            else:
                yield DrawnRiser(thing.key, kind, self._stops(thing, levels))

    def _on_others(self, node: str, thing: Thing) -> set[float]:
        return set(self._on.get(node, ())) - set(self._levels(thing))

    def _stops(self, thing: Thing, levels: Sequence[float]) -> tuple[tuple[float, Point], ...]:
        """Returns the ends of steps, the lower first: by what they touch, else by `incline`."""
        first, last = Point(thing.line[0]), Point(thing.line[-1])
        down = thing.tags.get("incline", "").startswith(("down", "-"))
        for node, begins in ((thing.nodes[:1], True), (thing.nodes[-1:], False)):
            touched = {level for one in node for level in self._on_others(one, thing)}
            if len(touched) == 1 and touched <= {levels[0], levels[-1]}:
                down = (touched == {levels[-1]}) == begins
                break
        if down:
            first, last = last, first
        return (levels[0], first), (levels[-1], last)

    def _paths(self) -> Iterator[DrawnPath]:
        for thing, _ in self._of(Role.PATH):
            levels = self._levels(thing)
            indoors = is_indoor(thing.tags) or thing.tags.get("highway") == "corridor"
            if thing.kind == "way" and len(thing.line) > 1 and levels and indoors:
                for level in levels:
                    yield DrawnPath(thing.key, level, LineString(thing.line))
        for thing, category in self._of(Role.SPACE):
            if category == "walkway" and thing.kind == "way" and self._area(thing) is None:
                for level in self._levels(thing) if len(thing.line) > 1 else ():
                    yield DrawnPath(thing.key, level, LineString(thing.line))

    def _drawn_levels(self, used: set[float]) -> Iterator[DrawnLevel]:
        outlines: dict[float, tuple[Thing, BaseGeometry | None]] = {}
        for thing, _ in self._of(Role.OUTLINE):
            for level in self._levels(thing):
                outlines.setdefault(level, (thing, self._area(thing)))
        for level in sorted(used | set(outlines)):
            if level not in outlines:
                yield DrawnLevel(f"level/{level:g}", level, {})
            else:
                thing, area = outlines[level]
                short = thing.tags.get("level:ref") or thing.tags.get("ref", "")
                yield DrawnLevel(thing.key, level, names_of_tags(thing.tags), short, area)

    def _buildings(self, hull: BaseGeometry) -> Iterator[DrawnBuilding]:
        for thing in self._things.values():
            if "building" not in thing.tags or thing.tags["building"] == "no":
                continue
            area = self._area(thing)
            if area is not None and shapely.make_valid(area).intersects(hull):
                yield DrawnBuilding(thing.key, label(names_of_tags(thing.tags)), area)
