"""Read an import: work out the building of its file, and what it would change."""

from __future__ import annotations

from typing import Any

from smartcis.actions.support.import_steps import steps
from smartcis.importers.errors import ImportRefused
from smartcis.importers.picture import picture_of
from smartcis.importers.run import run
from smartcis.models import BuildingImport

State = BuildingImport.State


def read_import(number: int) -> bool:
    """Reads the file of an import; it is then ready to be accepted, or refused.

    One that is removed meanwhile stays removed.

    Returns:
        Whether it can be accepted.
    """
    one = BuildingImport.objects.filter(pk=number, state=State.READING).first()
    if one is None:
        return False  # removed meanwhile
    try:
        report = run(one.file, steps(one), preview=True, add=one.add)
    except ImportRefused as fault:
        found: dict[str, Any] = {"state": State.REFUSED, "refusal": fault.as_dict()}
        one.forget_file()
    else:
        found = {"state": State.READY, "refusal": None}
        found |= {"report": report.as_dict(), "plan": picture_of(report.plan)}
    there = BuildingImport.objects.filter(pk=number, state=State.READING)
    return bool(there.update(step="", **found)) and found["state"] == State.READY
