"""Report: what an import took, concluded, repaired and dropped, and what it changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from smartcis.importers.changes import Changes, TableImport
from smartcis.importers.derive import BuildingPlan
from smartcis.importers.drawing import Finding, Note
from smartcis.importers.level_names import level_id
from smartcis.importers.store import Stored

LISTED = 20  # of one finding; the others are counted


@dataclass(frozen=True, slots=True)
class RoomChanges:
    """Rooms by id: what becomes of them.

    Args:
        renamed: id, and its name before and after.
        moved: drawn differently.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str, str], ...] = ()
    moved: tuple[str, ...] = ()

    @classmethod
    def of(cls, change: TableImport) -> RoomChanges:
        """Reads them off the change of a table."""
        both = sorted(change.updated.items())
        return cls(
            tuple(sorted(change.created)),
            tuple(sorted(change.deleted)),
            tuple((rid, *diff["name"]) for rid, diff in both if "name" in diff),
            tuple(rid for rid, diff in both if {"polygon", "level_id"} & set(diff)),
        )

    def lines(self) -> list[str]:
        """Returns them as text."""
        renamed = [
            f"{rid} ({old or 'no name'} → {new or 'no name'})" for rid, old, new in self.renamed
        ]
        return [
            f"rooms    {word}: {_listed(names)}"
            for word, names in (
                ("new", self.added),
                ("gone", self.removed),
                ("renamed", renamed),
                ("moved", self.moved),
            )
            if names
        ]


@dataclass(frozen=True)
class ImportReport:
    """What an import took, derived and dropped.

    Args:
        replaces: name of another building that goes, empty for none.
        preview: whether nothing was written.
        adds: under which name the building comes beside those that are there, empty for none.
    """

    plan: BuildingPlan
    stored: Stored
    changes: Changes = field(default_factory=Changes)
    replaces: str = ""
    preview: bool = False
    adds: str = ""

    @property
    def reached(self) -> tuple[int, int]:
        """Drawn units an entrance leads to, and all drawn units."""
        drawn = [index for index, space in enumerate(self.plan.spaces) if not space.derived]
        return sum(index not in self.plan.unreached for index in drawn), len(drawn)

    @property
    def rooms(self) -> RoomChanges:
        """What becomes of the rooms that are there."""
        return RoomChanges.of(self.changes.tables.get("Unit", TableImport()))

    @property
    def unreached(self) -> list[tuple[str, str, str]]:
        """Drawn units that no entrance leads to: id, level, reason."""
        spaces = self.plan.spaces
        return [
            (spaces[index].rid, level_id(spaces[index].level), reason)
            for index, reason in self.plan.unreached.items()
            if not spaces[index].derived
        ]

    def lines(self) -> list[str]:
        """Returns the report as text."""
        plan, graph, said = self.plan, self.plan.graph, self.as_dict()
        by_category = Counter(space.category for space in plan.spaces if not space.derived)
        units, reached = said["units"], said["units_reached"]
        concluded = f"{said['doors_concluded']} doors, {said['entrances_concluded']} entrances"
        out = [
            f"{plan.name} ({plan.slug})  {plan.attribution}".rstrip(),
            f"format   {plan.format}",
            f"took     {len(plan.buildings)} buildings, {len(plan.levels)} levels, {units} units: "
            + ", ".join(f"{count} {name}" for name, count in by_category.most_common()),
            f"         {said['entrances']} mapped entrances, {said['doors']} doors",
            f"derived  {len(plan.spaces) - units} gap corridors, {concluded}",
            f"         walking graph: {len(graph.nodes)} points, {len(graph.edges)} directed steps",
            f"reached  {reached} of {units} units from an entrance ({reached / max(1, units):.1%})",
        ]
        out += [
            f"         not {rid} (level {level.removeprefix('L')}): {reason}"
            for rid, level, reason in self.unreached
        ]
        for finding in Finding:
            out += _noted(plan.notes, finding)
        if self.adds:
            out.append(f"adds     {self.adds}, beside what is there")
        if self.replaces:
            out.append(f"replaces {self.replaces}, with its machines, sensors and bookings")
        elif "Venue" not in self.changes.tables or self.changes.tables["Venue"].updated:
            out += self.rooms.lines()
        if self.stored.moved:
            out.append(f"put on   another point of their room: {_listed(self.stored.moved)}")
        if self.stored.nothing:
            out.append("stored   nothing: the database already says all this")
        for word, counter in said["rows"].items():
            if counter:
                listed = ", ".join(f"{count} {name}" for name, count in counter.items())
                out.append(f"{word:<8} {listed}")
        if self.preview:
            out.append("preview  nothing was written")
        return out

    def as_dict(self) -> dict[str, Any]:
        """Returns the report as JSON."""
        plan, graph = self.plan, self.plan.graph
        reached, units = self.reached
        concluded = sum(door.derived for door in graph.doors)
        rooms = self.rooms
        return {
            "format": plan.format,
            "slug": plan.slug,
            "name": plan.name,
            "attribution": plan.attribution,
            "adds": self.adds,
            "replaces": self.replaces,
            "buildings": len(plan.buildings),
            "levels": len(plan.levels),
            "units": units,
            "units_reached": reached,
            "doors": len(graph.doors) - concluded,
            "doors_concluded": concluded,
            "entrances": sum(not one.derived for one in plan.entrances),
            "entrances_concluded": sum(one.derived for one in plan.entrances),
            "unreached": [
                {"rid": rid, "level_id": level, "reason": why} for rid, level, why in self.unreached
            ],
            "notes": [_note(one) for one in plan.notes],
            "rooms": {
                "added": list(rooms.added),
                "removed": list(rooms.removed),
                "renamed": [
                    {"rid": rid, "before": old, "after": new} for rid, old, new in rooms.renamed
                ],
                "moved": list(rooms.moved),
            },
            "put_elsewhere": list(self.stored.moved),
            "rows": {
                word: dict(getattr(self.stored, word)) for word in ("created", "updated", "deleted")
            },
        }


def _note(note: Note) -> dict[str, Any]:
    return {
        "finding": note.finding.value,
        "what": note.what,
        "where": note.where,
        "why": note.why,
        "level_id": "" if note.at is None else level_id(note.at.level),
        "x_m": None if note.at is None else note.at.x_m,
        "y_m": None if note.at is None else note.at.y_m,
    }


def _noted(notes: Sequence[Note], finding: Finding) -> list[str]:
    """Returns what was found of one kind: each thing by name, or counted where many."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        if note.finding is finding:
            reasons.setdefault((note.what, note.why), []).append(note.where)
    out = []
    for (what, why), places in sorted(reasons.items()):
        named = [place for place in places if place]
        where = f" ({_listed(named)})" if named else ""
        count = f"{len(places)} " if len(places) > 1 else ""
        out.append(f"{finding.value:<8} {count}{what}: {why}{where}")
    return out


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
