"""`manage.py bench buildings`: building files of every format, found against counted by hand.

found    levels, spaces and doors that importing finds, and those counted (`counts.toml`)
reached  share of spaces an entrance leads to; each other one with its reason
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any

from smartcis.importers.derive import BuildingPlan, derive
from smartcis.importers.drawing import Drawing, Finding
from smartcis.importers.errors import ImportRefused
from smartcis.importers.formats import drawing_of
from tests.bench.report import Target, report

ROOT = Path(__file__).resolve().parents[2]
OURS = ROOT / "tests" / "importers" / "buildings"
OPEN_DATA = "SMARTCIS_BUILDINGS"  # the folder with open data; `shared/data` beside the checkout
REACHED = 0.95
QUANTITIES = ("levels", "spaces", "doors", "walled")


def counts() -> dict[str, dict[str, Any]]:
    """Returns what was counted by hand, by file."""
    return tomllib.loads((OURS / "counts.toml").read_text(encoding="utf-8"))


def open_data() -> Path | None:
    """Returns the folder with the open data, None where it is not here."""
    named = os.environ.get(OPEN_DATA)
    around = [parent / "shared" / "data" for parent in ROOT.parents]
    return next((one for one in ([Path(named)] if named else around) if one.is_dir()), None)


def run(*, quick: bool, say: Callable[[str], Any]) -> dict[str, Any]:
    """Measures; returns the bench's JSON object.

    Args:
        quick: only the small files of the repository.
    """
    elsewhere = None if quick else open_data()
    figures: dict[str, Any] = {}
    targets: list[Target] = []
    for name, counted in counts().items():
        folder = OURS if counted["path"] == "ours" else elsewhere
        if folder is None or not (folder / name).exists():
            say(f"{name}: left out, it is not here")
            figures[name] = {"left_out": "the file is not here"}
            continue
        figures[name] = measured(folder / name, counted)
        say(f"{name}: {figures[name]}")
        targets += _targets(name, counted, figures[name])
    return report("buildings", figures, targets)


def measured(path: Path, counted: Mapping[str, Any]) -> dict[str, Any]:
    """Imports one file without storing it; returns what was found beside what was counted."""
    began_s = process_time()
    try:
        drawing = drawing_of(path)
        plan = derive(drawing)
    except ImportRefused as refused:
        return {"refused": refused.code, "message": refused.message}
    took_s = process_time() - began_s
    drawn = [index for index, space in enumerate(plan.spaces) if not space.derived]
    lost = {plan.spaces[k].rid: plan.unreached[k] for k in drawn if k in plan.unreached}
    found = found_in(drawing, plan)
    return {
        "format": plan.format,
        "found": found,
        "counted": {name: counted[name] for name in QUANTITIES if name in counted},
        "entrances": len(plan.entrances),
        "guessed_entrances": sum(one.derived for one in plan.entrances),
        "reached": round(1 - len(lost) / max(1, len(drawn)), 4),
        "unreached": lost,
        "noted": {
            finding.value: sum(note.finding is finding for note in plan.notes)
            for finding in Finding
        },
        "process_s": round(took_s, 2),
    }


def found_in(drawing: Drawing, plan: BuildingPlan) -> dict[str, int]:
    """Returns how many of each quantity importing found."""
    drawn = [space for space in plan.spaces if not space.derived]
    walled = sum("-walled-" in space.rid for space in drawn)
    return {
        "levels": len(plan.levels),
        "spaces": len(drawn) - walled,
        "doors": len(drawing.openings),
        "walled": walled,
    }


def _targets(name: str, counted: Mapping[str, Any], figures: Mapping[str, Any]) -> list[Target]:
    found = figures.get("found")
    made = [
        Target(
            f"{name}: {quantity} found of those counted, off by",
            None if found is None else abs(found[quantity] - counted[quantity]),
            0,
            quantity,
        )
        for quantity in QUANTITIES
        if quantity in counted
    ]
    if counted["doors"] or found is None:
        reached = figures.get("reached")
        made.append(Target(f"{name}: reached", reached, REACHED, "share", at_most=False))
    return made
