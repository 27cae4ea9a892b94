"""Ask for weak points: single base rows whose loss takes the most rows of a view along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aspen.log.entry import OneTimeKind
from aspen.model.schema import Value
from smartcis.access.grants import Grant, refuse_veiled
from smartcis.questions.asking import ProvenanceQuery, ask, named, pattern, relation_asked


@dataclass(frozen=True, slots=True)
class WeakRow:
    """A base row, and how many rows go with it.

    Args:
        row: column → value; empty when the row is another visitor's.
        hidden: the row is another visitor's.
    """

    relation: str
    row: Mapping[str, Value]
    lost: int
    hidden: bool


@dataclass(frozen=True, slots=True)
class Weakness:
    """The worst single points of failure, as of one log position.

    Args:
        points: most lost first.
        total: rows in question.
        complete: no other base row takes more than the last of the points.
    """

    view: str
    points: tuple[WeakRow, ...]
    total: int
    complete: bool
    epoch: int
    at_s: float


def ask_weak_points(
    granted: Grant,
    row: Mapping[str, Value] | None = None,
    by: Sequence[str] = (),
    among: Sequence[str] = (),
) -> Weakness:
    """Asks the engine which base rows a view hangs on, and waits for the answer.

    Args:
        granted: the view, and whose rows may be seen of it.
        row: values by column of the rows in question; None for all.
        by: columns counted by: rows replaced by some with equal values there are not lost.
        among: base relations whose rows may be such points; none for all.

    Raises:
        SchemaError: no such column, or a value of another type.
        RowNotThere: rows of that view are somebody else's.
        Veiled: the view rests on where people are.
        NoAnswer: the engine did not answer in time.
        CannotSay: the view is in error, or has too many rows.
    """
    refuse_veiled(granted)
    relation = relation_asked(granted)
    known, free = pattern(granted, row or {})
    indices = tuple(relation.index(name) for name in by)
    answer = ask(
        granted,
        ProvenanceQuery(OneTimeKind.WEAK_POINTS, known, free, by=indices, among=tuple(among)),
    )
    points: list[WeakRow] = []
    total, complete = 0, True
    for number, base, text, lost, of, ended in sorted(answer.rows, key=lambda r: int(r[0] or 0)):
        total, complete = int(of or 0), bool(ended)
        if number:
            values, hidden = named(granted, str(base), str(text))
            points.append(WeakRow(str(base), values, int(lost or 0), hidden))
    return Weakness(granted.view, tuple(points), total, complete, answer.epoch, answer.at_s)
