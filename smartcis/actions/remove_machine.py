"""Remove a machine."""

from __future__ import annotations

import structlog
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.stand import clear_away
from smartcis.models import Machine
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


@transaction.atomic
def remove_machine(mid: str, owner: Owner) -> None:
    """Removes a machine with its software, its sensors, its sources and its own desk.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such machine.
    """
    owner.require_staff("change machines")
    machine = found(Machine, mid, "machine")
    desk = machine.desk
    machine.delete()
    clear_away(desk)
    logger.info("machine_removed", machine=mid, account=owner.account)
