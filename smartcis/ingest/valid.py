"""Valid: one reading that fits its sensor, ready for its stream."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.model.schema import Row


@dataclass(frozen=True, slots=True)
class ValidReading:
    """One reading that fits its sensor, ready for its stream.

    Args:
        at_s: when it was measured, seconds since the epoch.
    """

    relation: str
    row: Row
    at_s: float
