"""Run: one import from folder to database, with the report people read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from smartcis.importers.derive import BuildingPlan, Progress, derive
from smartcis.importers.errors import ImportRefused
from smartcis.importers.geometry.check import trespasses
from smartcis.importers.imdf import read_imdf
from smartcis.importers.store import Stored, store

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "ulm"


class EdgeThroughWall(ImportRefused, code="smartcis.import.edge_through_wall"):
    """The derived graph crosses a space it does not belong to."""


@dataclass(frozen=True)
class ImportReport:
    """What an import took, derived and dropped."""

    plan: BuildingPlan
    stored: Stored

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
            f"{plan.name} ({plan.slug})  {plan.attribution}",
            f"took     {len(plan.buildings)} buildings, {len(plan.levels)} levels, {units} units: "
            + ", ".join(f"{count} {name}" for name, count in by_category.most_common()),
            f"         {mapped} mapped entrances, {len(graph.doors) - concluded} doors",
            f"derived  {len(plan.spaces) - units} gap corridors, {concluded} doors, {made}",
            f"         walking graph: {len(graph.nodes)} points, {len(graph.edges)} directed steps",
            f"reached  {reached} of {units} units from an entrance ({reached / units:.1%})",
        ]
        out += [
            f"         not {plan.spaces[index].rid} (level {plan.spaces[index].level}): {reason}"
            for index, reason in plan.unreached.items()
            if not plan.spaces[index].derived
        ]
        reasons = Counter((one.what, one.reason) for one in plan.dropped)
        out += [
            f"dropped  {count} {what}: {reason}"
            for (what, reason), count in sorted(reasons.items())
        ]
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
        return out


def run(folder: Path, progress: Progress = lambda _: None) -> ImportReport:
    """Imports a building.

    Args:
        folder: an IMDF archive, unpacked.
        progress: receives one line per step.

    Raises:
        ImportRefused: the archive is broken; the database is as before.
    """
    progress(f"reading {folder.name}")
    plan = derive(read_imdf(folder), progress)
    progress("checking every step against every wall")
    crossed = trespasses(plan.spaces, plan.graph)
    if crossed:
        first = crossed[0]
        raise EdgeThroughWall(
            f"{len(crossed)} steps of the derived graph cross a wall",
            found=f"{first.src} → {first.dst} through {first.rid} for {first.length_m:.2f} m",
            attempt="report the archive: its shapes overlap in a way the importer does not know",
        )
    progress("writing")
    return ImportReport(plan, store(plan))
