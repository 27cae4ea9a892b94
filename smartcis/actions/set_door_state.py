"""Lock or open a door."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.errors import Invalid, unknown
from smartcis.models import Door

STATES = (Door.OPEN, Door.LOCKED)


def set_door_state(door_id: str, state: str, owner: Owner) -> Door:
    """Sets a door's state; setting the state it has changes nothing.

    Raises:
        Refused: the owner is no staff.
        NotFound: no door of that id.
        Invalid: no state a door can have.
    """
    owner.require_staff("lock and open doors")
    if state not in STATES:
        raise Invalid(
            "a door is open or locked", found=str(state)[:40], exists=STATES, attempt="locked"
        )
    door = Door.objects.filter(pk=door_id).first()
    if door is None:
        raise unknown("door", door_id, Door.objects.values_list("pk", flat=True))
    if door.state != state:
        door.state = state
        door.save(update_fields=["state"])
    return door
