"""Features: the parts of a building as GeoJSON, with the properties that bring them back.

Both formats write these; what a format needs besides stands in its own file.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from shapely.geometry import LineString, mapping
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import Drawing, DrawnLevel, DrawnSpace, RiserKind, label
from smartcis.importers.formats.own_features import MARK
from smartcis.importers.geometry.projection import Projection
from smartcis.importers.geometry.spaces import stored_key
from smartcis.importers.level_names import tidy

DIGITS = 9  # of a degree: a tenth of a millimetre
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "smartcis.export")
RELATIONSHIPS = {RiserKind.STAIRS: "stairs", RiserKind.LIFT: "elevator", RiserKind.RAMP: "ramp"}


@dataclass(frozen=True, slots=True)
class BuildingPart:
    """One part of a building.

    Args:
        kind: IMDF feature type.
        id: a UUID, the same in every export.
        said: properties that describe it to anybody.
        own: what this product reads back.
    """

    kind: str
    id: str
    geometry: BaseGeometry | None
    said: Mapping[str, Any]
    own: Mapping[str, Any]

    def feature(self, **more: Any) -> dict[str, Any]:
        """Returns it as a feature of GeoJSON, in degrees as its geometry is."""
        shape = None if self.geometry is None else mapping(self.geometry)
        properties = {**self.said, **more, MARK: dict(self.own)}
        return {"type": "Feature", "id": self.id, "geometry": shape, "properties": properties}


class Parts:
    """The parts of a building, in degrees.

    Args:
        building: in metres.
    """

    def __init__(self, building: Drawing) -> None:
        assert building.origin is not None
        projection = Projection(*building.origin)

        def rounded(shape: BaseGeometry) -> BaseGeometry:
            return shapely.transform(
                projection.geographic(shape), lambda points: np.round(points, DIGITS)
            )

        self.building = building.mapped(rounded)
        self._levels = {one.ordinal: self.id("level", one.key) for one in building.levels}

    def id(self, kind: str, key: str) -> str:
        """Returns the UUID of a thing."""
        return str(uuid.uuid5(NAMESPACE, f"{self.building.slug}/{kind}/{key}"))

    def __iter__(self) -> Iterator[BuildingPart]:
        yield from self._buildings()
        yield from map(self._level, self.building.levels)
        yield from map(self._unit, self.building.spaces)
        yield from self._openings()
        yield from self._entrances()
        yield from self._rises()
        for one in self.building.fixtures:
            said = {"name": _name(one.kind), **self._on(one.level), "anchor_id": None}
            own = {"is": "kiosk", "bearing_deg": one.bearing_deg}
            yield BuildingPart("kiosk", self.id("kiosk", one.key), one.shape, said, own)

    def _buildings(self) -> Iterator[BuildingPart]:
        for one in self.building.buildings:
            said = {"name": _name(one.name), "category": "unspecified", "restriction": None}
            own = {"is": "building", "feature_id": one.key}
            if one.drawing:
                own |= {"drawing": one.drawing, "attribution": one.attribution}
            yield BuildingPart("building", self.id("building", one.key), one.footprint, said, own)

    def _level(self, one: DrawnLevel) -> BuildingPart:
        said = {
            "name": _name(label(one.names)),
            "short_name": _name(one.short_name),
            "ordinal": tidy(one.ordinal),
            "level": tidy(one.ordinal),
            "category": "unspecified",
            "restriction": None,
            "outdoor": False,
            "building_ids": [self.id("building", its.key) for its in self.building.buildings],
        }
        own = {"is": "level", "feature_id": one.feature_id, "elevation_m": one.elevation_m}
        return BuildingPart("level", self._levels[one.ordinal], one.outline, said, own)

    def _unit(self, one: DrawnSpace) -> BuildingPart:
        assert one.stored is not None
        said = {
            "name": _name(label(one.names)),
            "category": one.category,
            "restriction": None,
            "accessibility": None,
            "ref": one.key,
            **self._on(one.level),
        }
        own = {
            "is": "unit",
            "rid": one.stored.rid,
            "feature_id": one.stored.feature_id,
            "derived": one.stored.derived,
        }
        if one.stored.drawing:
            own["drawing"] = one.stored.drawing
        return BuildingPart("unit", self._unit_id(stored_key(one.key)), one.outline, said, own)

    def _openings(self) -> Iterator[BuildingPart]:
        for one in self.building.openings:
            said = {
                "name": _name(one.name),
                "category": "pedestrian",
                "accessibility": None,
                "access_control": None,
                "door": {"type": "door", "automatic": False, "material": None}
                if one.door
                else None,
                **self._on(one.level),
            }
            own = {
                "is": "opening",
                "between": _rids(one.between),
                "derived": one.derived,
                "door": one.door,
            }
            yield BuildingPart("opening", self.id("opening", one.key), one.shape, said, own)

    def _entrances(self) -> Iterator[BuildingPart]:
        for one in self.building.entrances:
            assert one.level is not None
            said = {
                "name": _name(one.name),
                "category": "entry",
                "unit_ids": [self._unit_id(one.space)],
                **self._on(one.level),
            }
            own = {"is": "entrance", "rid": _rids((one.space,))[0], "derived": one.derived}
            yield BuildingPart("amenity", self.id("amenity", one.key), one.point, said, own)

    def _rises(self) -> Iterator[BuildingPart]:
        categories = {stored_key(one.key): one.category for one in self.building.spaces}
        for lower, upper in self.building.shafts:
            said = {
                "category": categories[lower],
                "direction": "undirected",
                "origin": {"id": self._unit_id(lower), "feature_type": "unit"},
                "destination": {"id": self._unit_id(upper), "feature_type": "unit"},
                "intermediary": None,
                "hours": None,
            }
            own = {"is": "shaft", "between": _rids((lower, upper))}
            yield BuildingPart(
                "relationship", self.id("shaft", f"{lower}/{upper}"), None, said, own
            )
        for one in self.building.risers:
            said = {
                "category": RELATIONSHIPS[one.kind],
                "direction": "undirected",
                "origin": None,
                "destination": None,
                "intermediary": None,
                "hours": None,
            }
            levels = [tidy(level) for level, _ in one.stops]
            line = LineString([point for _, point in one.stops])
            told: dict[str, Any] = {"is": "riser", "kind": one.kind.value, "levels": levels}
            yield BuildingPart("relationship", self.id("riser", one.key), line, said, told)

    def _unit_id(self, key: str) -> str:
        return self.id("unit", key)

    def _on(self, level: float) -> dict[str, Any]:
        return {"level_id": self._levels[level], "level": tidy(level)}


def _name(text: str) -> dict[str, str] | None:
    return {"en": text} if text else None


def _rids(keys: tuple[str, ...]) -> list[str]:
    return [key.removeprefix(stored_key("")) for key in keys]
