"""Own features: what this product wrote into a file, read back under the names it gave.

Each carries the member `smartcis` among its properties; names, categories, levels and shapes are
read where any other reader finds them, so that they can be edited there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shapely.geometry import LineString, Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import (
    DrawnBuilding,
    DrawnEntrance,
    DrawnLevel,
    DrawnOpening,
    DrawnRiser,
    DrawnSpace,
    RiserKind,
    StoredAs,
    label,
)
from smartcis.importers.formats.geojson_shapes import Feature, names_of, text_of
from smartcis.importers.geometry.spaces import stored_key
from smartcis.importers.level_names import level_of

MARK = "smartcis"
RID = re.compile(r"[A-Za-z0-9._-]{1,60}")
LOWEST_M, HIGHEST_M = -1_000.0, 1_000.0  # of a floor
BOTH = 2  # sides of a door, ends of a way between levels


class OwnFeatures:
    """What was found so far of the product's own features."""

    def __init__(self) -> None:
        self.levels: list[DrawnLevel] = []
        self.spaces: list[DrawnSpace] = []
        self.openings: list[DrawnOpening] = []
        self.entrances: list[DrawnEntrance] = []
        self.risers: list[DrawnRiser] = []
        self.shafts: list[tuple[str, str]] = []
        self.buildings: list[DrawnBuilding] = []
        self._ordinals: dict[str, float] = {}

    def take(self, feature: Feature) -> bool:
        """Takes a feature if it is one of the product's own that can be read."""
        told = feature.properties.get(MARK)
        if not isinstance(told, dict):
            return False
        match told.get("is"):
            case "level":
                return self._level(feature, told)
            case "unit":
                return self._unit(feature, told)
            case "opening":
                return self._opening(feature, told)
            case "entrance":
                return self._entrance(feature, told)
            case "shaft" | "riser" as kind:
                return self._rise(feature, told, shaft=kind == "shaft")
            case "building":
                return self._building(feature, told)
        return False

    def _level(self, feature: Feature, told: Mapping[str, Any]) -> bool:
        said = feature.properties
        ordinal = level_of(said.get("ordinal", said.get("level")))
        if ordinal is None:
            return False
        self._ordinals[feature.id] = ordinal
        names, short = names_of(said.get("name")), label(names_of(said.get("short_name")))
        raw = told.get("elevation_m")
        high = isinstance(raw, int | float) and LOWEST_M <= raw <= HIGHEST_M
        self.levels.append(
            DrawnLevel(
                feature.id,
                ordinal,
                names,
                short,
                feature.geometry,
                float(raw) if high and raw is not None else None,
                text_of(told, "feature_id"),
            )
        )
        return True

    def _unit(self, feature: Feature, told: Mapping[str, Any]) -> bool:
        level, rid, shape = self._level_of(feature), _rid(told.get("rid")), feature.geometry
        if level is None or not rid or shape is None or shape.area <= 0:
            return False
        said = feature.properties
        stored = StoredAs(
            rid,
            text_of(told, "feature_id"),
            told.get("derived") is True,
            _drawing(told),
        )
        category = text_of(said, "category") or "unspecified"
        names = names_of(said.get("name"))
        self.spaces.append(DrawnSpace(feature.id, level, shape, category, names, stored=stored))
        return True

    def _opening(self, feature: Feature, told: Mapping[str, Any]) -> bool:
        level, between = self._level_of(feature), _keys(told.get("between"))
        if level is None or feature.geometry is None or len(between) != BOTH:
            return False
        derived = told.get("derived") is True
        name = label(names_of(feature.properties.get("name")))
        shape = feature.geometry
        door = told.get("door") is True
        self.openings.append(DrawnOpening(feature.id, level, shape, between, name, derived, door))
        return True

    def _entrance(self, feature: Feature, told: Mapping[str, Any]) -> bool:
        level, space = self._level_of(feature), _keys([told.get("rid")])
        if level is None or not isinstance(feature.geometry, Point) or not space:
            return False
        derived = told.get("derived") is True
        name = label(names_of(feature.properties.get("name")))
        self.entrances.append(
            DrawnEntrance(feature.id, level, feature.geometry, name, "", space[0], derived)
        )
        return True

    def _rise(self, feature: Feature, told: Mapping[str, Any], *, shaft: bool) -> bool:
        between = _keys(told.get("between"))
        if shaft and len(between) == BOTH:
            self.shafts.append((between[0], between[1]))
            return True
        stops = _stops(told.get("levels"), feature.geometry)
        if shaft or len(stops) != BOTH or told.get("kind") not in set(RiserKind):
            return False
        self.risers.append(DrawnRiser(feature.id, RiserKind(told["kind"]), stops))
        return True

    def _building(self, feature: Feature, told: Mapping[str, Any]) -> bool:
        key = text_of(told, "feature_id")
        if not key:
            return False
        name = label(names_of(feature.properties.get("name")))
        drawing, owed = _drawing(told), text_of(told, "attribution")[:300]
        self.buildings.append(
            DrawnBuilding(key, name, feature.geometry, True, drawing, owed)  # inside
        )
        return True

    def _level_of(self, feature: Feature) -> float | None:
        named = self._ordinals.get(text_of(feature.properties, "level_id"))
        return level_of(feature.properties.get("level")) if named is None else named


def point_told(raw: object) -> tuple[float, float] | None:
    """Returns longitude and latitude, None where a file tells none."""
    if not isinstance(raw, list) or len(raw) != BOTH:
        return None
    lon, lat = raw
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in raw):
        return None
    return (float(lon), float(lat)) if abs(lon) <= 180 and abs(lat) < 90 else None  # noqa: PLR2004  # degrees


def _drawing(told: Mapping[str, Any]) -> str:
    return _rid(told.get("drawing"))


def _rid(raw: object) -> str:
    return raw if isinstance(raw, str) and RID.fullmatch(raw) else ""


def _keys(raw: object) -> tuple[str, ...]:
    rids = [_rid(one) for one in raw] if isinstance(raw, list) else []
    return tuple(stored_key(rid) for rid in rids) if all(rids) else ()


def _stops(raw: object, shape: BaseGeometry | None) -> tuple[tuple[float, Point], ...]:
    levels: Sequence[float | None] = [level_of(one) for one in raw] if isinstance(raw, list) else []
    if not isinstance(shape, LineString) or len(levels) != len(shape.coords):
        return ()
    points = [Point(corner) for corner in shape.coords]
    return tuple(
        (level, point) for level, point in zip(levels, points, strict=True) if level is not None
    )
