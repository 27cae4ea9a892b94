"""Asking: a question into the log, and the engine's answer from the results."""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from aspen.errors import AspenError
from aspen.log.entry import Change, Entry, Interest, OneTimeKind, OneTimeQuery
from aspen.model.arrays import row_in
from aspen.model.schema import Relation, Row, Value
from aspen.results.protocol import EpochSnapshot
from aspen.runtime.one_time_queries import answer_name
from aspen.runtime.provenance_queries import NoSuchRow, UnknownView
from smartcis import composition
from smartcis.access.grants import Grant
from smartcis.catalog import CATALOG
from smartcis.compiling.live_catalog import relation_of
from smartcis.errors import Invalid, NotFound
from smartcis.models import MaintainedView

KEEP_S = 60.0
"""How long one look keeps a view: whoever polls finds it awake."""


class RowNotThere(NotFound, code="smartcis.why.not_there"):
    """A row that the view does not hold, or that is somebody else's."""


class CannotSay(AspenError, code="smartcis.why.cannot_say"):
    """The engine has the view but cannot answer."""


class NoAnswer(AspenError, code="smartcis.why.no_answer"):
    """The engine did not answer in time."""


@dataclass(frozen=True, slots=True)
class ProvenanceQuery:
    """What is asked of a view; see `aspen.log.entry.OneTimeQuery`."""

    kind: OneTimeKind
    row: Row = ()
    free: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()
    by: tuple[int, ...] = ()
    among: tuple[str, ...] = ()


def ask(granted: Grant, question: ProvenanceQuery) -> EpochSnapshot:
    """Appends a question to the log, and waits for its answer.

    Raises:
        RowNotThere: the view does not hold the row.
        NoAnswer: the engine did not answer in time.
        CannotSay: the view is in error, or the question cannot be answered.
    """
    name, q = secrets.token_hex(8), question
    now_s = time.time()
    entries: list[Entry] = [
        OneTimeQuery(
            now_s,
            name,
            granted.view,
            q.row,
            q.kind,
            q.free,
            q.changes,
            q.by,
            most_steps=settings.QUESTION_STEPS,
            most_ms=settings.QUESTION_MS,
            owner=granted.asker,
            among=q.among,
        )
    ]
    if granted.on_demand:
        # Whoever asks about a view looks at it.
        entries.insert(0, Interest(now_s, granted.view, f"ask-{name}", KEEP_S))
    # Straight to the log, like readings: a question goes with no change of the database, so there
    # is no commit it must not miss, and the outbox would still ask when nobody waits any more.
    composition.log().append(entries, key=f"ask:{name}")
    answer = wait(answer_name(name))
    if answer.error is not None:
        raise _refusal(answer.error)
    return answer


def wait(name: str) -> EpochSnapshot:
    """Returns the answer as soon as the epoch that brings it is written.

    Raises:
        NoAnswer: none came in time.
    """
    store, wait_s = composition.results(), settings.ANSWER_S
    answer = store.wait_until(lambda: store.snapshot(name), wait_s)
    if answer is None:
        raise NoAnswer(
            f"the engine did not answer within {wait_s:g} s",
            attempt="again in a few seconds",
        )
    return answer


def relation_asked(granted: Grant) -> Relation:
    """Returns the view in question as a relation."""
    return relation_of(MaintainedView.objects.get(name=granted.view))


def pattern(granted: Grant, known: Mapping[str, Value]) -> tuple[Row, tuple[int, ...]]:
    """Returns a row with the known values by column, and the indices of the columns left open.

    Raises:
        SchemaError: no such column, or a value of another type.
        RowNotThere: rows of that view have owners, and these are not the client's.
    """
    relation = relation_asked(granted)
    values: list[Value] = [None] * len(relation.columns)
    for name, value in known.items():
        index = relation.index(name)
        if value is not None:
            relation.columns[index].check(value)
        values[index] = value
    row = row_in(values)
    refuse_odd(row)
    refuse_others(granted, relation, row)
    return row, tuple(p for p, name in enumerate(relation.names) if name not in known)


def refuse_odd(row: Sequence[Value]) -> None:
    """Refuses numbers that no JSON can hold.

    Raises:
        Invalid: there is one.
    """
    if any(isinstance(value, float) and not math.isfinite(value) for value in row):
        raise Invalid("the row holds a number that is none", attempt="send finite numbers")


def refuse_others(granted: Grant, relation: Relation, row: Row) -> None:
    """Refuses rows that this client may not see.

    Raises:
        RowNotThere: as if they were not there: other visitors' walks do not exist for this one.
    """
    if not granted.may_see(relation.name, relation.names, row):
        raise RowNotThere(
            f"view {relation.name} has no such row now",
            exists=relation.names,
            attempt="take a row the view shows you",
        )


def named(granted: Grant, relation: str, text: str) -> tuple[dict[str, Any], bool]:
    """Returns a base row of an answer by column, and whether it is somebody else's.

    Args:
        text: a JSON array; empty for no row.
    """
    values = json.loads(text or "[]")
    names = CATALOG.get(relation).names if relation in CATALOG else ()
    if names and values and not granted.may_see(relation, names, row_in(values)):
        return {}, True
    names = (
        names if len(names) == len(values) else tuple(f"column_{n + 1}" for n in range(len(values)))
    )
    return dict(zip(names, values, strict=True)), False


def _refusal(fields: Mapping[str, Any]) -> AspenError:
    if fields["code"] in (NoSuchRow.code, UnknownView.code):
        return RowNotThere.of(fields)
    return CannotSay.because_of(fields)
