"""Run: one import from file to database, with the report people read."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.db.models import ProtectedError

from smartcis.importers.derive import BuildingPlan, Progress, derive
from smartcis.importers.drawing import Finding
from smartcis.importers.errors import AnotherBuilding, ImportFailed, ImportRefused, StillUsed
from smartcis.importers.formats import drawing_of
from smartcis.importers.store import Stored, clear, store
from smartcis.models import Unit, Venue

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "ulm"
LISTED = 20  # of one finding; the others are counted
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class ImportReport:
    """What an import took, derived and dropped.

    Args:
        preview: whether nothing was written.
    """

    plan: BuildingPlan
    stored: Stored
    preview: bool = False

    @property
    def reached(self) -> tuple[int, int]:
        """Drawn units an entrance leads to, and all drawn units."""
        drawn = [index for index, space in enumerate(self.plan.spaces) if not space.derived]
        return sum(index not in self.plan.unreached for index in drawn), len(drawn)

    def lines(self) -> list[str]:
        """Returns the report as text."""
        plan, graph = self.plan, self.plan.graph
        drawn = [space for space in plan.spaces if not space.derived]
        by_category = Counter(space.category for space in drawn)
        reached, units = self.reached
        concluded = sum(door.derived for door in graph.doors)
        made = f"{sum(entrance.derived for entrance in plan.entrances)} entrances"
        mapped = sum(not entrance.derived for entrance in plan.entrances)
        out = [
            f"{plan.name} ({plan.slug})  {plan.attribution}".rstrip(),
            f"format   {plan.format}",
            f"took     {len(plan.buildings)} buildings, {len(plan.levels)} levels, {units} units: "
            + ", ".join(f"{count} {name}" for name, count in by_category.most_common()),
            f"         {mapped} mapped entrances, {len(graph.doors) - concluded} doors",
            f"derived  {len(plan.spaces) - units} gap corridors, {concluded} doors, {made}",
            f"         walking graph: {len(graph.nodes)} points, {len(graph.edges)} directed steps",
            f"reached  {reached} of {units} units from an entrance ({reached / max(1, units):.1%})",
        ]
        out += [
            f"         not {plan.spaces[index].rid} (level {plan.spaces[index].level}): {reason}"
            for index, reason in plan.unreached.items()
            if not plan.spaces[index].derived
        ]
        for finding in Finding:
            out += self._noted(finding)
        if self.stored.nothing:
            out.append("stored   nothing: the database already says all this")
        for word, counter in (
            ("created", self.stored.created),
            ("updated", self.stored.updated),
            ("deleted", self.stored.deleted),
        ):
            if counter:
                listed = ", ".join(f"{count} {name}" for name, count in counter.items())
                out.append(f"{word:<8} {listed}")
        if self.preview:
            out.append("preview  nothing was written")
        return out

    def _noted(self, finding: Finding) -> list[str]:
        """Returns what was found of one kind: each thing by name, or counted where many."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for note in self.plan.notes:
            if note.finding is finding:
                reasons.setdefault((note.what, note.why), []).append(note.where)
        out = []
        for (what, why), places in sorted(reasons.items()):
            named = [place for place in places if place]
            where = "" if not named else f" ({', '.join(named[:LISTED])})"
            if len(named) > LISTED:
                where = f" ({', '.join(named[:LISTED])} and {len(named) - LISTED} more)"
            count = f"{len(places)} " if len(places) > 1 else ""
            out.append(f"{finding.value:<8} {count}{what}: {why}{where}")
        return out


def plan_of(path: Path, progress: Progress = lambda _: None) -> BuildingPlan:
    """Reads a file of any format and works the building out.

    Raises:
        ImportRefused: it cannot be read, or nothing in it can be walked in.
    """
    progress(f"reading {path.name}")
    try:
        return derive(drawing_of(path), progress)
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
    replace: bool = False,
) -> ImportReport:
    """Imports a building.

    Args:
        path: a file, folder or archive of any format.
        progress: receives one line per step.
        preview: work everything out and write nothing.
        replace: whether another building than the file's may be removed.

    Raises:
        ImportRefused: the file is broken, or another building is there; the database is as before.
    """
    plan = plan_of(path, progress)
    progress("comparing" if preview else "writing")
    try:
        with transaction.atomic():
            if _is_another(plan, allowed=preview or replace):
                clear()
            stored = store(plan)
            transaction.set_rollback(preview)
    except ProtectedError as fault:
        there = sorted({str(one) for one in fault.protected_objects})
        raise StillUsed(
            "things stand where the file draws nothing any more",
            found=", ".join(there[:10]),
            attempt="move or remove them first",
        ) from fault
    return ImportReport(plan, stored, preview)


def _is_another(plan: BuildingPlan, *, allowed: bool) -> bool:
    """Returns whether a building is there that the file is not a drawing of.

    Raises:
        AnotherBuilding: there is, and it may not be removed.
    """
    there = Venue.objects.first()
    if there is None:
        return False
    known = _things(Unit.objects.filter(derived=False).values_list("feature_id", "rid"))
    drawn = _things((space.feature_id, space.rid) for space in plan.spaces if not space.derived)
    if there.slug == plan.slug and (not known or known & drawn):
        return False
    if allowed:
        return True
    raise AnotherBuilding(
        f"the product shows {there.name} ({there.slug}), and the file draws {plan.name}"
        f" ({plan.slug})",
        found=plan.slug,
        exists=[there.slug],
        attempt="look at it with --preview; --replace removes what is there, with its machines,"
        " sensors and bookings",
    )


def _things(pairs: Iterable[tuple[str, str]]) -> set[str]:
    return {feature_id or rid for feature_id, rid in pairs}
