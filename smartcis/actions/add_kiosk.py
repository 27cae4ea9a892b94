"""Add a kiosk: a screen on the wall, before a walking point."""

from __future__ import annotations

from typing import Any

import structlog
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.checked import refuse_taken
from smartcis.actions.support.save_kiosk import POSITION, save_kiosk
from smartcis.errors import Invalid
from smartcis.models import Kiosk

logger = structlog.get_logger(__name__)


@transaction.atomic
def add_kiosk(kiosk_id: str, owner: Owner, **said: Any) -> Kiosk:
    """Adds a kiosk.

    Args:
        kiosk_id: stands in the address of its page.
        owner: staff.
        said: as `save_kiosk` takes it, at least a name and a place; a real one unless said.

    Raises:
        Refused: the owner is no staff.
        AlreadyThere: there is one of that id.
        NotFound: no such walking point or query.
        Invalid: it cannot be like this.
    """
    owner.require_staff("change kiosks")
    refuse_taken(Kiosk, kiosk_id, "kiosk")
    if not said.keys() & {"node", *POSITION}:
        raise Invalid("say where the kiosk hangs", attempt="give node, or level_id, x_m and y_m")
    made = save_kiosk(Kiosk(kiosk_id=kiosk_id), {"simulated": False} | said)
    logger.info("kiosk_added", kiosk=kiosk_id, account=owner.account)
    return made
