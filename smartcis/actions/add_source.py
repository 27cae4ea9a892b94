"""Add a source: something outside that feeds the building."""

from __future__ import annotations

from typing import Any

import structlog
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.checked import refuse_taken
from smartcis.actions.support.save_source import save_source
from smartcis.models import Source
from smartcis.models.turns import NAMES, take_turn
from smartcis.wrappers.kinds import kind_of

logger = structlog.get_logger(__name__)


@transaction.atomic
def add_source(source_id: str, kind: str, owner: Owner, **said: Any) -> Source:
    """Adds a source; it is read within seconds.

    Args:
        kind: which wrapper reads it.
        owner: staff.
        said: name, config, rid, mid, period_s, enabled; asked as often as its kind is, unless said.

    Raises:
        Refused: the owner is no staff.
        AlreadyThere: there is one of that id.
        NotFound: no such room or machine.
        Invalid: no wrapper could read it.
    """
    owner.require_staff("change sources")
    take_turn(NAMES)  # one of kind table declares a relation
    refuse_taken(Source, source_id, "source")
    usual = {"name": source_id, "period_s": kind_of(kind).period_s}
    made = save_source(Source(source=source_id, kind=kind), usual | said)
    logger.info("source_added", source=source_id, kind=kind, account=owner.account)
    return made
