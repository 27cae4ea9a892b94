"""Change a machine: its name, its software, or where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.save_machine import save_machine
from smartcis.actions.support.stand import stand_of
from smartcis.models import Machine, RoutingNode, Unit
from smartcis.models.lookup import found

PLAIN = ("host", "cpu_type", "simulated")
PLACE = {"rid", "node", "x_m", "y_m"}
logger = structlog.get_logger(__name__)


@transaction.atomic
def change_machine(mid: str, changes: Mapping[str, Any], owner: Owner) -> Machine:
    """Changes a machine; its sensors move with it.

    Args:
        changes: of what `add_machine` takes.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such machine, room or walking point.
        Invalid: it cannot stand there, or be like this.
    """
    owner.require_staff("change machines")
    machine = found(Machine, mid, "machine")
    for name in PLAIN:
        setattr(machine, name, changes.get(name, getattr(machine, name)))
    stand = None
    if PLACE & changes.keys():
        if "rid" in changes:
            machine.unit = found(Unit, changes["rid"], "room")
        node = changes.get("node")
        point = None if node is None else found(RoutingNode, node, "walking point")
        stand = stand_of(machine.unit, point, changes.get("x_m"), changes.get("y_m"))
    changed = save_machine(machine, stand, changes.get("software"))
    logger.info("machine_changed", machine=mid, account=owner.account, fields=sorted(changes))
    return changed
