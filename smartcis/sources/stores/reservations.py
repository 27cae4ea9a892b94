"""Reservations as a calendar has them, without those that people entered here.

Law: afterwards the source's reservations are exactly the given ones; a row that did not change
is not written, and so makes no change in the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from django.db import transaction

from aspen.model.schema import Row
from smartcis.models import Reservation, Unit
from smartcis.models.equal import make_equal
from smartcis.wrappers.errors import BadRow


def store_reservations(source: str, _relation: str, rows: Mapping[str, Row]) -> int:
    """Makes a source's reservations equal to `rows`: `(rid, start_s, end_s, title)` by event.

    Returns:
        How many were added, changed or removed.

    Raises:
        BadRow: a room that does not exist; nothing was changed.
    """
    wanted = {uid: _fields(source, row) for uid, row in rows.items()}
    rooms = {str(fields["unit_id"]) for fields in wanted.values()}
    known = set(Unit.objects.filter(pk__in=rooms).values_list("pk", flat=True))
    if rooms - known:
        raise BadRow(f"there is no room {min(rooms - known)!r}", found=min(rooms - known))
    with transaction.atomic():
        held = Reservation.objects.filter(source_id=source)
        return sum(make_equal(held, wanted, "uid"))


def _fields(source: str, row: Row) -> dict[str, object]:
    rid, start_s, end_s, title = row
    return {
        "source_id": source,
        "unit_id": rid,
        "start": datetime.fromtimestamp(float(start_s or 0), UTC),
        "end": datetime.fromtimestamp(float(end_s or 0), UTC),
        "title": title,
    }
