"""Change what people say of a room; its geometry is the importer's."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from smartcis.access.owner import Owner
from smartcis.actions.support.check_category import check_category
from smartcis.actions.support.checked import checked
from smartcis.actions.support.mark_edited import mark_edited
from smartcis.models import Unit
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


def change_room(rid: str, changes: Mapping[str, str], owner: Owner) -> Unit:
    """Renames a room, or says what it is used for; imports leave that alone.

    Args:
        changes: name, category, or both; an empty name is the drawing's at the next import.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such room.
        Invalid: no such category, or one that only a drawing can give or take.
    """
    owner.require_staff("change rooms")
    room = found(Unit, rid, "room")
    category = changes.get("category", room.category)
    check_category(room.category, category)
    room.name, room.category = changes.get("name", room.name), category
    mark_edited(room, changes)
    with checked(changes):
        room.clean_fields(exclude=("polygon", "ground"))
        room.save()
    logger.info("room_changed", room=rid, account=owner.account, fields=sorted(changes))
    return room
