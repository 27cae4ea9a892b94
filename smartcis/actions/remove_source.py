"""Remove a source, and with it what it said."""

from __future__ import annotations

import structlog

from smartcis.access.owner import Owner
from smartcis.models import Source
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


def remove_source(source_id: str, owner: Owner) -> None:
    """Removes a source; rows, bookings and software that it brought leave with it.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such source.
    """
    owner.require_staff("change sources")
    found(Source, source_id, "source").delete()
    logger.info("source_removed", source=source_id, account=owner.account)
