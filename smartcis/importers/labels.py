"""Labels: names at points, given to the spaces around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import shapely
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import DrawnLabel, DrawnSpace, Finding, Note, label
from smartcis.importers.words import category_of

PLAIN = frozenset({"room", "unspecified"})


def labelled(spaces: Sequence[DrawnSpace], labels: Sequence[DrawnLabel]) -> list[DrawnSpace]:
    """Gives spaces without a name that of the first label in them."""
    found = []
    for space in spaces:
        name = "" if label(space.names) else name_in(space.outline, space.level, labels)
        if name:
            category = category_of(name) if space.category in PLAIN else space.category
            space = replace(space, names={"": name}, ref=space.ref or name, category=category)  # noqa: PLW2901  # the named one stands for it
        found.append(space)
    return found


def name_in(area: BaseGeometry, level: float, labels: Sequence[DrawnLabel]) -> str:
    """Returns the name of the first label inside an area, empty for none."""
    here = (one for one in labels if one.level == level and area.intersects(one.point))
    return next((label(one.names)[:190] for one in here), "")


def unplaced(
    labels: Sequence[DrawnLabel], grounds: Sequence[tuple[float, BaseGeometry]]
) -> list[Note]:
    """Returns a note for each label that stands in no space."""
    tree = shapely.STRtree([ground for _, ground in grounds])
    notes = []
    for one in labels:
        hits = tree.query(one.point, predicate="intersects")
        if not any(grounds[int(hit)][0] == one.level for hit in hits):
            notes.append(Note(Finding.DROPPED, "label", label(one.names), "it stands in no space"))
    return notes
