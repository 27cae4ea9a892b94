"""Cancel a reservation of a room."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.errors import NotFound
from smartcis.models import Reservation


def cancel_reservation(rid: str, reservation_id: int, owner: Owner) -> None:
    """Cancels a reservation.

    Raises:
        Refused: the owner is no staff.
        NotFound: the room has no such reservation.
    """
    owner.require_staff("cancel reservations")
    deleted, _ = Reservation.objects.filter(pk=reservation_id, unit_id=rid).delete()
    if not deleted:
        raise NotFound(f"{rid} has no reservation {reservation_id}", found=str(reservation_id))
