"""Remove a kiosk."""

from __future__ import annotations

import structlog

from smartcis.access.owner import Owner
from smartcis.models import Kiosk
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


def remove_kiosk(kiosk_id: str, owner: Owner) -> None:
    """Removes a kiosk.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such kiosk.
    """
    owner.require_staff("change kiosks")
    found(Kiosk, kiosk_id, "kiosk").delete()
    logger.info("kiosk_removed", kiosk=kiosk_id, account=owner.account)
