"""Reserve a room."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.errors import Invalid
from smartcis.models import Reservation, Unit
from smartcis.models.lookup import found
from smartcis.models.turns import take_turn

TITLE_LENGTH = 200


def reserve_room(rid: str, start: datetime, end: datetime, title: str, owner: Owner) -> Reservation:
    """Books a room from `start` until before `end`.

    Raises:
        Refused: the owner is no staff.
        NotFound: no room of that id.
        Invalid: it ends before it begins, or the room is booked then.
    """
    owner.require_staff("reserve rooms")
    unit = found(Unit, rid, "room")
    if end <= start:
        raise Invalid(
            "the reservation ends before it begins",
            found=f"{start.isoformat()} to {end.isoformat()}",
            attempt="give an end later than the start",
        )
    with transaction.atomic():
        take_turn(f"reservations of {rid}")
        other = unit.reservations.filter(start__lt=end, end__gt=start).first()
        if other is not None:
            raise Invalid(
                f"the room is booked then: {other.title}",
                found=f"{other.start.isoformat()} to {other.end.isoformat()}",
                attempt="choose another time or room",
            )
        return unit.reservations.create(start=start, end=end, title=title[:TITLE_LENGTH])
