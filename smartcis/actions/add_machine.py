"""Add a machine to a room, with the desk and the walking point it needs."""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.checked import refuse_taken
from smartcis.actions.support.save_machine import save_machine
from smartcis.actions.support.stand import stand_of
from smartcis.models import Machine, RoutingNode, Unit
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


@transaction.atomic
def add_machine(
    mid: str,
    owner: Owner,
    *,
    rid: str,
    host: str,
    node: int | None = None,
    x_m: float | None = None,
    y_m: float | None = None,
    cpu_type: str = "",
    simulated: bool = False,
    software: Sequence[str] = (),
) -> Machine:
    """Adds a machine.

    Args:
        owner: staff.
        rid: the room.
        node: the walking point it stands at; without one a desk is put at the position.
        x_m, y_m: the position; without them the point's, without both the middle of the room.
        software: what is installed on it.

    Raises:
        Refused: the owner is no staff.
        AlreadyThere: there is one of that id.
        NotFound: no such room or walking point.
        Invalid: it cannot stand there, or be like this.
    """
    owner.require_staff("change machines")
    refuse_taken(Machine, mid, "machine")
    unit = found(Unit, rid, "room")
    point = None if node is None else found(RoutingNode, node, "walking point")
    machine = Machine(mid=mid, host=host, unit=unit, cpu_type=cpu_type, simulated=simulated)
    made = save_machine(machine, stand_of(unit, point, x_m, y_m), software)
    logger.info("machine_added", machine=mid, account=owner.account)
    return made
