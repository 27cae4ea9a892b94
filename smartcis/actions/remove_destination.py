"""Remove a destination."""

from __future__ import annotations

import structlog
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.models import Destination
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


@transaction.atomic
def remove_destination(slug: str, owner: Owner) -> None:
    """Removes a destination; whoever is on his way to it is told that nothing is there.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such destination.
    """
    owner.require_staff("change destinations")
    found(Destination, slug, "destination").delete()
    deploy_standing_queries()
    logger.info("destination_removed", destination=slug, account=owner.account)
