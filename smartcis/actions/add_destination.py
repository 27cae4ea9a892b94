"""Add a destination: a name, and a query for what visitors may be led to."""

from __future__ import annotations

from typing import Any

import structlog

from smartcis.access.owner import Owner
from smartcis.actions.save_destination import save_destination
from smartcis.actions.support.checked import refuse_taken
from smartcis.models import Destination

logger = structlog.get_logger(__name__)


def add_destination(slug: str, owner: Owner, **fields: Any) -> Destination:
    """Adds a destination; from the next epoch on visitors are led to it.

    Raises:
        Refused: the owner is no staff.
        AlreadyThere: there is one of that name.
        AspenError: its query does not compile, or is not one of a destination.
    """
    owner.require_staff("change destinations")
    refuse_taken(Destination, slug, "destination")
    made = save_destination(Destination(slug=slug), fields)
    logger.info("destination_added", destination=slug, account=owner.account)
    return made
