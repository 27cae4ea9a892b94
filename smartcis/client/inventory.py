"""An inventory: a table of machines, sensors or rooms, and what became of each of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class InventoryLine:
    """A row, and what becomes of it.

    Args:
        number: line of the file; 0 for what it does not name.
        key: mid, sid or rid; empty where the row says none.
        outcome: added, changed, unchanged, removed or refused.
        changes: by column before and after.
        column: the header above the cell at fault, empty where it is no single one.
        refusal: why it is refused; None where it is not.
    """

    number: int
    key: str
    outcome: str
    changes: Mapping[str, tuple[str, ...]]
    column: str
    refusal: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class InventoryFindings:
    """What a table says, and what it changes.

    Args:
        thing: machines, sensors or rooms.
        columns: by column what the file calls it.
        ignored: other headers.
        preview: whether nothing was written.
        counts: how many rows have each outcome.
    """

    thing: str
    columns: Mapping[str, str]
    ignored: tuple[str, ...]
    preview: bool
    counts: Mapping[str, int]
    rows: tuple[InventoryLine, ...]
