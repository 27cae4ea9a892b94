"""The first picture of a floor: outline and rooms, drawn by the server before scripts run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smartcis.api.building import default_level
from smartcis.models import Kiosk, Level, Unit

MARGIN_M = 3.0
Rings = Sequence[Sequence[Sequence[float]]]


@dataclass(frozen=True, slots=True)
class PlanPicture:
    """A floor as an SVG shows it, metres, y down.

    Args:
        box: left, top, width and height.
        slab: of the outline.
        shapes: path and category of each room, corridor, staircase and lift.
    """

    name: str
    box: str
    slab: str
    shapes: Sequence[tuple[str, str]]


def plan_picture(level_id: str = "", kiosk_id: str = "") -> PlanPicture | None:
    """Returns the floor that the page will show first.

    Args:
        level_id: what the page's address names; otherwise the kiosk's, otherwise the usual one.

    Returns:
        None where there is no building.
    """
    levels = list(Level.objects.order_by("ordinal"))
    if not levels:
        return None
    by_id = {one.pk: one for one in levels}
    if level_id not in by_id and kiosk_id:
        kiosk = Kiosk.objects.select_related("node").filter(pk=kiosk_id).first()
        level_id = kiosk.node.level_id if kiosk else ""
    level = by_id.get(level_id) or by_id[default_level(levels)]
    units = list(Unit.objects.filter(level=level).values_list("polygon", "category"))
    # As the map does it: the floors have one frame, so that nothing jumps when it takes over.
    corners = [point for rings, _ in units for point in (rings[0] if rings else ())]
    corners += [point for one in levels for rings in one.outline for point in rings[0]]
    if not corners:
        return None
    left, right = min(x for x, _ in corners), max(x for x, _ in corners)
    bottom, top = min(y for _, y in corners), max(y for _, y in corners)
    sides = (left - MARGIN_M, -top - MARGIN_M, right - left, top - bottom)
    box = (*sides[:2], sides[2] + 2 * MARGIN_M, sides[3] + 2 * MARGIN_M)
    return PlanPicture(
        level.name,
        " ".join(f"{one:.1f}" for one in box),
        "".join(_path(rings) for rings in level.outline),
        [(_path(rings), category) for rings, category in units],
    )


def _path(rings: Rings) -> str:
    lines = ("L".join(f"{x:.1f} {-y:.1f}" for x, y in ring) for ring in rings)
    return "".join(f"M{line}Z" for line in lines)
