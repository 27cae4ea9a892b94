"""IFC: building models of IFC2x3 and IFC4, as text or zipped, through ifcopenshell.

Spaces, doors, stairs, lifts and walls are meshed, and what of them stands on a storey is projected
to its floor. The meshing runs in a process of its own: a library in C++ given a stranger's file
may end, or never end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import shapely
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import (
    Drawing,
    DrawnBuilding,
    DrawnFixture,
    DrawnLevel,
    DrawnOpening,
    DrawnSolid,
    DrawnSpace,
    Finding,
    Note,
)
from smartcis.importers.errors import BrokenFile, ImportTooLarge, NothingDrawn
from smartcis.importers.files import Files
from smartcis.importers.level_names import level_of
from smartcis.importers.units import drawn_shapes
from smartcis.importers.words import Role, category_of, meaning

LONGEST_S = 600.0  # to mesh a building; the largest published models take minutes
LOW_STOREY_M = 2.2  # a storey lower than this above the one below is a mezzanine
ABOVE_M, BELOW_M = 1.0, 0.6  # how far a shaft must pass a floor to serve it
END = b"END-ISO-10303-21"
OUT_OF_SCHEMA = "no spaces, walls or doors"


class IfcImporter:
    """IFC."""

    name = "IFC 2x3 or 4 (.ifc, .ifczip)"

    def recognises(self, files: Files) -> bool:
        """Returns whether some file begins as a STEP file of IFC does."""
        return _model(files) is not None

    def read(self, files: Files) -> Drawing:
        """Reads a model, in metres."""
        name = _model(files)
        assert name is not None
        data = files.read(name)
        if END not in data[-1_000:]:
            raise BrokenFile(
                f"{name} is cut short: it does not end as IFC does",
                found=name,
                exists=[END.decode()],
            )
        model = _meshed(data, name)
        return _IfcReading(self.name, files.stem, model).drawing()


def _model(files: Files) -> str | None:
    for name in files:
        likely = name.lower().endswith((".ifc", ".ifczip")) or len(files.names) == 1
        if likely and files.head(name).startswith(b"ISO-10303-21"):
            return name
    return None


def _meshed(data: bytes, name: str) -> Mapping[str, Any]:
    """Returns what `ifc_mesh.py` finds in a model."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "model.ifc"), Path(folder, "model.json")
        source.write_bytes(data)
        command = [
            sys.executable,
            "-m",
            "smartcis.importers.formats.ifc_mesh",
            str(source),
            str(target),
        ]
        root = Path(__file__).resolve().parents[3]
        try:
            ran = subprocess.run(  # noqa: S603  # our own module
                command, cwd=root, capture_output=True, timeout=LONGEST_S, check=False
            )
        except subprocess.TimeoutExpired as fault:
            raise ImportTooLarge(
                f"{name} took longer than {LONGEST_S:.0f} s to read",
                found=name,
                attempt="export spaces, doors, stairs and walls alone",
            ) from fault
        if ran.returncode or not target.exists():
            said = ran.stderr.decode(errors="replace").strip().splitlines()
            raise BrokenFile(
                f"{name} is no readable IFC: {said[-1][:300] if said else 'its reader ended'}",
                found=name,
                exists=["IFC2X3", "IFC4", "IFC4X3"],
            )
        found = json.loads(target.read_bytes())
    assert isinstance(found, dict)
    return found


