"""IMDF: read a folder of GeoJSON feature collections into checked, frozen features.

Knows the format, not the building: no projection, no derivation, no database.
Source: own, after the IMDF 1.0.0 specification's names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from shapely.geometry import shape
from shapely.geometry.base import BaseGeometry

from smartcis.importers.errors import BrokenFeature, BrokenFile, MissingFile, UnknownLevel
from smartcis.json_text import BadJSON, decoded

REQUIRED = ("venue", "level", "unit")
OPTIONAL = ("building", "footprint", "amenity", "opening")
LARGEST_BYTES = 200_000_000
POLYGONS = ("Polygon", "MultiPolygon")


@dataclass(frozen=True)
class Feature:
    """One IMDF feature in degrees of longitude and latitude.

    Args:
        id: the file's own identifier.
        properties: as read; OpenStreetMap tags stand under `tags`.
        geometry: None where the format allows it (buildings).
    """

    id: str
    properties: Mapping[str, Any]
    geometry: BaseGeometry | None

    @property
    def tags(self) -> Mapping[str, str]:
        """OpenStreetMap tags, empty in IMDF that came from elsewhere."""
        return self.properties.get("tags") or {}

    @property
    def name(self) -> str:
        """The label in English, else in any language, else empty."""
        labels = self.properties.get("name") or {}
        return str(labels.get("en") or next(iter(labels.values()), ""))

    @property
    def category(self) -> str:
        """IMDF category, `unspecified` when absent."""
        return str(self.properties.get("category") or "unspecified")


@dataclass(frozen=True)
class Imdf:
    """A read archive: every feature of the kinds this product uses."""

    levels: tuple[Feature, ...]
    units: tuple[Feature, ...]
    buildings: tuple[Feature, ...]
    footprints: tuple[Feature, ...]
    amenities: tuple[Feature, ...]
    openings: tuple[Feature, ...]
    slug: str
    name: str
    attribution: str
    level_height_m: float


def read_imdf(folder: Path) -> Imdf:
    """Reads and check an archive.

    Args:
        folder: holds `venue.json`, `level.json`, `unit.json` (or `.geojson`) and the others, and
            optionally `smartcis.json` with slug, name, attribution and level_height_m.

    Raises:
        MissingFile: no folder, or one of the required files is absent.
        BrokenFile: no JSON or no feature collection.
        BrokenFeature: a feature without id, geometry or level.
        UnknownLevel: a unit on a level that is not there.
    """
    if not folder.is_dir():
        raise MissingFile(
            f"{folder.name} is not a folder",
            found=str(folder),
            attempt="give the folder that holds venue.json, level.json and unit.json",
        )
    kinds = {kind: _read_kind(folder, kind) for kind in (*REQUIRED, *OPTIONAL)}
    levels = {level.id for level in kinds["level"]}
    for level in kinds["level"]:
        _need_polygon(level, "level")
        if not isinstance(level.properties.get("ordinal"), int):
            raise BrokenFeature(
                f"level {level.id} has no whole-number ordinal",
                found=level.id,
                attempt="give the level an ordinal: 0 is the ground level",
            )
    for unit in kinds["unit"]:
        _need_polygon(unit, "unit")
        if unit.properties.get("level_id") not in levels:
            raise UnknownLevel(
                f"unit {unit.id} stands on level {unit.properties.get('level_id')!r}, "
                "which level.json does not have",
                found=unit.id,
                exists=sorted(levels),
            )
    about = _read_about(folder)
    venue = kinds["venue"][0] if kinds["venue"] else None
    if venue is None:
        raise BrokenFile("venue.json holds no venue", found="venue.json")
    return Imdf(
        levels=kinds["level"],
        units=kinds["unit"],
        buildings=kinds["building"],
        footprints=kinds["footprint"],
        amenities=kinds["amenity"],
        openings=kinds["opening"],
        slug=str(about.get("slug") or folder.name),
        name=str(about.get("name") or venue.name or folder.name),
        attribution=str(about.get("attribution") or ""),
        level_height_m=float(about.get("level_height_m") or 4.0),
    )


def _read_about(folder: Path) -> Mapping[str, Any]:
    path = folder / "smartcis.json"
    if not path.exists():
        return {}
    about = _load(path)
    return about if isinstance(about, dict) else {}


def _load(path: Path) -> Any:
    try:
        return decoded(path.read_bytes(), LARGEST_BYTES)
    except BadJSON as fault:
        reason = f"{path.name}: {fault.message} ({fault.found})"
        raise BrokenFile(reason, found=path.name) from fault
    except OSError as fault:
        raise BrokenFile(
            f"{path.name} cannot be read: {fault.strerror}", found=path.name
        ) from fault


def _read_kind(folder: Path, kind: str) -> tuple[Feature, ...]:
    path = next(
        (p for p in (folder / f"{kind}.json", folder / f"{kind}.geojson") if p.exists()), None
    )
    if path is None:
        if kind in REQUIRED:
            raise MissingFile(
                f"the archive has no {kind}.json",
                found=", ".join(sorted(p.name for p in folder.iterdir())),
                exists=[f"{name}.json" for name in REQUIRED],
            )
        return ()
    data = _load(path)
    features = data.get("features") if isinstance(data, dict) else None
    if not isinstance(features, list):
        raise BrokenFile(f"{path.name} is no feature collection", found=path.name)
    read = tuple(_feature(raw, kind, index) for index, raw in enumerate(features))
    seen: set[str] = set()
    for feature in read:
        if feature.id in seen:
            raise BrokenFeature(f"{kind} {feature.id} stands twice", found=feature.id)
        seen.add(feature.id)
    return read


def _feature(raw: Any, kind: str, index: int) -> Feature:
    if not isinstance(raw, dict) or not isinstance(raw.get("id"), str):
        raise BrokenFeature(
            f"{kind} number {index + 1} has no id",
            found=f"{kind}[{index}]",
            attempt="every IMDF feature carries an id",
        )
    properties = raw.get("properties")
    if not isinstance(properties, dict):
        raise BrokenFeature(f"{kind} {raw['id']} has no properties", found=raw["id"])
    geometry = None
    if raw.get("geometry") is not None:
        try:
            geometry = shape(raw["geometry"])
        except (
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            AttributeError,
            shapely.errors.ShapelyError,
        ) as fault:
            raise BrokenFeature(
                f"{kind} {raw['id']} has no readable geometry: {fault}", found=raw["id"]
            ) from fault
        if not _on_earth(geometry):
            raise BrokenFeature(
                f"{kind} {raw['id']} has coordinates that are no degrees",
                found=raw["id"],
                attempt="give longitude and latitude, WGS 84",
            )
    return Feature(raw["id"], properties, geometry)


def _on_earth(geometry: BaseGeometry) -> bool:
    points = np.abs(shapely.get_coordinates(geometry))
    return bool(np.all(points <= np.array([180.0, 90.0])))  # a NaN compares false


def _need_polygon(feature: Feature, kind: str) -> None:
    shape_ = feature.geometry
    if shape_ is None or shape_.geom_type not in POLYGONS or shape_.is_empty or shape_.area <= 0:
        raise BrokenFeature(
            f"{kind} {feature.id} is not an area",
            found=feature.id,
            exists=list(POLYGONS),
            attempt="draw it as a polygon that encloses some ground",
        )
