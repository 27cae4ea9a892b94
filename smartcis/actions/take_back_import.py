"""Take an import back: every table becomes what it was before."""

from __future__ import annotations

from django.db import transaction

from smartcis.importers.changes import Changes, undo
from smartcis.importers.errors import ImportRefused
from smartcis.models import BuildingImport

State = BuildingImport.State


def take_back_import(number: int) -> bool:
    """Undoes an import.

    Returns:
        Whether all is as it was; else the import stands, and says why.
    """
    try:
        with transaction.atomic():
            one = BuildingImport.objects.filter(pk=number, state=State.UNDOING).first()
            if one is None or one.changes is None:
                return False
            undo(Changes.unpacked(bytes(one.changes)))
            one.state, one.changes = State.UNDONE, None
            one.save(update_fields=("state", "changes"))
    except ImportRefused as fault:
        BuildingImport.objects.filter(pk=number).update(
            state=State.ACCEPTED, refusal=fault.as_dict()
        )
        return False
    return True