class _IfcReading:
    """One reading of a meshed model."""

    def __init__(self, name: str, slug: str, model: Mapping[str, Any]) -> None:
        self._format, self._slug, self._model = name, slug, model
        self.notes = [Note(Finding.DROPPED, *one) for one in model["dropped"]]
        self._products = model["products"]
        self._shapes = {one["key"]: _footprint(one) for one in self._products}
        self._ordinals = self._numbered()

    def drawing(self) -> Drawing:
        """Returns the model as a drawing."""
        model = self._model
        spaces = list(self._spaces())
        solids = list(self._solids())
        if not spaces and not solids:
            raise NothingDrawn(
                f"the model has {OUT_OF_SCHEMA} with a shape on a storey",
                found=model["schema"],
                exists=["IfcSpace", "IfcWall", "IfcDoor"],
                attempt="export spaces (rooms) with the model",
            )
        lon_lat = model["origin"]
        if lon_lat is None:
            why = "the site names none: placed at 0° north, 0° east"
            self.notes.append(Note(Finding.CONCLUDED, "position", "", why))
        drawing = Drawing(
            format=f"{self._format}: {model['schema']}",
            slug=self._slug,
            name=model["name"] or self._slug,
            origin=tuple(lon_lat) if lon_lat else (0.0, 0.0),
            levels=tuple(self._levels()),
            spaces=tuple(spaces),
            openings=tuple(self._openings()),
            solids=tuple(solids),
            fixtures=tuple(self._fixtures()),
            buildings=tuple(
                DrawnBuilding(key, name, None, inside=True) for key, name in model["buildings"]
            ),
            notes=tuple(self.notes),
        )
        shapes = drawn_shapes(drawing)
        low_x, low_y, _, _ = shapely.total_bounds(shapes) if shapes else (0.0, 0.0, 0.0, 0.0)
        return drawing.mapped(
            lambda shape: shapely.transform(shape, lambda at: at - (low_x, low_y))
        )

    def _numbered(self) -> dict[str, float]:
        """Returns storey → ordinal: storeys with something on them, counted from the ground."""
        used = {
            one["storey"]
            for one in self._products
            if one["storey"] and one["kind"] in {"space", "door", "wall"}
        }
        with_rooms = {one["storey"] for one in self._products if one["kind"] in {"space", "door"}}
        storeys = [one for one in self._model["storeys"] if one["key"] in used]
        roomy = [one for one in storeys if one["key"] in with_rooms] or storeys
        for one in storeys:
            if one not in roomy:
                why = "it has walls, and neither room nor door"
                self.notes.append(Note(Finding.DROPPED, "storey", one["name"] or one["key"], why))
        if not roomy:
            return {}
        roomy.sort(key=lambda one: one["elevation_m"])
        told = [level_of(one["name"]) for one in roomy]
        sound = None not in told and all((a or 0) < (b or 0) for a, b in pairwise(told))
        if sound and 0.0 in told:
            return {one["key"]: float(t or 0) for one, t in zip(roomy, told, strict=True)}
        ground = min(range(len(roomy)), key=lambda k: (abs(roomy[k]["elevation_m"]), k))
        ordinals = [0.0]
        for lower, upper in pairwise(roomy):
            low = upper["elevation_m"] - lower["elevation_m"] < LOW_STOREY_M
            ordinals.append(ordinals[-1] + 0.5 if low else float(int(ordinals[-1] // 1) + 1))
        shift = ordinals[ground]
        return {one["key"]: n - shift for one, n in zip(roomy, ordinals, strict=True)}

    def _levels(self) -> Iterator[DrawnLevel]:
        for storey in self._model["storeys"]:
            ordinal = self._ordinals.get(storey["key"])
            if ordinal is not None:
                yield DrawnLevel(
                    storey["key"],
                    ordinal,
                    {"": storey["name"]} if storey["name"] else {},
                    elevation_m=storey["elevation_m"],
                )

    def _of(self, *kinds: str) -> Iterator[tuple[Mapping[str, Any], float, BaseGeometry]]:
        for one in self._products:
            ordinal = self._ordinals.get(one["storey"])
            shape = self._shapes[one["key"]]
            if one["kind"] in kinds and ordinal is not None and not shape.is_empty:
                yield one, ordinal, shape

    def _spaces(self) -> Iterator[DrawnSpace]:
        for one, ordinal, shape in self._of("space"):
            role = meaning(one["long_name"]) or meaning(one["type"]) or (Role.SPACE, "room")
            if role[0] is Role.VOID:
                continue
            category = self._category(one)
            text = " ".join(part for part in (one["name"], one["long_name"]) if part)
            yield DrawnSpace(
                one["key"], ordinal, shape, category, {"": text}, one["name"] or one["long_name"]
            )
        for one, _, shape in self._of("stairs", "elevator", "escalator", "ramp"):
            for ordinal in self._served(one):
                if self._has_room(one["kind"], ordinal, shape):
                    continue  # the cab stands in a shaft that is a space itself
                key = f"{one['key']}@{ordinal:g}"
                names = {"": one["name"]} if one["name"] else {}
                yield DrawnSpace(key, ordinal, shape, one["kind"], names, shaft=one["key"])

    def _has_room(self, category: str, ordinal: float, shape: BaseGeometry) -> bool:
        """Returns whether a space of the same kind lies around a flight or cab on a storey."""
        return any(
            self._category(one) == category
            and level == ordinal
            and shapely.intersection(ground, shape).area > shape.area / 2
            for one, level, ground in self._of("space")
        )

    def _category(self, space: Mapping[str, Any]) -> str:
        return category_of(space["long_name"], space["type"], space["name"])

    def _served(self, one: Mapping[str, Any]) -> Sequence[float]:
        """Returns the storeys a flight or a shaft reaches: its own, and those up to its top."""
        low_m, high_m = one["low_m"], one["high_m"]
        heights = {
            self._ordinals[storey["key"]]: storey["elevation_m"]
            for storey in self._model["storeys"]
            if storey["key"] in self._ordinals
        }
        margin_m = BELOW_M if one["kind"] != "elevator" else -ABOVE_M
        found = {
            ordinal
            for ordinal, at_m in heights.items()
            if low_m - BELOW_M <= at_m <= high_m + margin_m
        }
        return sorted(found | {self._ordinals[one["storey"]]})

    def _openings(self) -> Iterator[DrawnOpening]:
        for one, ordinal, shape in self._of("door"):
            yield DrawnOpening(one["key"], ordinal, _slab(shape), tuple(one["between"]))

    def _solids(self) -> Iterator[DrawnSolid]:
        for one, ordinal, shape in self._of("wall", "column"):
            encloses = one["kind"] == "wall"
            yield DrawnSolid(one["key"], ordinal, shape, encloses=encloses)

    def _fixtures(self) -> Iterator[DrawnFixture]:
        for one, ordinal, shape in self._of("furniture"):
            yield DrawnFixture(one["key"], ordinal, shape, one["name"] or "furniture")


def _footprint(product: Mapping[str, Any]) -> BaseGeometry:
    """Returns the area that a product's triangles cover, seen from above."""
    triangles = [shapely.Polygon(one) for one in product["triangles"]]
    sound = [one for one in triangles if one.area > 0]
    if not sound:
        return shapely.Polygon()
    area = shapely.union_all(sound, grid_size=0.001)
    return shapely.simplify(area, 0.005)


def _slab(shape: BaseGeometry) -> BaseGeometry:
    """Returns the box around a door, without what its handles and frames add."""
    return shapely.minimum_rotated_rectangle(shape)
