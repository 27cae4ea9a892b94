"""Unmoved: what a file that the product wrote draws where it already is.

Degrees come back as metres a fraction of a millimetre off, and walking lines derived from them
may turn elsewhere. Where nothing was drawn differently, rows and walking lines stay as they are.

Law: a value within `SAME_M` of the stored one is the stored one.
Source: own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import models
from shapely.geometry import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry

from smartcis.importers.geometry.known import SAME_M, same_ground
from smartcis.models import RoutingEdge, RoutingNode
from smartcis.models.equal import Fields

SAME_M2 = 0.05
SHAPES = frozenset({"polygon", "ground", "outline", "footprint"})
FOLLOWING = ("label_x_m", "label_y_m", "area_m2")  # from a unit's polygon and ground
LEADING = ("entrance", "opening", "door")  # points that are drawn
SAME_MM = 2  # of a way between levels

Way = tuple[Any, ...]


def settled(held: models.QuerySet[Any], wanted: Mapping[Any, Fields]) -> dict[Any, Fields]:
    """Returns the wanted rows with the stored values of what has not moved."""
    stored = {one.pk: one for one in held}
    return {
        key: _settled(stored[key], values) if key in stored else values
        for key, values in wanted.items()
    }


def _settled(one: Any, values: Fields) -> Fields:
    kept = {
        name: there
        for name, value in values.items()
        if (there := getattr(one, name)) == value or _same(name, there, value)
    }
    if {"polygon", "ground"} <= kept.keys():
        kept |= {name: getattr(one, name) for name in FOLLOWING}
    return {**values, **kept}


def _same(name: str, one: Any, other: Any) -> bool:
    if name in SHAPES:
        return same_ground(_shape(one), _shape(other))
    if name == "area_m2":
        return bool(abs(one - other) <= SAME_M2)
    return name.endswith("_m") and bool(abs(one - other) <= SAME_M)


def _shape(stored: Sequence[Any]) -> BaseGeometry:
    """Returns the shape of stored rings, or of stored polygons."""
    if stored and stored[0] and isinstance(stored[0][0][0], int | float):
        return Polygon(stored[0], stored[1:])
    return MultiPolygon([Polygon(rings[0], rings[1:]) for rings in stored])


def same_ways(nodes: Mapping[int, Fields], edges: Mapping[tuple[int, int], Fields]) -> bool:
    """Returns whether doors, openings, entrances and ways between levels are the stored ones."""
    stored = {
        one["node"]: one
        for one in RoutingNode.objects.filter(simulated=False).values(
            *("node", "level_id", "unit_id", "kind", "name", "derived", "x_m", "y_m")
        )
    }
    stored_edges = {
        (one["src_id"], one["dst_id"]): one
        for one in RoutingEdge.objects.filter(simulated=False).values(
            *("src_id", "dst_id", "way", "step_free", "length_mm")
        )
    }
    if not _alike(_points(nodes), _points(stored), SAME_M):
        return False
    return _alike(_rises(nodes, edges), _rises(stored, stored_edges), SAME_MM)


Groups = dict[Way, list[tuple[float, ...]]]


def _points(nodes: Mapping[int, Fields]) -> Groups:
    found: Groups = defaultdict(list)
    for one in nodes.values():
        if one["kind"] in LEADING:
            key = (one["unit_id"], one["kind"], one["name"], one["derived"])
            found[key].append((one["x_m"], one["y_m"]))
    return found


def _rises(nodes: Mapping[int, Fields], edges: Mapping[tuple[int, int], Fields]) -> Groups:
    found: Groups = defaultdict(list)
    for (src, dst), edge in edges.items():
        one, other = nodes[src], nodes[dst]
        if one["level_id"] != other["level_id"]:
            key = (one["unit_id"], other["unit_id"], edge["way"], edge["step_free"])
            found[key].append((edge["length_mm"],))
    return found


def _alike(one: Groups, other: Groups, within: float) -> bool:
    """Returns whether both hold as many of each, every one near one of the other's."""
    return one.keys() == other.keys() and all(
        len(one[key]) == len(other[key])
        and all(min(math.dist(this, that) for that in other[key]) <= within for this in one[key])
        for key in one
    )
