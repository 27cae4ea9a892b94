"""Change a kiosk: its name, or where it hangs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from smartcis.access.owner import Owner
from smartcis.actions.support.save_kiosk import save_kiosk
from smartcis.models import Kiosk
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


def change_kiosk(kiosk_id: str, changes: Mapping[str, Any], owner: Owner) -> Kiosk:
    """Changes a kiosk.

    Args:
        changes: as `save_kiosk` takes them.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such kiosk, walking point or query.
        Invalid: it cannot be like this.
    """
    owner.require_staff("change kiosks")
    changed = save_kiosk(found(Kiosk, kiosk_id, "kiosk"), changes)
    logger.info("kiosk_changed", kiosk=kiosk_id, account=owner.account, fields=sorted(changes))
    return changed
