"""Mark edited: a field that people changed is theirs, until they empty it."""

from __future__ import annotations

from collections.abc import Mapping

from smartcis.models import Level, Unit


def mark_edited(thing: Level | Unit, changes: Mapping[str, str]) -> None:
    """Notes which fields imports leave alone; one that was emptied is the drawing's again."""
    kept = {*thing.edited, *changes} - {name for name, value in changes.items() if not value}
    thing.edited = sorted(kept)
