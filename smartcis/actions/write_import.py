"""Write an import that was accepted: its file becomes the building."""

from __future__ import annotations

from smartcis.actions.support.import_steps import steps
from smartcis.importers.errors import ImportRefused
from smartcis.importers.run import run
from smartcis.models import BuildingImport

State = BuildingImport.State


def write_import(number: int) -> bool:
    """Writes an import that was accepted.

    Returns:
        Whether it is the building now; a refused one is ready again, and says why.
    """
    one = BuildingImport.objects.filter(pk=number, state=State.WRITING).first()
    if one is None:
        return False
    try:
        report = run(one.file, steps(one), add=one.add, replace=one.replace, record=one)
    except ImportRefused as fault:
        one.state, one.refusal, one.step = State.READY, fault.as_dict(), ""
        one.save(update_fields=("state", "refusal", "step"))
        return False
    if one.state != State.ACCEPTED:  # nothing differed, so there is nothing to undo
        one.state, one.step, one.report = State.ACCEPTED, "", report.as_dict()
        one.save(update_fields=("state", "step", "report"))
    one.forget_file()
    return True
