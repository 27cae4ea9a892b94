"""Ask why: what a row of a maintained view rests on, by the engine's own word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aspen.log.entry import OneTimeKind
from aspen.model.arrays import row_in
from aspen.model.schema import Row, Value
from aspen.results.protocol import EpochSnapshot
from smartcis.access.grants import Grant, is_veiled
from smartcis.questions.asking import (
    ProvenanceQuery,
    ask,
    named,
    refuse_odd,
    refuse_others,
    relation_asked,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A base row that an answer rests on.

    Args:
        row: column → value; empty when the row is another visitor's.
        necessary: without this row the answer is gone.
        hidden: the row is another visitor's; its values are left out.
    """

    relation: str
    row: Mapping[str, Value]
    necessary: bool
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Reasons:
    """What a row rests on, as of one log position.

    Args:
        sets: each suffices; smallest first. One empty set: the row rests on given facts alone.
        complete: all minimal sets are listed; otherwise one that suffices.
    """

    view: str
    row: Row
    sets: tuple[tuple[Fact, ...], ...]
    complete: bool
    epoch: int
    at_s: float


def ask_why(granted: Grant, row: Sequence[Value]) -> Reasons:
    """Asks the engine why a row is in a view, and waits for the answer.

    Args:
        granted: the view, and whose rows may be seen of it.
        row: values in the order of the view's columns.

    Raises:
        SchemaError: the row does not fit the view's columns.
        RowNotThere: the view does not hold the row, or not for this client.
        NoAnswer: the engine did not answer in time.
        CannotSay: the view is in error.
    """
    asked = row_in(row)
    relation = relation_asked(granted)
    relation.check(asked)
    refuse_odd(asked)
    refuse_others(granted, relation, asked)
    answer = ask(granted, ProvenanceQuery(OneTimeKind.WHY, asked))
    sets = _sets(answer, granted)
    return Reasons(
        granted.view,
        asked,
        tuple(map(_veil, sets)) if is_veiled(granted) else sets,
        all(bool(row[4]) for row in answer.rows),
        answer.epoch,
        answer.at_s,
    )


def _veil(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Leaves of each fact the relation it is of: a corridor's point says where somebody stands."""
    return tuple(Fact(fact.relation, {}, fact.necessary, hidden=True) for fact in facts)


def _sets(answer: EpochSnapshot, granted: Grant) -> tuple[tuple[Fact, ...], ...]:
    sets: dict[int, list[Fact]] = {}
    for number, relation, text, necessary, _ in sorted(answer.rows, key=repr):
        # Two visitors at one kiosk share the walks from there: a reason may be the other's wish.
        row, hidden = named(granted, str(relation), str(text))
        fact = Fact(str(relation), row, bool(necessary), hidden)
        sets.setdefault(int(number or 0), []).append(fact)
    return tuple(tuple(sets[number]) for number in sorted(sets)) or ((),)
