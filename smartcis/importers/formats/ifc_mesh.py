"""Meshing of an IFC model, run as a program: `python -m … MODEL.ifc TARGET.json`.

What it writes: schema, name, origin, buildings, storeys, and each product that matters to people
who walk, with its storey and the triangles of its mesh seen from above, in metres.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ifcopenshell
import ifcopenshell.geom as meshing
import ifcopenshell.util.unit

KINDS: tuple[tuple[str, str], ...] = (  # the first that a product is
    ("IfcSpace", "space"),
    ("IfcDoor", "door"),
    ("IfcStair", "stairs"),
    ("IfcStairFlight", "stairs"),
    ("IfcRamp", "ramp"),
    ("IfcRampFlight", "ramp"),
    ("IfcTransportElement", "elevator"),
    ("IfcWall", "wall"),
    ("IfcCurtainWall", "wall"),
    ("IfcWindow", "wall"),
    ("IfcColumn", "column"),
    ("IfcFurnishingElement", "furniture"),
)
MOST_TRIANGLES = 4_000  # of one product; a door's handle may have more, and its box serves as well
LEVEL_ENOUGH = 0.02  # share of a triangle's area seen from above
MOST_PRODUCTS = 40_000
_library: Any = meshing  # its types cover C++ classes in part


def described(path: str) -> dict[str, Any]:
    """Returns what a model says to people who walk."""
    model: Any = ifcopenshell.open(path)
    metre = float(ifcopenshell.util.unit.calculate_unit_scale(model))
    storeys = [
        {
            "key": one.GlobalId,
            "name": _text(one.LongName) or _text(one.Name),
            "elevation_m": _elevation_m(one, metre),
        }
        for one in model.by_type("IfcBuildingStorey")
    ]
    dropped: list[tuple[str, str, str]] = []
    chosen = {one.id(): kind for one, kind in _chosen(model)}
    products = list(_products(model, chosen, dropped))
    buildings = model.by_type("IfcBuilding")
    names = [_text(one.LongName) or _text(one.Name) for one in buildings]
    project = model.by_type("IfcProject")
    return {
        "schema": model.schema,
        "name": next((one for one in names if one), "")
        or next((_text(one.LongName) or _text(one.Name) for one in project), ""),
        "origin": _origin(model),
        "buildings": [(one.GlobalId, name) for one, name in zip(buildings, names, strict=True)],
        "storeys": storeys,
        "products": products,
        "dropped": dropped,
    }


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _elevation_m(storey: Any, metre: float) -> float:
    told = storey.Elevation
    if isinstance(told, int | float) and math.isfinite(told):
        return float(told) * metre
    placement = storey.ObjectPlacement
    try:
        return float(placement.RelativePlacement.Location.Coordinates[2]) * metre
    except (AttributeError, IndexError, TypeError):
        return 0.0


def _origin(model: Any) -> tuple[float, float] | None:
    for site in model.by_type("IfcSite"):
        lat, lon = (_degrees(getattr(site, name, None)) for name in ("RefLatitude", "RefLongitude"))
        if lat is not None and lon is not None and abs(lat) <= 90 and abs(lon) <= 180:  # noqa: PLR2004  # degrees
            return lon, lat
    return None


def _degrees(parts: Sequence[int] | None) -> float | None:
    """Returns degrees, minutes, seconds and millionths as degrees."""
    if not parts or len(parts) < 3:  # noqa: PLR2004  # at least seconds
        return None
    sign = -1.0 if any(part < 0 for part in parts) else 1.0
    scales = (1.0, 60.0, 3600.0, 3.6e9)
    return sign * sum(abs(part) / scale for part, scale in zip(parts, scales, strict=False))


def _chosen(model: Any) -> Iterator[tuple[Any, str]]:
    seen: set[int] = set()
    for name, kind in KINDS:
        try:
            found = model.by_type(name)
        except RuntimeError:  # a class that the schema does not have
            continue
        for one in found:
            whole = _holder(one) if name.endswith("Flight") else None
            if whole is not None and whole.id() in seen:
                continue  # its stairs or ramp have it already
            if one.id() not in seen and len(seen) < MOST_PRODUCTS:
                seen.add(one.id())
                yield one, kind


def _products(
    model: Any, chosen: dict[int, str], dropped: list[tuple[str, str, str]]
) -> Iterator[dict[str, Any]]:
    settings = _library.settings()
    settings.set("use-world-coords", True)  # the library's own way
    meshed: set[int] = set()
    for number, kind in chosen.items():
        product = model.by_id(number)
        storey = _storey(product)
        if not storey or number in meshed:
            continue
        parts = _meshes(settings, product)
        if not parts:
            dropped.append(
                (product.is_a(), product.GlobalId, "it has no shape that can be computed")
            )
            continue
        meshed.add(number)
        heights = [z for points, _ in parts for z in points[2::3]]
        if kind == "elevator" and "ESCALATOR" in str(_kind(product)).upper():
            kind = "escalator"  # noqa: PLW2901  # the finer word
        yield {
            "key": product.GlobalId,
            "kind": kind,
            "name": _text(product.Name) if kind in {"space", "elevator", "furniture"} else "",
            "long_name": _text(getattr(product, "LongName", None)),
            "type": _text(product.ObjectType) or str(_kind(product) or ""),
            "storey": storey,
            "low_m": min(heights),
            "high_m": max(heights),
            "triangles": _seen_from_above(parts, outline=kind in {"door", "furniture", "elevator"}),
            "between": _between(product) if kind == "door" else [],
        }


def _kind(product: Any) -> Any:
    return getattr(product, "PredefinedType", None) or getattr(product, "OperationType", None)


def _storey(product: Any) -> str:
    """Returns the storey a product stands on, through whatever it is part of; empty for none."""
    here = product
    for _ in range(12):
        if here is None:
            return ""
        if here.is_a("IfcBuildingStorey"):
            return str(here.GlobalId)
        here = _holder(here)
    return ""


def _holder(thing: Any) -> Any:
    for relations, end in (
        ("ContainedInStructure", "RelatingStructure"),
        ("Decomposes", "RelatingObject"),
        ("Nests", "RelatingObject"),
        ("FillsVoids", "RelatingOpeningElement"),
        ("VoidsElements", "RelatingBuildingElement"),
    ):
        for relation in getattr(thing, relations, None) or ():
            return getattr(relation, end)
    return None


Mesh = tuple[Sequence[float], Sequence[int]]


def _meshes(settings: Any, product: Any) -> list[Mesh]:
    """Returns the meshes of a product, or of its parts where it has none of its own."""
    found: list[Mesh] = []
    waiting = [product]
    while waiting:
        one = waiting.pop()
        if getattr(one, "Representation", None) is not None:
            try:
                shape = _library.create_shape(settings, one)
                points, faces = shape.geometry.verts, shape.geometry.faces
                if len(points) and all(math.isfinite(at) for at in points):
                    found.append((points, faces))
                    continue
            except RuntimeError:
                pass
        for relation in getattr(one, "IsDecomposedBy", None) or ():
            waiting += relation.RelatedObjects
    return found


def _seen_from_above(parts: Sequence[Mesh], *, outline: bool) -> list[list[tuple[float, float]]]:
    """Returns triangles that are not upright, or the box around everything."""
    count = sum(len(faces) // 3 for _, faces in parts)
    corners = [
        (x, y) for points, _ in parts for x, y in zip(points[::3], points[1::3], strict=True)
    ]
    if outline or count > MOST_TRIANGLES:
        hull = _hull(corners)
        return [hull] if len(hull) > 2 else []  # noqa: PLR2004  # an area
    found = []
    for points, faces in parts:
        for a, b, c in zip(faces[::3], faces[1::3], faces[2::3], strict=True):
            (ax, ay), (bx, by), (cx, cy) = (
                (round(points[3 * k], 4), round(points[3 * k + 1], 4)) for k in (a, b, c)
            )
            if abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2 > LEVEL_ENOUGH**2:
                found.append([(ax, ay), (bx, by), (cx, cy)])
    return found


def _hull(corners: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Returns the convex hull of points (Andrew's monotone chain)."""
    ordered = sorted({(round(x, 4), round(y, 4)) for x, y in corners})
    if len(ordered) < 3:  # noqa: PLR2004  # no area
        return ordered
    halves = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for x, y in sequence:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                chain.pop()
            chain.append((x, y))
        halves.append(chain[:-1])
    return halves[0] + halves[1]


def _between(door: Any) -> list[str]:
    """Returns the spaces that the model says a door bounds."""
    found = []
    for relation in getattr(door, "ProvidesBoundaries", None) or ():
        space = relation.RelatingSpace
        if space is not None and space.is_a("IfcSpace") and space.GlobalId not in found:
            found.append(space.GlobalId)
    return found


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(described(sys.argv[1])), encoding="utf-8")
