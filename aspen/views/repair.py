"""Repair: base rows that would have to come, go or change for a missing row to appear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aspen.model.schema import Row, Value


@dataclass(frozen=True, slots=True)
class Open:
    """A value that is not fixed: any that meets the repair's conditions."""

    name: str


@dataclass(frozen=True, slots=True)
class Edit:
    """One element of a repair.

    Args:
        relation: a base relation.
        before: the row that goes or changes; None where one comes.
        after: the row that comes or that it changes to; None where one goes.
        example: `after` with values for what is open.
    """

    relation: str
    before: Row | None
    after: tuple[Value | Open, ...] | None
    example: Row | None

    @property
    def action(self) -> str:
        """What happens to the base row: insert, delete or change."""
        if self.before is None:
            return "insert"
        return "delete" if self.after is None else "change"


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits that together make the row appear, and none of which can be left out.

    Args:
        conditions: on open values, as predicates in the plan language.
    """

    edits: tuple[Edit, ...]
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What is missing for a row.

    Args:
        repairs: smallest first.
        complete: the search came to its end. Otherwise there may be more, or other ones.
    """

    repairs: Sequence[Repair]
    complete: bool
