"""Accept an import: make what was read of its file the building."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from smartcis.access.owner import Owner
from smartcis.actions.support.import_steps import import_for_update
from smartcis.actions.support.later import have_done
from smartcis.errors import Conflict
from smartcis.models import BuildingImport

State = BuildingImport.State


@transaction.atomic
def accept_import(number: int, owner: Owner, *, replace: bool = False) -> BuildingImport:
    """Has an import written that is ready.

    Args:
        owner: staff.
        replace: whether another building than the file's may be removed.

    Raises:
        Refused: the owner is no staff.
        NotFound: there is no such import.
        Conflict: it is not ready, or another building would go.
    """
    owner.require_staff("import buildings")
    one = import_for_update(number)
    if one.state != State.READY and (one.state != State.WRITING or one.busy):
        raise Conflict(
            f"this import is {one.get_state_display()}",
            found=one.state,
            exists=[State.READY],
            attempt="accept one that is ready",
        )
    replaces = (one.report or {}).get("replaces", "")
    if replaces and not replace:
        raise Conflict(
            f"{replaces} would be removed, with its machines, sensors and bookings",
            found=replaces,
            attempt="accept it with replace, if that is meant",
        )
    one.state, one.replace, one.refusal = State.WRITING, replace, None
    one.step, one.step_at = "", timezone.now()
    one.save(update_fields=("state", "replace", "refusal", "step", "step_at"))
    have_done("write_import", one.pk)
    return one
