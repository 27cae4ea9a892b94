"""Run: one import from file to database, with the report people read."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

from django.db import connection, models, transaction
from django.db.models import ProtectedError

from smartcis.importers.between import join_buildings
from smartcis.importers.changes import recorded
from smartcis.importers.derive import BuildingPlan, Progress
from smartcis.importers.errors import AnotherBuilding, ImportFailed, ImportRefused, StillUsed
from smartcis.importers.formats import drawing_of
from smartcis.importers.held import HeldPart
from smartcis.importers.placing import placed_plan
from smartcis.importers.report import ImportReport
from smartcis.importers.store import clear, store
from smartcis.models import BuildingImport, Kiosk, Machine, Reservation, Sensor, Source, Unit, Venue
from smartcis.models.imports import UNDOABLE

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "ulm"
NAMED = 10  # of what stands in the way
_LOG = logging.getLogger(__name__)


def plan_of(
    path: Path, progress: Progress = lambda _: None, *, add: bool = False
) -> tuple[BuildingPlan, HeldPart]:
    """Reads a file of any format and works the building out.

    Where the file draws what is there, whatever the file is called, its things keep their names.

    Args:
        add: whether its building comes beside those that are there.

    Raises:
        ImportRefused: it cannot be read, or nothing in it can be walked in.
    """
    progress(f"reading {path.name}")
    try:
        return placed_plan(drawing_of(path), progress, add=add)
    except ImportRefused:
        raise
    except Exception as fault:
        # Whatever a stranger's file makes of shapes and numbers, it must not end in a traceback.
        _LOG.exception("import of %s failed", path.name)
        raise ImportFailed(
            f"the importer could not cope with this file: {type(fault).__name__}: {fault}",
            found=path.name,
            attempt="report the file: the log has the traceback",
        ) from fault


def run(
    path: Path,
    progress: Progress = lambda _: None,
    *,
    preview: bool = False,
    add: bool = False,
    replace: bool = False,
    record: BuildingImport | None = None,
) -> ImportReport:
    """Imports a building.

    Args:
        path: a file, folder or archive of any format.
        progress: receives one line per step.
        preview: work everything out and write nothing.
        add: whether a building that is not there comes beside those that are.
        replace: whether another building than the file's may be removed.
        record: of the import, a new one by default; it keeps what undoes it.

    Raises:
        ImportRefused: the file is broken, or another building is there; the database is as before.
    """
    plan, part = plan_of(path, progress, add=add)
    progress("comparing" if preview else "writing")
    try:
        with _snapshot():
            replaces = "" if part.drawing else _other_building(plan, allowed=preview or replace)
            adds = part.drawing if part.drawing and not part.held(Unit.objects.all()) else ""
            with recorded() as changes:
                if replaces:
                    clear()
                else:
                    _refuse_orphans(plan, part)
                stored = store(plan, part)
                joined = join_buildings(stored)
            plan = replaced(plan, notes=(*plan.notes, *joined))
            report = ImportReport(plan, stored, changes, replaces, preview, adds or "")
            if not preview and changes.tables:
                _keep(record or BuildingImport(name=path.name), report)
            transaction.set_rollback(preview)
    except ProtectedError as fault:
        there = sorted({str(one) for one in fault.protected_objects})
        raise _still_used(there) from fault
    return report


@contextmanager
def _snapshot() -> Iterator[None]:
    """A transaction in which nothing is seen of what others write meanwhile."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost and connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def _keep(record: BuildingImport, report: ImportReport) -> None:
    """Writes down that an import was accepted; older ones forget what undoes them."""
    record.state, record.step = BuildingImport.State.ACCEPTED, ""
    record.report, record.refusal = report.as_dict(), None
    record.changes = report.changes.packed()
    record.save()
    accepted = BuildingImport.objects.filter(state=BuildingImport.State.ACCEPTED)
    newest = list(accepted.values_list("pk", flat=True)[:UNDOABLE])
    accepted.exclude(pk__in=newest).update(changes=None)


def _refuse_orphans(plan: BuildingPlan, part: HeldPart) -> None:
    """Refuses to take rooms away in which real things are.

    Raises:
        StillUsed: the file does not draw a room any more that holds some.
    """
    drawn = {space.rid for space in plan.spaces}
    there = part.held(Unit.objects.all()).values_list("rid", flat=True)
    gone = [rid for rid in there if rid not in drawn]
    held: list[models.QuerySet[Any]] = [
        Machine.objects.filter(unit__in=gone),
        Sensor.objects.filter(unit__in=gone, simulated=False),
        Reservation.objects.filter(unit__in=gone, simulated=False),
        Source.objects.filter(unit__in=gone),
        Kiosk.objects.filter(node__unit__in=gone),
    ]
    if used := [str(one) for things in held for one in things]:
        raise _still_used(used)


def _still_used(there: Sequence[str]) -> StillUsed:
    more = f" and {len(there) - NAMED} more" if len(there) > NAMED else ""
    return StillUsed(
        "things stand where the file draws nothing any more",
        found=", ".join(there[:NAMED]) + more,
        attempt="move or remove them first",
    )


def _other_building(plan: BuildingPlan, *, allowed: bool) -> str:
    """Returns the name of a building that is there and is not the file's; empty for none.

    Raises:
        AnotherBuilding: there is one, and it may not be removed.
    """
    there = Venue.objects.first()
    if there is None:
        return ""
    known = _things(Unit.objects.filter(derived=False).values_list("feature_id", "rid"))
    drawn = _things((space.feature_id, space.rid) for space in plan.spaces if not space.derived)
    if there.slug == plan.slug and (not known or known & drawn):
        return ""
    if allowed:
        return f"{there.name} ({there.slug})"
    raise AnotherBuilding(
        f"the product shows {there.name} ({there.slug}), and the file draws {plan.name}"
        f" ({plan.slug})",
        found=plan.slug,
        exists=[there.slug],
        attempt="--add puts it beside what is there; look at it with --preview; --replace removes"
        " what is there, with its machines, sensors and bookings",
    )


def _things(pairs: Iterable[tuple[str, str]]) -> set[str]:
    return {feature_id or rid for feature_id, rid in pairs}
