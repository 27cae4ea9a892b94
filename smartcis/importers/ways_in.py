"""Ways in: entrances as drawn, as openings with one indoor side, and at last as a guess.

Openings into rooms above the ground are balconies unless nothing else leads in.
"""

from __future__ import annotations

from collections.abc import Sequence

import shapely
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import Drawing, DrawnOpening, Finding, Note
from smartcis.importers.geometry.entrances import (
    Entrance,
    concluded_entrances,
    guessed_entrance,
    mapped_entrance,
)
from smartcis.importers.geometry.passages import OneSide
from smartcis.importers.geometry.spaces import WalkableSpace, keyed, polygons
from smartcis.importers.openings import Openings

SAME_M = 1.0  # two marks nearer than this are one entrance
OUTDOORS_M = 1.5  # an opening further inside than this leads to ground nobody drew
CLOSE_M = 1.0  # gaps of twice this between spaces are indoors


def ways_in(
    drawing: Drawing,
    spaces: Sequence[WalkableSpace],
    doors: Openings,
    footprint: BaseGeometry | None,
    notes: list[Note],
) -> list[Entrance]:
    """Finds the entrances of a building; there is at least one."""
    found: list[Entrance] = []
    keys = keyed(spaces)
    for drawn in drawing.entrances:
        outcome: Entrance | str = drawn.refused
        if drawn.space in keys:
            at = Point(drawn.point)
            outcome = Entrance(keys[drawn.space], at, drawn.name, drawn.derived)
        elif not drawn.refused:
            outcome = mapped_entrance(spaces, drawn.point, drawn.level, drawn.name)
        if isinstance(outcome, Entrance):
            found.append(outcome)
        else:
            notes.append(Note(Finding.DROPPED, "entrance", drawn.key, outcome))
    found += _outward(drawing, spaces, doors.outward, found, notes)
    if found:
        return found
    levels = sorted({space.level for space in spaces if space.is_walkway and not space.closed})
    levels = levels or sorted({space.level for space in spaces if space.parts})
    ground = min(levels, key=lambda level: (abs(level), level))
    outline = footprint or shapely.union_all(
        [space.polygon for space in spaces if space.level == ground]
    )
    return concluded_entrances(spaces, outline, ground) or [
        guessed_entrance(spaces, outline, ground)
    ]


def _outward(
    drawing: Drawing,
    spaces: Sequence[WalkableSpace],
    openings: Sequence[tuple[DrawnOpening, OneSide]],
    known: Sequence[Entrance],
    notes: list[Note],
) -> list[Entrance]:
    """Returns the openings with one indoor side that people come in by."""
    found: list[Entrance] = []
    balconies: list[Entrance] = []
    shells: dict[float, BaseGeometry] = {}
    for opening, side in openings:
        space = spaces[side.space]
        if space.level not in shells:
            shells[space.level] = _shell(drawing, spaces, space.level)
        if any(
            spaces[one.space].level == space.level and one.point.distance(side.point) <= SAME_M
            for one in (*known, *found)
        ):
            continue
        entrance = Entrance(side.space, side.point, opening.name[:100], derived=False)
        if space.closed:
            why = "it leads into what is not for the public"
        elif shells[space.level].distance(side.point) > OUTDOORS_M:
            why = "fewer than two spaces lie at it, and it is not in an outer wall"
        elif space.level > 0 and space.is_room:
            balconies.append(entrance)
            why = "one space lies at it, above the ground: a balcony or a roof"
        else:
            found.append(entrance)
            continue
        notes.append(Note(Finding.DROPPED, "opening", opening.key, why))
    return found if found or known else balconies


def _shell(drawing: Drawing, spaces: Sequence[WalkableSpace], level: float) -> BaseGeometry:
    """Returns the outer walls of one level; courts count on the ground alone."""
    drawn = [space.polygon for space in spaces if space.level == level]
    drawn += [one.outline for one in drawing.levels if one.ordinal == level and one.outline]
    drawn += [one.shape for one in drawing.solids if one.level == level]
    whole = shapely.union_all(drawn)
    whole = whole.buffer(CLOSE_M, join_style="mitre").buffer(-CLOSE_M, join_style="mitre")
    if level <= 0:
        return shapely.boundary(whole)
    return shapely.union_all([piece.exterior for piece in polygons(whole)])
