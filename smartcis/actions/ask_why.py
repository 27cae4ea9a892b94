"""Ask why: what a row of a maintained view rests on, by the engine's own word."""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aspen.errors import AspenError
from aspen.log.entry import Ask
from aspen.model.schema import Row, Value
from aspen.results import EpochsForgotten
from aspen.results.protocol import Snapshot
from aspen.runtime.asks import NoSuchRow, UnknownView, answer_name
from smartcis import composition
from smartcis.actions.catalog import relation_of
from smartcis.actions.errors import Invalid, NotFound
from smartcis.catalog import CATALOG, TENANT_COLUMN
from smartcis.live.access import Grant
from smartcis.models import MaintainedView

WAIT_S = 3.0


class NotThere(NotFound):
    """A row that the view does not hold, or that is somebody else's."""

    code = "smartcis.why.not_there"


class CannotSay(AspenError):
    """The engine has the view but cannot answer."""

    code = "smartcis.why.cannot_say"


class NoAnswer(AspenError):
    """The engine did not answer in time."""

    code = "smartcis.why.no_answer"


@dataclass(frozen=True, slots=True)
class Fact:
    """A base row that an answer rests on.

    Args:
        relation: the base relation.
        row: column name → value; empty when the row is somebody else's.
        necessary: without it the answer is gone.
        hidden: the row is somebody else's.
    """

    relation: str
    row: Mapping[str, Value]
    necessary: bool
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Reasons:
    """What a row rests on, as of one log position.

    Args:
        sets: each set suffices; smallest first. One empty set: the row rests on given facts alone.
        complete: all minimal sets are listed; otherwise one that suffices.
    """

    view: str
    row: Row
    sets: tuple[tuple[Fact, ...], ...]
    complete: bool
    epoch: int
    at_s: float


def ask_why(granted: Grant, row: Sequence[Value], *, wait_s: float = WAIT_S) -> Reasons:
    """Ask the engine why a row is in a view, and wait for the answer.

    Args:
        granted: the view, and whose rows may be seen of it.
        row: values in the order of the view's columns.
        wait_s: how long to wait.

    Raises:
        SchemaError: the row has another shape than the view's.
        NotThere: the view does not hold the row, or not for this client.
        NoAnswer: the engine did not answer in time.
        CannotSay: the view is in error.
    """
    asked = tuple(row)
    _check(granted, asked)
    ask = secrets.token_hex(8)
    # Straight to the log, like readings: a question goes with no change of the database, so there
    # is no commit it must not miss, and the outbox would still ask when nobody waits any more.
    composition.log().append([Ask(time.time(), ask, granted.view, asked)], key=f"ask:{ask}")
    answer = _wait(answer_name(ask), wait_s)
    if answer.error is not None:
        raise _refusal(answer.error)
    return Reasons(
        granted.view,
        asked,
        _sets(answer, granted),
        all(bool(row[4]) for row in answer.rows),
        answer.epoch,
        answer.at_s,
    )


def _check(granted: Grant, row: Row) -> None:
    """Refuse a row that cannot be there, or that this client may not see."""
    relation = relation_of(MaintainedView.objects.get(name=granted.view))
    relation.check(row)
    if any(isinstance(value, float) and not math.isfinite(value) for value in row):
        raise Invalid("the row holds a number that is none", attempt="send finite numbers")
    if granted.allowed is None or TENANT_COLUMN not in relation.names:
        return
    if row[relation.names.index(TENANT_COLUMN)] not in granted.allowed:
        # As a row that is not there: other visitors' walks do not exist for this one.
        raise NotThere(
            f"view {granted.view} has no such row now",
            exists=relation.names,
            attempt="take a row the view shows you",
        )


def _wait(name: str, wait_s: float) -> Snapshot:
    """Give the answer as soon as the epoch that brings it is written."""
    store = composition.results()
    until_s = time.monotonic() + wait_s
    while True:
        head = store.head()[0]
        answer = store.snapshot(name)
        left_s = until_s - time.monotonic()
        if answer is not None:
            return answer
        if left_s <= 0:
            raise NoAnswer(
                f"the engine did not answer within {wait_s:g} s",
                attempt="again in a few seconds; /api/v1/status/ says how the engine is",
            )
        with suppress(EpochsForgotten):  # another engine began meanwhile: look again
            next(store.epochs_since(head, left_s), None)


def _refusal(fields: Mapping[str, Any]) -> AspenError:
    kind = NotThere if fields["code"] in (NoSuchRow.code, UnknownView.code) else CannotSay
    return kind(
        fields["message"],
        found=fields["found"],
        exists=fields["exists"],
        attempt=fields["try"],
    )


def _sets(answer: Snapshot, granted: Grant) -> tuple[tuple[Fact, ...], ...]:
    sets: dict[int, list[Fact]] = {}
    for number, relation, text, necessary, _ in sorted(answer.rows, key=repr):
        fact = _fact(str(relation), json.loads(str(text)), granted, necessary=bool(necessary))
        sets.setdefault(int(number or 0), []).append(fact)
    return tuple(tuple(sets[number]) for number in sorted(sets)) or ((),)


def _fact(name: str, values: list[Value], granted: Grant, *, necessary: bool) -> Fact:
    names = CATALOG.get(name).names if name in CATALOG else ()
    if granted.allowed is not None and TENANT_COLUMN in names:
        # Two visitors at one kiosk share the walks from there: a reason may be the other's wish.
        owner = values[names.index(TENANT_COLUMN)]
        if owner not in granted.allowed:
            return Fact(name, {}, necessary, hidden=True)
    named = names or tuple(f"column_{n}" for n in range(1, len(values) + 1))
    return Fact(name, dict(zip(named, values, strict=True)), necessary)
