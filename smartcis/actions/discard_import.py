"""Discard an import that is not the building, with its file."""

from __future__ import annotations

from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.import_steps import import_for_update
from smartcis.errors import Conflict
from smartcis.models import BuildingImport

State = BuildingImport.State


@transaction.atomic
def discard_import(number: int, owner: Owner) -> None:
    """Removes an import and its file.

    Args:
        owner: staff.

    Raises:
        Refused: the owner is no staff.
        NotFound: there is no such import.
        Conflict: it was accepted, or somebody is at it.
    """
    owner.require_staff("import buildings")
    one = import_for_update(number)
    if one.state == State.ACCEPTED or (one.busy and one.state != State.READING):
        raise Conflict(
            f"this import is {one.get_state_display()}",
            found=one.state,
            attempt="undo it first, then the building is as before",
        )
    one.delete()
    transaction.on_commit(one.forget_file)
