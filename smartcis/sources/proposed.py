"""Proposed places: where devices that were heard are, as the building's description has it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from aspen.errors import AspenError
from smartcis.models import DescribedPoint, SeenDevice, Unit
from smartcis.models.sensor_kinds import kinds_of
from smartcis.readings.units import converted


@dataclass(frozen=True, slots=True)
class ProposedPlace:
    """What is proposed for a device.

    Args:
        title: of the point, or the points.
        kinds: of its sensors.
        rid: the room, empty where it is not known.
        doubt: why it is not placed without a look at it; empty for no reason.
    """

    title: str
    kinds: tuple[str, ...]
    rid: str
    doubt: str


def proposed_places(devices: Iterable[SeenDevice]) -> dict[int, ProposedPlace]:
    """Returns what the descriptions of their sources say of devices, by their primary keys.

    A device that no description names is left out.
    """
    seen = list(devices)
    named: dict[tuple[str, str], list[DescribedPoint]] = defaultdict(list)
    points = DescribedPoint.objects.filter(source__in={one.source_id for one in seen})
    for point in points:
        for name in {str(one).casefold() for one in point.names}:
            named[point.source_id, name].append(point)
    rooms = set(Unit.objects.values_list("rid", flat=True)) if named else set()
    found = {}
    for one in seen:
        # By its identity; by its name for people only where no point has that.
        fitting = (
            named.get((one.source_id, one.device.casefold()))
            or named.get((one.source_id, one.name.casefold()))
            or []
        )
        if fitting:
            found[one.pk] = _proposed(one, fitting, rooms)
    return found


def _proposed(seen: SeenDevice, points: list[DescribedPoint], rooms: set[str]) -> ProposedPlace:
    kinds = tuple(dict.fromkeys(one.kind for one in points))
    rids = sorted({one.rid for one in points})
    doubts = [_doubt(seen, one) for one in points]
    if len(kinds) < len(points):
        doubts.insert(0, f"{len(points)} points have its name")
    if len(rids) > 1:
        doubts.insert(0, "its points are in several rooms")
    elif not rids[0]:
        doubts.insert(0, "no room is known")
    elif rids[0] not in rooms:
        doubts.insert(0, f"the room {rids[0]} has gone")
    titles = ", ".join(dict.fromkeys(one.title for one in points))
    rid = rids[0] if len(rids) == 1 and rids[0] in rooms else ""
    return ProposedPlace(titles, kinds, rid, next(filter(None, doubts), ""))


def _doubt(seen: SeenDevice, point: DescribedPoint) -> str:
    """Returns what of a point does not fit what was heard, empty for nothing."""
    heard = seen.quantities.get(point.kind)
    if heard is None:
        return f"it does not measure {point.kind}"
    kind = kinds_of([point.kind]).get(point.kind)
    if kind is None or not point.measured_in:
        return ""
    try:
        if heard["unit"]:
            converted(0.0, point.measured_in, kind.unit)
            return ""
        same = converted(1.0, point.measured_in, kind.unit) == 1.0
    except AspenError:
        same = False
    if same:
        return ""
    return f"it should be in {point.measured_in}, and says {heard['unit'] or 'no unit'}"
