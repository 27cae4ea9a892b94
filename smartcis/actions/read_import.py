"""Read an import: work out the building of its file, and what it would change."""

from __future__ import annotations

from smartcis.actions.support.import_steps import steps
from smartcis.importers.errors import ImportRefused
from smartcis.importers.picture import picture_of
from smartcis.importers.run import run
from smartcis.models import BuildingImport


def read_import(number: int) -> bool:
    """Reads the file of an import; it is then ready to be accepted, or refused.

    Returns:
        Whether it can be accepted.
    """
    one = BuildingImport.objects.filter(pk=number, state=BuildingImport.State.READING).first()
    if one is None:
        return False  # removed meanwhile
    try:
        report = run(one.file, steps(one), preview=True)
    except ImportRefused as fault:
        one.state, one.refusal = BuildingImport.State.REFUSED, fault.as_dict()
        one.forget_file()
    else:
        one.state, one.refusal = BuildingImport.State.READY, None
        one.report, one.plan = report.as_dict(), picture_of(report.plan)
    one.step = ""
    one.save(update_fields=("state", "step", "refusal", "report", "plan"))
    return one.state == BuildingImport.State.READY
