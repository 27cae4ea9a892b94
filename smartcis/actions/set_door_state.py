"""Lock or open a door."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.models import Door
from smartcis.models.lookup import found


def set_door_state(door_id: str, state: str, owner: Owner) -> Door:
    """Sets a door's state; setting the state it has changes nothing.

    Args:
        state: one of `Door.STATES`.

    Raises:
        Refused: the owner is no staff.
        NotFound: no door of that id.
    """
    owner.require_staff("lock and open doors")
    door = found(Door, door_id, "door")
    if door.state != state:
        door.state = state
        door.save(update_fields=["state"])
    return door
