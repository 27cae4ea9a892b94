"""Describe the points of a source: from a Brick model or Haystack tags, after a look at them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import structlog
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.errors import unknown
from smartcis.importers.errors import BrokenFile, ImportTooLarge
from smartcis.importers.points.brick import read_brick
from smartcis.importers.points.described import (
    LARGEST_BYTES,
    DescribedThing,
    plain,
    rooms_of,
)
from smartcis.importers.points.haystack import read_haystack
from smartcis.models import DescribedPoint, Source, Unit
from smartcis.models.lookup import found
from smartcis.models.sensor_kinds import kinds_of

SHOWN = 5

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LocatedPoint:
    """A point and its room.

    Args:
        thing: as it is described.
        rid: the room, empty for none.
        doubt: why there is none.
    """

    thing: DescribedThing
    rid: str
    doubt: str


@dataclass(frozen=True, slots=True)
class PointsReport:
    """What a description says.

    Args:
        points: that were understood.
        strange: what was not, a sentence each.
    """

    points: tuple[LocatedPoint, ...]
    strange: tuple[str, ...]

    @property
    def located(self) -> int:
        """How many have a room."""
        return sum(bool(one.rid) for one in self.points)


def describe_points(
    source_id: str, data: bytes, owner: Owner, *, preview: bool = True
) -> PointsReport:
    """Reads a description; accepted, it replaces the one that the source had.

    Nothing is placed by it: devices that are heard under a point's name are proposed its room.

    Args:
        data: Turtle, or JSON.
        owner: staff.
        preview: whether nothing is written.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such source.
        ImportRefused: it cannot be read.
    """
    owner.require_staff("describe points")
    source = found(Source, source_id, "source")
    if len(data) > LARGEST_BYTES:
        raise ImportTooLarge(
            "the description is too large",
            found=f"{len(data)} bytes",
            exists=[f"up to {LARGEST_BYTES}"],
            attempt="leave out what is no sensor, equipment or place",
        )
    if data.lstrip()[:1] in (b"{", b"["):
        read = read_haystack(data)
    else:
        try:
            read = read_brick(data.decode())
        except UnicodeError as error:
            raise BrokenFile("the description is not UTF-8") from error
    known = _rooms()
    report = PointsReport(tuple(_located(one, known) for one in read.things), read.strange)
    if not preview:
        _keep(source, report)
        logger.info("points_described", source=source_id, points=len(report.points))
    return report


def _rooms() -> dict[str, frozenset[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for rid, name in Unit.objects.values_list("rid", "name"):
        for one in filter(None, (plain(rid), plain(name))):
            names[one].add(rid)
    return {name: frozenset(rids) for name, rids in names.items()}


def _located(thing: DescribedThing, known: dict[str, frozenset[str]]) -> LocatedPoint:
    rids = rooms_of(thing.places, known)
    if len(rids) == 1:
        return LocatedPoint(thing, next(iter(rids)), "")
    if rids:
        return LocatedPoint(thing, "", f"several rooms: {', '.join(sorted(rids)[:SHOWN])}")
    places = ", ".join(names[0] for names in thing.places[:SHOWN])
    return LocatedPoint(thing, "", f"no room is called {places}" if places else "no place is said")


@transaction.atomic
def _keep(source: Source, report: PointsReport) -> None:
    if not Source.objects.select_for_update().filter(pk=source.pk).exists():
        raise unknown("source", source.pk, ())  # it was removed while the description was read
    kinds = kinds_of({one.thing.kind for one in report.points})
    DescribedPoint.objects.filter(source=source).delete()
    rows = {
        one.thing.point[:500]: DescribedPoint(
            source=source,
            point=one.thing.point[:500],
            names=list(one.thing.names),
            title=one.thing.title[:200],
            kind=one.thing.kind,
            measured_in=one.thing.unit[:20],
            rid=one.rid,
            equipment=one.thing.equipment[:200],
        )
        for one in report.points
        if one.thing.kind in kinds
    }
    DescribedPoint.objects.bulk_create(rows.values())
