"""Change a source: how it is read, what it speaks for, whether it is read at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.save_source import save_source
from smartcis.models import Source
from smartcis.models.lookup import found
from smartcis.models.turns import NAMES, take_turn

logger = structlog.get_logger(__name__)


@transaction.atomic
def change_source(source_id: str, changes: Mapping[str, Any], owner: Owner) -> Source:
    """Changes a source; it is read by that within seconds. Switched off, what it said is withdrawn.

    Args:
        changes: of name, config, rid, mid, period_s and enabled.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such source, room or machine.
        Invalid: no wrapper could read it.
    """
    owner.require_staff("change sources")
    take_turn(NAMES)
    changed = save_source(found(Source, source_id, "source"), changes)
    logger.info("source_changed", source=source_id, account=owner.account, fields=sorted(changes))
    return changed
