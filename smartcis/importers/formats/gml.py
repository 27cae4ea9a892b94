"""GML: the points, rings and references of any of its versions, prefixes left aside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from smartcis.importers.formats.xml_text import local_name

Points = NDArray[np.float64]


class Gml:
    """A document of GML."""

    def __init__(self, root: Element) -> None:
        self._ids = {found: one for one in root.iter() if (found := id_of(one))}
        self.latitude_first = _latitude_first(root)

    def geometries(self, element: Element) -> Iterator[Element]:
        """Returns the polygons and curves inside an element, referenced ones too."""
        seen: set[str] = set()
        waiting = [one for one in element if "geometry" in local_name(one).lower()]
        waiting = waiting or [
            one
            for one in element
            if local_name(one) in {"Solid", "Polygon", "Surface", "LineString"}
        ]
        while waiting:
            one = waiting.pop()
            kind = local_name(one)
            reference = reference_of(one)
            if reference and reference not in seen and reference in self._ids:
                seen.add(reference)
                waiting.append(self._ids[reference])
            if kind in {"Polygon", "LineString", "Point", "PolygonPatch", "LinearRing"}:
                yield one
            else:
                waiting += list(one)

    def rings(self, geometry: Element) -> Iterator[Points]:
        """Returns the outer rings of a polygon, or the points of a line, as x, y, z."""
        inner = {
            id(one)
            for hole in geometry.iter()
            if local_name(hole) == "interior"
            for one in hole.iter()
        }
        rings = [one for one in geometry.iter() if local_name(one) == "LinearRing"]
        for ring in rings or [geometry]:
            if id(ring) not in inner:
                points = self.points(ring)
                if len(points):
                    yield points

    def points(self, element: Element) -> Points:
        """Returns all positions inside an element as x, y, z; z is 0 where it has none."""
        numbers: list[list[float]] = []
        for one in element.iter():
            kind = local_name(one)
            if kind not in {"pos", "posList", "coordinates"} or not one.text:
                continue
            try:
                flat = [float(word) for word in one.text.replace(",", " ").split()]
            except ValueError:
                continue
            size = _dimension(one, element) or (len(flat) if kind == "pos" else 0)
            if size not in {2, 3}:
                size = 3 if len(flat) % 3 == 0 else 2
            starts = range(0, len(flat) - size + 1, size)
            numbers += [[*flat[at : at + size], 0.0][:3] for at in starts]
        points = np.array(numbers, dtype=float).reshape(-1, 3)
        sound: Points = points[np.isfinite(points).all(axis=1)]
        return sound[:, [1, 0, 2]] if self.latitude_first and len(sound) else sound


def id_of(element: Element) -> str:
    """Returns an element's id, empty for none."""
    return next(
        (text for key, text in element.attrib.items() if key.rpartition("}")[2] == "id"), ""
    )


def reference_of(element: Element) -> str:
    """Returns the id that an element points to, empty for none."""
    found = (text for key, text in element.attrib.items() if key.rpartition("}")[2] == "href")
    return next(found, "").removeprefix("#")


def child_text(element: Element, name: str) -> str:
    """Returns the text of a child, its white space joined."""
    found = (one.text for one in element if local_name(one) == name and one.text)
    return re.sub(r"\s+", " ", next(found, "")).strip()


def _dimension(*elements: Element) -> int:
    for one in elements:
        told = one.get("srsDimension", "")
        if told.isdigit():
            return int(told)
    return 0


def _latitude_first(root: Element) -> bool:
    """Returns whether positions are latitude, longitude: EPSG:4326 written as a URN."""
    names: Sequence[str] = [one.get("srsName", "") for one in root.iter()]
    return any(name.endswith("::4326") for name in names)
