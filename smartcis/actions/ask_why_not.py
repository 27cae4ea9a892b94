"""Ask why not: what would have to come or go for a row to be in a view."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from aspen.log.entry import OneTimeKind
from aspen.model.schema import Value
from smartcis.access.grants import Grant, refuse_veiled
from smartcis.questions.asking import ProvenanceQuery, ask, named, pattern

Action = Literal["insert", "delete", "change"]


@dataclass(frozen=True, slots=True)
class RowEdit:
    """A base row that would have to come, go or change.

    Args:
        before: the row that goes or changes, by column.
        after: the row that comes, by column; {"open": name} stands for any value.
        example: `after` with values that would do.
        hidden: the row is another visitor's, and left out.
    """

    action: Action
    relation: str
    before: Mapping[str, Value] | None
    after: Mapping[str, Any] | None
    example: Mapping[str, Value] | None
    hidden: bool


@dataclass(frozen=True, slots=True)
class RowRepair:
    """Edits that together make the row appear; conditions are on their open values."""

    edits: tuple[RowEdit, ...]
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """What is missing for a row, as of one log position.

    Args:
        repairs: smallest first.
        complete: there are no others.
    """

    view: str
    repairs: tuple[RowRepair, ...]
    complete: bool
    epoch: int
    at_s: float


def ask_why_not(granted: Grant, row: Mapping[str, Value]) -> Missing:
    """Asks the engine why no row with some values is in a view, and waits for the answer.

    Args:
        granted: the view, and whose rows may be seen of it.
        row: values by column; all other columns may have any value.

    Raises:
        SchemaError: no such column, or a value of another type.
        RowNotThere: rows of that view are somebody else's.
        Veiled: the view rests on where people are.
        NoAnswer: the engine did not answer in time.
        CannotSay: the view has such a row, or is in error.
    """
    refuse_veiled(granted)
    known, free = pattern(granted, row)
    answer = ask(granted, ProvenanceQuery(OneTimeKind.WHY_NOT, known, free))
    repairs: dict[int, list[RowEdit]] = {}
    conditions: dict[int, tuple[str, ...]] = {}
    for number, action, relation, before, after, example, wanted, _ in sorted(
        answer.rows, key=repr
    ):
        at = int(number or 0)
        if at:
            repairs.setdefault(at, []).append(
                _edit(granted, cast("Action", action), str(relation), (before, after, example))
            )
            conditions[at] = tuple(json.loads(str(wanted)))
    return Missing(
        granted.view,
        tuple(RowRepair(tuple(repairs[n]), conditions[n]) for n in sorted(repairs)),
        all(bool(one[7]) for one in answer.rows),
        answer.epoch,
        answer.at_s,
    )


def _edit(granted: Grant, action: Action, relation: str, texts: tuple[Value, ...]) -> RowEdit:
    rows = [named(granted, relation, str(text)) if text else (None, False) for text in texts]
    if rows[0][1]:
        return RowEdit(action, relation, None, None, None, hidden=True)
    # What would come is nobody's yet: its owner is open, or the one who asks.
    before, after, example = (row for row, _ in rows)
    return RowEdit(action, relation, before, after, example, hidden=False)
