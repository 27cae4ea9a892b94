"""Ask what if: how a view would change if base rows came, went or changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from aspen.log.entry import OneTimeKind
from aspen.model.arrays import row_in
from aspen.model.schema import Value
from smartcis.access.grants import Grant, refuse_veiled
from smartcis.questions.asking import ProvenanceQuery, ask, pattern, relation_asked
from smartcis.questions.hypothetical import hypothetical_changes

Named = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Difference:
    """How a view would change, as of one log position; rows by column.

    Args:
        gone: rows that it would lose.
        come: rows that it would have besides.
    """

    view: str
    gone: tuple[Named, ...]
    come: tuple[Named, ...]
    epoch: int
    at_s: float


def ask_what_if(granted: Grant, updates: str, row: Named | None = None) -> Difference:
    """Asks the engine how a view would change, and waits for the answer. Nothing is changed.

    Args:
        granted: the view, and whose rows may be seen of it.
        updates: hypothetical INSERT, DELETE or UPDATE statements over base relations.
        row: values by column of the rows of interest; None for all.

    Raises:
        CannotRead: statements of another kind.
        SchemaError: no such column, or a value of another type.
        RowNotThere: rows of that view are somebody else's.
        Veiled: the view rests on where people are.
        NoAnswer: the engine did not answer in time.
        CannotSay: the view is in error, or cannot be maintained under the updates.
    """
    refuse_veiled(granted)
    relation = relation_asked(granted)
    known, free = pattern(granted, row) if row else ((), ())
    changes = hypothetical_changes(updates, granted)
    answer = ask(granted, ProvenanceQuery(OneTimeKind.WHAT_IF, known, free, changes))
    gone: list[Named] = []
    come: list[Named] = []
    for weight, text in sorted(answer.rows, key=repr):
        values = row_in(json.loads(str(text)))
        if granted.may_see(relation.name, relation.names, values):
            row_by_name = dict(zip(relation.names, values, strict=True))
            (come if int(weight or 0) > 0 else gone).append(row_by_name)
    return Difference(granted.view, tuple(gone), tuple(come), answer.epoch, answer.at_s)
