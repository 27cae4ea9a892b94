"""Change a destination: its names, its query, its place in the list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from smartcis.access.owner import Owner
from smartcis.actions.save_destination import save_destination
from smartcis.models import Destination
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


def change_destination(slug: str, changes: Mapping[str, Any], owner: Owner) -> Destination:
    """Changes a destination.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such destination.
        AspenError: its query does not compile, or is not one of a destination.
    """
    owner.require_staff("change destinations")
    changed = save_destination(found(Destination, slug, "destination"), changes)
    logger.info(
        "destination_changed", destination=slug, account=owner.account, fields=sorted(changes)
    )
    return changed
