"""Extracts: nodes, ways and relations out of OpenStreetMap XML and Overpass JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import shapely
from shapely.geometry import LineString
from shapely.geometry.base import BaseGeometry

from smartcis.importers.errors import BrokenFile
from smartcis.importers.files import Files
from smartcis.importers.formats.geojson_shapes import json_of
from smartcis.importers.formats.xml_text import local_name, xml_of

Position = tuple[float, float]


@dataclass
class Thing:
    """A node, way or relation.

    Args:
        line: positions of a node (one) or a way.
        nodes: ids of a way's nodes.
        members: of a relation: role, type and id.
    """

    kind: str
    id: str
    tags: Mapping[str, str]
    line: list[Position] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    members: list[tuple[str, str, str]] = field(default_factory=list)
    parts: list[tuple[str, list[Position]]] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What OpenStreetMap calls it: `way/123`."""
        return f"{self.kind}/{self.id}"


def things_of(files: Files) -> dict[str, Thing]:
    """Returns everything in the extracts, by what OpenStreetMap calls it; the fullest of each."""
    things: dict[str, Thing] = {}
    for name in extracts(files):
        read = _from_json(json_of(files, name)) if _is_json(files, name) else _from_xml(files, name)
        for thing in read:
            known = things.get(thing.key)
            if known is None or len(thing.tags) > len(known.tags) or not known.line:
                things[thing.key] = thing
    return things


def extracts(files: Files) -> list[str]:
    """Returns the names of the files that begin as an extract does."""
    found = []
    for name in files:
        head = files.head(name)[:4096]
        if (b"<osm" in head and head.startswith(b"<")) or (
            head.startswith(b"{") and b'"elements"' in head
        ):
            found.append(name)
    return found


def _is_json(files: Files, name: str) -> bool:
    return files.head(name).startswith(b"{")


def _from_xml(files: Files, name: str) -> Iterator[Thing]:
    for element in xml_of(files, name):
        kind = local_name(element)
        if kind not in {"node", "way", "relation"} or element.get("action") == "delete":
            continue
        thing = Thing(kind, element.get("id", ""), {})
        tags = {}
        if kind == "node" and (at := _position(element.attrib)) is not None:
            thing.line.append(at)
        for inner in element:
            match local_name(inner):
                case "tag":
                    tags[inner.get("k", "")] = inner.get("v", "")
                case "nd":
                    thing.nodes.append(inner.get("ref", ""))
                    if (at := _position(inner.attrib)) is not None:
                        thing.line.append(at)
                case "member":
                    role, its, ref = (inner.get(key, "") for key in ("role", "type", "ref"))
                    thing.members.append((role, its, ref))
                    points = [_position(one.attrib) for one in inner]
                    thing.parts.append((role, [one for one in points if one is not None]))
        thing.tags = tags
        yield thing


def _from_json(data: Any) -> Iterator[Thing]:
    elements = data.get("elements") if isinstance(data, dict) else None
    if not isinstance(elements, list):
        raise BrokenFile("the file holds no elements", exists=['{"elements": […]}'])
    for one in elements:
        if not isinstance(one, dict) or one.get("type") not in {"node", "way", "relation"}:
            continue
        raw = one.get("tags")
        tags = {k: v for k, v in raw.items() if isinstance(v, str)} if isinstance(raw, dict) else {}
        thing = Thing(str(one["type"]), str(one.get("id", "")), tags)
        if one["type"] == "node":
            at = _position(one)
            thing.line += [at] if at is not None else []
        thing.nodes += [str(ref) for ref in _listed(one.get("nodes"))]
        thing.line += _line(one.get("geometry"))
        for member in _listed(one.get("members")):
            if isinstance(member, dict):
                role, its, ref = (str(member.get(key, "")) for key in ("role", "type", "ref"))
                thing.members.append((role, its, ref))
                thing.parts.append((role, _line(member.get("geometry"))))
        yield thing


def _listed(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else []


def _line(raw: Any) -> list[Position]:
    points = [_position(one) for one in _listed(raw) if isinstance(one, dict)]
    return [one for one in points if one is not None]


def _position(raw: Mapping[str, Any]) -> Position | None:
    try:
        lon, lat = float(raw["lon"]), float(raw["lat"])
    except (KeyError, TypeError, ValueError):
        return None
    return (lon, lat) if math.isfinite(lon) and math.isfinite(lat) else None


def rings(lines: Iterable[Sequence[Position]]) -> BaseGeometry | None:
    """Returns the area that lines enclose when joined at their ends."""
    pieces = {tuple(pair) for line in lines for pair in pairwise(line) if pair[0] != pair[1]}
    if not pieces:
        return None
    closed = shapely.get_parts(shapely.polygonize([LineString(pair) for pair in sorted(pieces)]))
    return shapely.union_all(list(closed)) if len(closed) else None
