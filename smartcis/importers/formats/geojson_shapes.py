"""GeoJSON shapes: features out of files, each readable or noted; shared by all formats of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import shapely
from shapely.geometry import shape
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import Finding, Names, Note
from smartcis.importers.errors import BrokenFile
from smartcis.importers.files import LARGEST_BYTES, Files
from smartcis.json_text import BadJSON, decoded

UNREADABLE = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    shapely.errors.ShapelyError,
)
LARGEST_M = 1e9  # coordinates beyond this are no place
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Feature:
    """One feature as it stands in a file.

    Args:
        id: its own identifier, or its place in the file.
        geometry: None when it has none.
        raw: the whole feature, for members beside `properties`.
    """

    id: str
    properties: Mapping[str, Any]
    geometry: BaseGeometry | None
    raw: Mapping[str, Any] = field(default_factory=dict)


def json_of(files: Files, name: str) -> Any:
    """Returns a file as JSON.

    Raises:
        BrokenFile: it is none.
    """
    try:
        return decoded(files.read(name).removeprefix(BOM), LARGEST_BYTES)
    except BadJSON as fault:
        reason = f"{name}: {fault.message} ({fault.found})"
        raise BrokenFile(reason, found=name, exists=fault.exists) from fault


def features_of(data: Any, name: str, notes: list[Note]) -> list[Feature]:
    """Returns the readable features of a collection; the others are noted.

    Raises:
        BrokenFile: no feature collection.
    """
    if isinstance(data, dict) and data.get("type") == "Feature":
        data = {"features": [data]}
    listed = data.get("features") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        raise BrokenFile(
            f"{name} is no feature collection", found=name, exists=['{"features": […]}']
        )
    found: list[Feature] = []
    seen: set[str] = set()
    for place, raw in enumerate(listed, start=1):
        where = f"{name}, feature {place}"
        if not isinstance(raw, dict):
            notes.append(Note(Finding.DROPPED, "feature", where, "it is no object"))
            continue
        properties = raw.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        own = raw.get("id", properties.get("id"))
        known = own if isinstance(own, str) else str(own) if isinstance(own, int) else ""
        if known and known in seen:
            notes.append(Note(Finding.REPAIRED, "id", known, "it stands twice: the second is new"))
            known = ""
        seen.add(known)
        geometry, fault = geometry_of(raw.get("geometry"))
        if fault:
            notes.append(Note(Finding.DROPPED, "feature", known or where, fault))
            continue
        found.append(Feature(known or where, properties, geometry, raw))
    return found


def geometry_of(raw: Any) -> tuple[BaseGeometry | None, str]:
    """Returns a geometry, or why there is none that can be used."""
    if raw is None:
        return None, ""
    try:
        read = shapely.force_2d(shape(raw))
        points = shapely.get_coordinates(read)
    except UNREADABLE:
        return None, "its geometry cannot be read"
    if not len(points):
        return None, "its geometry is empty"
    if not bool(np.all(np.abs(points) < LARGEST_M)):  # a NaN compares false
        return None, "its coordinates are no place on earth"
    return read, ""


def names_of(raw: Any) -> Names:
    """Returns the names in a label: `{"en": "Hall"}`, `"Hall"`, or none."""
    if isinstance(raw, str):
        return {"": raw.strip()} if raw.strip() else {}
    if isinstance(raw, int) and not isinstance(raw, bool):
        return {"": str(raw)}
    if isinstance(raw, dict):
        return {
            str(key): text.strip()
            for key, text in raw.items()
            if isinstance(text, str) and text.strip()
        }
    return {}


def text_of(properties: Mapping[str, Any], *keys: str) -> str:
    """Returns the first of some properties that says something, as text."""
    for key in keys:
        value = properties.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{value:g}" if isinstance(value, float) else str(value)
    return ""
