"""Rename a level; its geometry is the importer's."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from smartcis.access.owner import Owner
from smartcis.actions.support.checked import checked
from smartcis.actions.support.mark_edited import mark_edited
from smartcis.models import Level
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


def rename_level(level_id: str, names: Mapping[str, str], owner: Owner) -> Level:
    """Renames a level; imports leave that alone.

    Args:
        names: name, short_name, or both.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such level.
        Invalid: a name that cannot be.
    """
    owner.require_staff("rename levels")
    level = found(Level, level_id, "level")
    level.name = names.get("name", level.name)
    level.short_name = names.get("short_name", level.short_name)
    mark_edited(level, names)
    with checked(names):
        level.clean_fields(exclude=("outline",))
        level.save()
    logger.info("level_renamed", level=level_id, account=owner.account)
    return level
