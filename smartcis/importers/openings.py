"""Openings: which drawn doors join two spaces, which lead outside, and which lead nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import shapely
from shapely.geometry import Point

from smartcis.importers.drawing import Drawing, DrawnOpening, Finding, Note
from smartcis.importers.geometry.opposite import DRAWN_WALL_M
from smartcis.importers.geometry.passages import OneSide, Passage, drawn_opening
from smartcis.importers.geometry.spaces import WalkableSpace, keyed
from smartcis.importers.repair import as_point

BOTH = 2  # sides of a door


@dataclass(frozen=True)
class Openings:
    """What the drawn openings are.

    Args:
        passages: indices into all spaces.
        outward: openings with one indoor side, and that side.
    """

    passages: tuple[Passage, ...]
    outward: tuple[tuple[DrawnOpening, OneSide], ...]


def drawn_openings(
    drawing: Drawing, spaces: Sequence[WalkableSpace], notes: list[Note]
) -> Openings:
    """Attaches each drawn opening to the spaces at it; notes those that lie at none."""
    found: list[Passage] = []
    outward: list[tuple[DrawnOpening, OneSide]] = []
    keys = keyed(spaces)
    for ordinal in sorted({one.level for one in drawing.openings}):
        first = next((k for k, space in enumerate(spaces) if space.level == ordinal), None)
        if first is None:
            count = sum(one.level == ordinal for one in drawing.openings)
            why = f"no space is drawn on level {ordinal}"
            notes.append(Note(Finding.DROPPED, f"{count} openings", "", why))
            continue
        here = [space for space in spaces if space.level == ordinal]
        tree = shapely.STRtree([space.free for space in here])
        for opening in (one for one in drawing.openings if one.level == ordinal):
            named = [
                keys[key] - first
                for key in opening.between
                if key in keys and spaces[keys[key]].level == ordinal
            ]
            at = as_point(opening.shape)
            if opening.door is not None:
                if len(named) == BOTH and _at_both(at, *(here[index] for index in named)):
                    inner, outer = first + named[0], first + named[1]
                    found.append(Passage(inner, outer, at, opening.door, opening.derived))
                    continue
                if opening.derived:
                    why = "the wall it was concluded in has gone"
                    notes.append(Note(Finding.DROPPED, "opening", opening.key, why))
                    continue
                named = []  # it was moved, or its rooms were
            outcome = drawn_opening(here, tree, opening.shape, at, named)
            if isinstance(outcome, Passage):
                inner, outer = first + outcome.inner, first + outcome.outer
                found.append(replace(outcome, inner=inner, outer=outer))
            elif isinstance(outcome, OneSide):
                outward.append((opening, replace(outcome, space=first + outcome.space)))
            else:
                notes.append(Note(Finding.DROPPED, "opening", opening.key, outcome))
    return Openings(tuple(found), tuple(outward))


def _at_both(at: Point, one: WalkableSpace, other: WalkableSpace) -> bool:
    """Returns whether a point is in the wall between two spaces."""
    return bool(max(one.free.distance(at), other.free.distance(at)) <= DRAWN_WALL_M)
