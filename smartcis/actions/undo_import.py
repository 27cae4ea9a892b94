"""Undo an import: the building becomes what it was before."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from smartcis.access.owner import Owner
from smartcis.actions.support.import_steps import import_for_update
from smartcis.actions.support.later import have_done
from smartcis.actions.take_back_import import take_back_import
from smartcis.errors import Conflict
from smartcis.models import BuildingImport

State = BuildingImport.State


@transaction.atomic
def undo_import(number: int, owner: Owner, *, now: bool = False) -> BuildingImport:
    """Has the newest accepted import undone.

    Args:
        owner: staff.
        now: whether it is before this returns, not by a worker; where it cannot be, it says why.

    Raises:
        Refused: the owner is no staff.
        NotFound: there is no such import.
        Conflict: it is not the newest that was accepted, or too old to be undone.
    """
    owner.require_staff("import buildings")
    one = import_for_update(number)
    if not one.undoable or one.busy:
        raise Conflict(
            f"this import is {one.get_state_display()}, and cannot be undone",
            found=one.state,
            attempt="only the newest that was accepted can be, one after another",
        )
    one.state, one.refusal, one.step_at = State.UNDOING, None, timezone.now()
    one.save(update_fields=("state", "refusal", "step_at"))
    if now:
        take_back_import(one.pk)
        one.refresh_from_db()
    else:
        have_done("take_back_import", one.pk)
    return one
