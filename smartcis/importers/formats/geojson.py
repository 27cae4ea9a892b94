"""GeoJSON: one collection or many, levels and kinds told by properties or by file names.

There is no standard of indoor GeoJSON: properties are read by what their names and values mean
(`words.py`, `level_names.py`), in degrees or, where they can be none, in metres.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import shapely
from shapely.geometry import LineString, Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import (
    RISERS,
    Drawing,
    DrawnBuilding,
    DrawnEntrance,
    DrawnFixture,
    DrawnLabel,
    DrawnLevel,
    DrawnOpening,
    DrawnPath,
    DrawnRiser,
    DrawnSolid,
    DrawnSpace,
    Finding,
    Note,
    RiserKind,
    label,
)
from smartcis.importers.files import Files
from smartcis.importers.formats.geojson_shapes import (
    Feature,
    text_of,
)
from smartcis.importers.formats.geojson_told import (
    ENDINGS,
    KIND_KEYS,
    REF_KEYS,
    Collections,
    first_told,
    names_told,
    plain_keys,
    role_of,
)
from smartcis.importers.formats.osm_tags import PRIVATE
from smartcis.importers.formats.own_features import OwnFeatures
from smartcis.importers.level_names import level_of
from smartcis.importers.repair import as_point
from smartcis.importers.units import as_degrees, in_sensible_units
from smartcis.importers.words import Role, category_of, meaning

LEAST_INSIDE = 3  # a shape around so many others is the floor


class GeoJsonImporter:
    """GeoJSON."""

    name = "GeoJSON (file, folder or archive)"

    def recognises(self, files: Files) -> bool:
        """Returns whether some file is a collection of features."""
        heads = (files.head(name) for name in files.ending(*ENDINGS))
        return any(b'"Feature' in head and b'"type"' in head for head in heads)

    def read(self, files: Files) -> Drawing:
        """Reads a plan, in degrees or metres."""
        reading = _GeoJsonReading(files)
        drawing = Drawing(
            format=self.name,
            slug=reading.about.slug,
            name=reading.about.title or files.stem,
            attribution=reading.about.attribution,
            levels=tuple(reading.levels()),
            anchor=reading.about.anchor,
            spaces=(*reading.own.spaces, *reading.spaces),
            openings=(*reading.own.openings, *reading.openings),
            entrances=(*reading.own.entrances, *reading.entrances),
            risers=(*reading.own.risers, *reading.risers),
            shafts=tuple(reading.own.shafts),
            paths=tuple(reading.paths),
            solids=tuple(reading.solids),
            fixtures=tuple(reading.fixtures),
            labels=tuple(reading.labels),
            buildings=(*reading.own.buildings, *reading.buildings),
            grounds=tuple(
                one.footprint
                for one in (*reading.own.buildings, *reading.buildings)
                if one.footprint is not None
            ),
            notes=tuple(reading.notes),
        )
        return in_sensible_units(as_degrees(drawing, reading.about.crs))


class _GeoJsonReading:
    """One reading, as it goes: what was found so far."""

    def __init__(self, files: Files) -> None:
        self.notes: list[Note] = []
        self.about = Collections(files, self.notes)
        self.own = OwnFeatures()
        self.spaces: list[DrawnSpace] = []
        self.openings: list[DrawnOpening] = []
        self.entrances: list[DrawnEntrance] = []
        self.risers: list[DrawnRiser] = []
        self.paths: list[DrawnPath] = []
        self.solids: list[DrawnSolid] = []
        self.fixtures: list[DrawnFixture] = []
        self.buildings: list[DrawnBuilding] = []
        self._outlines: dict[float, list[BaseGeometry]] = {}
        self.labels: list[DrawnLabel] = []
        self._unsure: list[tuple[Feature, float]] = []
        for feature, level in self.about.drawn:
            if not self.own.take(feature):
                self._take(feature, level)
        self._settle()

    def levels(self) -> list[DrawnLevel]:
        """Returns the levels that something was found on."""
        used = {one.level for one in self.spaces} | {one.level for one in self.solids}
        used -= {one.ordinal for one in self.own.levels}
        return [
            *self.own.levels,
            *self._told(used),
        ]

    def _told(self, used: Iterable[float]) -> list[DrawnLevel]:
        return [
            DrawnLevel(
                f"level {ordinal:g}",
                ordinal,
                self.about.names.get(ordinal, {}),
                outline=shapely.union_all(
                    [shapely.make_valid(one) for one in self._outlines[ordinal]]
                )
                if ordinal in self._outlines
                else None,
            )
            for ordinal in sorted(used)
        ]

    def _take(self, feature: Feature, level: float | None) -> None:
        shape = feature.geometry
        if shape is None:
            return
        keys = plain_keys(feature)
        role = role_of(feature, keys)
        told = self.about.told(feature, keys)
        levels = told or [0.0 if level is None else level]
        if not told and level is None and (role is None or role[0] is not Role.BUILDING):
            self.notes.append(
                Note(Finding.CONCLUDED, "level", feature.id, "it names no level: taken as 0")
            )
        named = label(names_told(feature, keys))
        if role is None:
            word = next((str(keys[key]) for key in KIND_KEYS if keys.get(key)), "")
            if word and shape.area > 0:
                why = f"{word!r} is no known kind: taken as a room"
                self.notes.append(Note(Finding.CONCLUDED, "space", feature.id, why))
            role = meaning(named) if not word or shape.area == 0 else (Role.SPACE, "room")
            if shape.area > 0 and not word and not named:
                self._unsure.append((feature, levels[0]))
                return
        if shape.area > 0 or _is_ring(shape):
            self._area(feature, keys, role or (Role.SPACE, "room"), levels)
        elif isinstance(shape, Point):
            self._point(feature, keys, role, levels)
        else:
            self._line(feature, keys, role or (Role.PATH, ""), levels)

    def _area(
        self,
        feature: Feature,
        keys: Mapping[str, Any],
        role: tuple[Role, str],
        levels: Sequence[float],
    ) -> None:
        shape = feature.geometry
        assert shape is not None
        key, (kind, category) = feature.id, role
        names = names_told(feature, keys)
        for level in levels:
            match kind:
                case Role.SOLID | Role.VOID:
                    encloses = kind is Role.SOLID
                    self.solids.append(DrawnSolid(key, level, shape, encloses=encloses))
                case Role.DOOR:
                    self.openings.append(DrawnOpening(key, level, shape, name=label(names)))
                case Role.ENTRANCE:
                    point = as_point(shape)
                    self.entrances.append(DrawnEntrance(key, level, point, label(names)))
                case Role.OUTLINE:
                    self._outlines.setdefault(level, []).append(shape)
                    if label(names):
                        self.about.names.setdefault(level, names)
                case Role.BUILDING:
                    self.buildings.append(DrawnBuilding(key, label(names), shape))
                    return
                case Role.FIXTURE:
                    word = text_of(keys, *KIND_KEYS) or "fixture"
                    self.fixtures.append(DrawnFixture(key, level, shape, word))
                case Role.NOTHING:
                    self.notes.append(Note(Finding.DROPPED, "feature", key, "nobody walks there"))
                case _:
                    self._space(feature, keys, category or "walkway", level, levels)

    def _space(
        self,
        feature: Feature,
        keys: Mapping[str, Any],
        category: str,
        level: float,
        levels: Sequence[float],
    ) -> None:
        names = names_told(feature, keys)
        if category in {"room", "unspecified"}:
            category = category_of(label(names))
        ref = text_of(keys, *REF_KEYS)
        telling = meaning(label(names)) is None or any(sign.isdigit() for sign in label(names))
        assert feature.geometry is not None
        self.spaces.append(
            DrawnSpace(
                feature.id,
                level,
                feature.geometry,
                category,
                names or ({"": ref} if ref else {}),
                ref or (label(names) if telling else ""),
                shaft=feature.id if len(levels) > 1 else "",
                closed=text_of(keys, "access", "restriction").lower() in {*PRIVATE, "restricted"},
            )
        )

    def _line(
        self,
        feature: Feature,
        keys: Mapping[str, Any],
        role: tuple[Role, str],
        levels: Sequence[float],
    ) -> None:
        shape, key, name = feature.geometry, feature.id, label(names_told(feature, keys))
        kind = RISERS.get(role[1])
        if kind and len(levels) > 1 and isinstance(shape, LineString):
            raw = feature.raw.get("levels") or first_told(keys, "levels")
            ends = [level_of(one) for one in raw] if isinstance(raw, list) else []
            ends = ends if len(ends) == 2 and None not in ends else [levels[0], levels[-1]]  # noqa: PLR2004
            stops = list(zip(ends, (Point(shape.coords[0]), Point(shape.coords[-1])), strict=True))
            if kind is RiserKind.LIFT:
                between = {one.level for one in self.spaces} | set(levels)
                stops = [
                    (one, stops[0][1]) for one in sorted(between) if levels[0] <= one <= levels[-1]
                ]
            self.risers.append(DrawnRiser(key, kind, tuple(stops)))  # type: ignore[arg-type]  # no None is left
            return
        for level in levels:
            for part in shapely.get_parts(shape):
                match role[0]:
                    case Role.SOLID | Role.VOID:
                        self.solids.append(DrawnSolid(key, level, part))
                    case Role.DOOR:
                        self.openings.append(DrawnOpening(key, level, part, name=name))
                    case Role.ENTRANCE:
                        self.entrances.append(DrawnEntrance(key, level, as_point(part), name))
                    case Role.PATH | Role.SPACE:
                        self.paths.append(DrawnPath(key, level, part))
                    case _:
                        why = f"a line that is a {role[0].value} is not used"
                        self.notes.append(Note(Finding.DROPPED, "feature", key, why))

    def _point(
        self,
        feature: Feature,
        keys: Mapping[str, Any],
        role: tuple[Role, str] | None,
        levels: Sequence[float],
    ) -> None:
        point, key, names = feature.geometry, feature.id, names_told(feature, keys)
        assert isinstance(point, Point)
        kind = RISERS.get(role[1]) if role else None
        if kind and len(levels) > 1:
            self.risers.append(DrawnRiser(key, kind, tuple((level, point) for level in levels)))
            return
        for level in levels:
            if role and role[0] is Role.DOOR:
                self.openings.append(DrawnOpening(key, level, point, name=label(names)))
            elif role and role[0] is Role.ENTRANCE:
                refused = "no public access" if keys.get("access") in PRIVATE else ""
                self.entrances.append(DrawnEntrance(key, level, point, label(names), refused))
            elif role and role[0] is Role.FIXTURE:
                self.fixtures.append(DrawnFixture(key, level, point, role[0].value))
            elif label(names):
                self.labels.append(DrawnLabel(key, level, point, names))
            else:
                self.notes.append(Note(Finding.DROPPED, "point", key, "nothing is said of it"))

    def _settle(self) -> None:
        """Takes what could only be told with everything else known."""
        for feature, level in self._unsure:
            shape = feature.geometry
            assert shape is not None
            shapes = [one.outline for one in self.spaces if one.level == level]
            shapes += [
                one.geometry
                for one, its in self._unsure
                if its == level and one is not feature and one.geometry is not None
            ]
            whole = shapely.make_valid(shape)
            covered = sum(bool(whole.contains(one.representative_point())) for one in shapes)
            if covered >= LEAST_INSIDE and covered >= len(shapes) / 2:
                self._outlines.setdefault(level, []).append(shape)
                why = "it lies around the others: taken as the floor's outline"
                self.notes.append(Note(Finding.CONCLUDED, "outline", feature.id, why))
            else:
                self._space(feature, plain_keys(feature), "room", level, [level])


def _is_ring(shape: BaseGeometry) -> bool:
    return isinstance(shape, LineString) and shape.is_closed and len(shape.coords) > 3  # noqa: PLR2004  # a ring
