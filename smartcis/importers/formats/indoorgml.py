"""IndoorGML: cells, the boundaries between them, and the graph of states and transitions.

Source: OGC IndoorGML 1.0 and 1.1 (core and navigation); of 2.0 the same parts by their new names.
Solids are projected to their floors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from xml.etree.ElementTree import Element

import numpy as np
import shapely
from shapely.geometry import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import (
    RISERS,
    Drawing,
    DrawnEntrance,
    DrawnLevel,
    DrawnOpening,
    DrawnRiser,
    DrawnSolid,
    DrawnSpace,
    Finding,
    Note,
    RiserKind,
)
from smartcis.importers.errors import NothingDrawn
from smartcis.importers.files import Files
from smartcis.importers.formats.gml import Gml, child_text, id_of, reference_of
from smartcis.importers.formats.xml_text import local_name, xml_of
from smartcis.importers.geometry.spaces import ground_of
from smartcis.importers.level_names import levels_of
from smartcis.importers.repair import as_point
from smartcis.importers.units import in_sensible_units, local, rescaled
from smartcis.importers.words import Role, category_of, meaning

CELLS: Mapping[str, tuple[Role, str]] = {
    "CellSpace": (Role.SPACE, ""),
    "NavigableSpace": (Role.SPACE, ""),
    "GeneralSpace": (Role.SPACE, "room"),
    "TransferSpace": (Role.SPACE, "walkway"),
    "TransitionSpace": (Role.SPACE, "walkway"),
    "ConnectionSpace": (Role.DOOR, ""),
    "AnchorSpace": (Role.ENTRANCE, ""),
    "NonNavigableSpace": (Role.VOID, ""),
    "ObjectSpace": (Role.VOID, ""),
}
DOORS = frozenset({"ConnectionBoundary", "TransferBoundary"})
BOUNDARIES = frozenset({"CellSpaceBoundary", "NavigableBoundary", "AnchorBoundary", *DOORS})
USUAL_RISE_M, LOWEST_RISE_M, HIGHEST_RISE_M = 4.0, 1.8, 9.0  # from floor to floor
WIDEST_DEG = 0.02  # two kilometres: a plan so small, if it is not in degrees, has no rooms
SAME_FLOOR = 0.4  # of the usual height: floors nearer than this are one storey
_TOLD = re.compile(r"""(\w+)\s*=\s*["']([^"']*)["']""")


@dataclass
class Cell:
    """A cell space.

    Args:
        told: what its description says, as pairs: storey, indoor.
        low, high: heights, in the file's own unit.
        bounds: ids of its boundaries, without `-REVERSE`.
    """

    id: str
    role: Role
    category: str
    name: str
    told: Mapping[str, str]
    area: BaseGeometry
    low: float
    high: float
    bounds: set[str] = field(default_factory=set)
    levels: list[float] = field(default_factory=list)


class IndoorGmlImporter:
    """IndoorGML."""

    name = "IndoorGML 1.0 or 1.1"

    def recognises(self, files: Files) -> bool:
        """Returns whether some file is XML of IndoorGML."""
        return _document(files) is not None

    def read(self, files: Files) -> Drawing:
        """Reads the cells and the graph, in metres or degrees."""
        name = _document(files)
        assert name is not None
        return _IndoorGmlReading(self.name, files.stem, xml_of(files, name)).drawing()


def _document(files: Files) -> str | None:
    for name in files:
        head = files.head(name)[:8192].lower()
        if b"<" in head and b"indoorfeatures" in head and b"gml" in head:
            return name
    return None


class _IndoorGmlReading:
    """One reading of a document."""

    def __init__(self, name: str, slug: str, root: Element) -> None:
        self._format, self._slug = name, slug
        self.notes: list[Note] = []
        self._gml = Gml(root)
        self._cells: dict[str, Cell] = {}
        self._boundaries: dict[str, tuple[str, BaseGeometry]] = {}
        self._states: dict[str, tuple[str, Point | None]] = {}
        self._transitions: list[tuple[str, tuple[str, str], LineString | None]] = []
        for one in root.iter():
            kind = local_name(one)
            if kind in CELLS:
                self._take_cell(one, kind)
            elif kind in BOUNDARIES:
                self._take_boundary(one, kind)
            elif kind in {"State", "Node"} and id_of(one):
                self._take_state(one)
            elif kind in {"Transition", "Edge"} and id_of(one):
                self._take_transition(one)
        self._heights = self._number()

    def drawing(self) -> Drawing:
        """Returns what was found."""
        spaces = list(self._spaces())
        if not spaces:
            raise NothingDrawn(
                "no cell of the file has an area",
                found=f"{len(self._cells)} cells",
                exists=["Geometry2D/Surface", "Geometry3D/Solid"],
                attempt="export the geometry of cells, not the graph alone",
            )
        drawing = Drawing(
            format=self._format,
            slug=self._slug,
            name=self._slug,
            levels=tuple(
                DrawnLevel(f"level {ordinal:g}", ordinal, {}, elevation_m=height)
                for ordinal, height in sorted(self._heights.items())
            ),
            spaces=tuple(spaces),
            openings=(*self._openings(), *self._transits()),
            entrances=tuple(self._entrances()),
            risers=tuple(self._risers()),
            solids=tuple(self._solids()),
            notes=tuple(self.notes),
        )
        placed = in_sensible_units(drawing)
        if placed.origin is None and not self._geographic(placed):
            placed = local(drawing, (1.0, "metres"), "its coordinates are a plan's own")
        return self._scaled(placed)

    def _geographic(self, drawing: Drawing) -> bool:
        """Returns whether coordinates that could be degrees are."""
        bounds = shapely.total_bounds([one.outline for one in drawing.spaces])
        return (
            self._gml.latitude_first
            or float(max(bounds[2] - bounds[0], bounds[3] - bounds[1])) < WIDEST_DEG
        )  # two kilometres

    def _scaled(self, drawing: Drawing) -> Drawing:
        """Brings lengths to metres where storeys stand absurdly far apart."""
        rises = [upper - lower for lower, upper in pairwise(sorted(self._heights.values()))]
        rise = median(rises) if rises else USUAL_RISE_M
        if drawing.origin is None or rise <= 0 or LOWEST_RISE_M <= rise <= HIGHEST_RISE_M:
            return drawing
        factor = USUAL_RISE_M / rise
        why = f"storeys stand {rise:g} units apart: one unit is taken as {factor:g} m"
        return rescaled(drawing, factor, why)

    def _take_cell(self, element: Element, kind: str) -> None:
        key = id_of(element)
        role, category = CELLS[kind]
        told = dict(_TOLD.findall(child_text(element, "description")))
        name = child_text(element, "name")
        words = (told.get("indoor"), told.get("usage"), child_text(element, "usage"), name)
        if role is Role.SPACE:
            found = meaning(told.get("indoor")) or (meaning(name) if not category else None)
            if found and found[0] in {Role.DOOR, Role.ENTRANCE, Role.VOID}:
                role, category = found
            else:
                better = category_of(*words)
                category = better if better != "room" or not category else category
                if told.get("indoor") and better == "room":
                    category = "room"
        rings = [
            ring for geometry in self._gml.geometries(element) for ring in self._gml.rings(geometry)
        ]
        areas = [Polygon(ring[:, :2]) for ring in rings if len(ring) > 3]  # noqa: PLR2004  # a ring
        flat = [shapely.make_valid(area) for area in areas if area.area > 0]
        area = ground_of(shapely.union_all(flat)) if flat else Polygon()
        heights = np.concatenate([ring[:, 2] for ring in rings]) if rings else np.zeros(1)
        low, high = float(heights.min()), float(heights.max())
        bounds = {
            reference_of(one).removesuffix("-REVERSE")
            for one in element.iter()
            if local_name(one).lower() in {"partialboundedby", "boundedby"} and reference_of(one)
        }
        for one in element.iter():  # boundaries written where they are used
            if local_name(one) in BOUNDARIES and id_of(one):
                bounds.add(id_of(one).removesuffix("-REVERSE"))
        if key and not area.is_empty:
            self._cells[key] = Cell(key, role, category, name, told, area, low, high, bounds)
        elif key:
            self.notes.append(Note(Finding.DROPPED, "cell", key, "its geometry has no area"))

    def _take_boundary(self, element: Element, kind: str) -> None:
        key = id_of(element).removesuffix("-REVERSE")
        if not key or key in self._boundaries:
            return
        lines = [points for one in self._gml.geometries(element) for points in self._gml.rings(one)]
        if not lines:
            return
        flat = np.concatenate(lines)[:, :2]
        middle = flat - flat.mean(axis=0)
        far = flat[int(np.argmax((middle**2).sum(axis=1)))]
        other = flat[int(np.argmax(((flat - far) ** 2).sum(axis=1)))]
        shape: BaseGeometry = Point(far)
        if not np.allclose(far, other):
            shape = LineString([far, other])
        passed = kind in DOORS or any(
            local_name(one) == "duality" and reference_of(one) for one in element
        )
        if kind == "AnchorBoundary" or passed:
            self._boundaries[key] = (kind, shape)

    def _take_state(self, element: Element) -> None:
        cell = next((reference_of(one) for one in element if local_name(one) == "duality"), "")
        points = self._gml.points(element)
        at = Point(points[0, :2]) if len(points) else None
        self._states[id_of(element)] = (cell, at)

    def _take_transition(self, element: Element) -> None:
        ends = [reference_of(one) for one in element.iter() if local_name(one) == "connects"]
        if len(ends) == 2:  # noqa: PLR2004  # from and to
            points = self._gml.points(element)
            line = LineString(points[:, :2]) if len(points) > 1 else None
            self._transitions.append((id_of(element), (ends[0], ends[1]), line))

    def _number(self) -> dict[float, float]:
        """Gives every cell its levels; returns how high each level lies."""
        told: dict[str, list[float]] = {}
        for cell in self._cells.values():
            words = next(
                (cell.told[key] for key in ("storey", "level", "floor") if key in cell.told), ""
            )
            told[cell.id] = levels_of(words)
        known = {level for levels in told.values() for level in levels}
        heights: dict[float, list[float]] = {}
        if known and sum(bool(levels) for levels in told.values()) >= len(told) / 2:
            for cell in self._cells.values():
                if len(told[cell.id]) == 1:
                    heights.setdefault(told[cell.id][0], []).append(cell.low)
            found = {level: median(lows) for level, lows in heights.items()}
            for cell in self._cells.values():
                nearest = sorted(found, key=lambda level: (abs(found[level] - cell.low), level))
                cell.levels = told[cell.id] or nearest[:1] or [0.0]
            return {
                level: found.get(level, 0.0)
                for cell in self._cells.values()
                for level in cell.levels
            }
        return self._by_height()

    def _by_height(self) -> dict[float, float]:
        rooms = [cell for cell in self._cells.values() if cell.role is Role.SPACE]
        tall = [cell.high - cell.low for cell in rooms if cell.high > cell.low]
        apart = SAME_FLOOR * median(tall) if tall else 1e-6
        floors: list[float] = []
        for low in sorted({cell.low for cell in rooms}):
            if not floors or low - floors[-1] > apart:
                floors.append(low)
        ground = min(range(len(floors)), key=lambda k: (abs(floors[k]), k), default=0)
        for cell in self._cells.values():
            inside = [
                k
                for k, floor in enumerate(floors)
                if abs(floor - cell.low) <= apart or cell.low < floor < cell.high - apart
            ]
            nearest = sorted(range(len(floors)), key=lambda k: abs(floors[k] - cell.low))[:1]
            cell.levels = [float(k - ground) for k in inside or nearest]
        if len(floors) > 1:
            why = f"no cell names its storey: {len(floors)} floors are told by height"
            self.notes.append(Note(Finding.CONCLUDED, "levels", "", why))
        return {float(k - ground): floor for k, floor in enumerate(floors)}

    def _of(self, *roles: Role) -> Iterator[tuple[Cell, float]]:
        for cell in self._cells.values():
            for level in cell.levels:
                if cell.role in roles:
                    yield cell, level

    def _spaces(self) -> Iterator[DrawnSpace]:
        for cell, level in self._of(Role.SPACE, Role.PATH, Role.OUTLINE):
            several = len(cell.levels) > 1
            key = _on(cell, level)
            yield DrawnSpace(
                key,
                level,
                cell.area,
                cell.category or "room",
                {"": cell.name} if cell.name else {},
                cell.name,
                shaft=cell.id if several else "",
            )

    def _solids(self) -> Iterator[DrawnSolid]:
        for cell, level in self._of(Role.VOID, Role.SOLID):
            yield DrawnSolid(_on(cell, level), level, cell.area, encloses=False)

    def _openings(self) -> Iterator[DrawnOpening]:
        for cell, level in self._of(Role.DOOR):
            yield DrawnOpening(_on(cell, level), level, cell.area, name=cell.name)
        for key, (kind, shape) in self._boundaries.items():
            cells = [cell for cell in self._cells.values() if key in cell.bounds]
            if kind == "AnchorBoundary" or not cells:
                continue
            shared = set.intersection(*(set(cell.levels) for cell in cells))
            for level in sorted(shared or set(cells[0].levels)):
                yield DrawnOpening(key, level, shape, tuple(_on(cell, level) for cell in cells))

    def _entrances(self) -> Iterator[DrawnEntrance]:
        for cell, level in self._of(Role.ENTRANCE):
            yield DrawnEntrance(_on(cell, level), level, as_point(cell.area), cell.name)
        for key, (kind, shape) in self._boundaries.items():
            if kind == "AnchorBoundary":
                levels = [
                    level
                    for cell in self._cells.values()
                    if key in cell.bounds
                    for level in cell.levels
                ]
                yield DrawnEntrance(key, levels[0] if levels else None, as_point(shape))

    def _cell_of(self, state: str) -> tuple[Cell | None, Point | None]:
        cell, at = self._states.get(state, ("", None))
        found = self._cells.get(cell)
        return found, at if at is not None or found is None else as_point(found.area)

    def _risers(self) -> Iterator[DrawnRiser]:
        for key, (one, other), _ in self._transitions:
            (lower, low), (upper, high) = self._cell_of(one), self._cell_of(other)
            if lower is None or upper is None or low is None or high is None:
                continue
            if set(lower.levels) & set(upper.levels):
                continue
            kinds = [RISERS[cell.category] for cell in (lower, upper) if cell.category in RISERS]
            stops = sorted(
                ((lower.levels[0], low), (upper.levels[0], high)), key=lambda stop: stop[0]
            )
            yield DrawnRiser(key, kinds[0] if kinds else RiserKind.STAIRS, tuple(stops))

    def _transits(self) -> Iterator[DrawnOpening]:
        """Returns the transitions within a level for which no boundary is drawn."""
        drawn = {
            frozenset(cell.id for cell in self._cells.values() if key in cell.bounds)
            for key in self._boundaries
        }
        for key, (one, other), line in self._transitions:
            (here, _), (there, _) = self._cell_of(one), self._cell_of(other)
            if here is None or there is None or frozenset((here.id, there.id)) in drawn:
                continue
            for level in sorted(set(here.levels) & set(there.levels)):
                shape = _crossing(here.area, there.area, line)
                yield DrawnOpening(key, level, shape, (_on(here, level), _on(there, level)))


def _crossing(one: BaseGeometry, other: BaseGeometry, line: LineString | None) -> BaseGeometry:
    """Returns where one gets from an area into its neighbour, along a line or anywhere."""
    gap = float(one.distance(other)) + 0.05 * float(one.area) ** 0.5
    shared = shapely.intersection(one.buffer(gap), other.buffer(gap))
    if line is not None and line.intersects(shared):
        return as_point(shapely.intersection(line, shared).convex_hull)
    return shapely.point_on_surface(shared)


def _on(cell: Cell, level: float) -> str:
    return cell.id if len(cell.levels) == 1 else f"{cell.id}@{level:g}"
