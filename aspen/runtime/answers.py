"""Answers: what was found, as the rows of a transient view; one shape per kind of question."""

from __future__ import annotations

import json
from collections.abc import Iterable

from aspen.log.entry import OneTimeKind, OneTimeQuery
from aspen.model.delta import Delta
from aspen.model.schema import Row, columns_of
from aspen.results.wire import encode_row
from aspen.runtime.provenance_queries import ProvenanceQueries
from aspen.views.pattern import Pattern, pattern
from aspen.views.repair import Edit, Open, WhyNot
from aspen.views.weak_points import WeakPoints
from aspen.views.why import Why

WHY = columns_of("set INT, relation TEXT, row TEXT, necessary BOOL, complete BOOL")
"""One row per base row of a minimal set, sets counted from 1; `row` is a JSON array. `complete`
says whether all sets are given. No rows at all: the asked row rests on given facts alone."""

WHY_NOT = columns_of(
    "set INT, action TEXT, relation TEXT, before TEXT, after TEXT, example TEXT, "
    "conditions TEXT, complete BOOL"
)
"""One row per edit of a repair, repairs counted from 1. `before`, `after` and `example` are JSON
arrays, empty where there is no such row; an open value in `after` is {"open": its name}.
`conditions` is a JSON array of predicates on open values. A lone row 0: no repair was found."""

WHAT_IF = columns_of("weight INT, row TEXT")
"""One row per row that would come (weight above 0) or go (below); `row` is a JSON array."""

WEAK_POINTS = columns_of("place INT, relation TEXT, row TEXT, lost INT, total INT, complete BOOL")
"""One row per base row, places counted from 1, most lost first. A lone place 0: there is none."""

COLUMNS = {
    OneTimeKind.WHY: WHY,
    OneTimeKind.WHY_NOT: WHY_NOT,
    OneTimeKind.WHAT_IF: WHAT_IF,
    OneTimeKind.WEAK_POINTS: WEAK_POINTS,
}


def answer_rows(questions: ProvenanceQueries, ask: OneTimeQuery) -> Delta:
    """Answer a question.

    Raises:
        AspenError: what keeps it from being answered.
    """
    match ask.kind:
        case OneTimeKind.WHY:
            return _why(questions.why(ask.view, ask.row))
        case OneTimeKind.WHY_NOT:
            return _why_not(questions.why_not(ask.view, _wanted(ask)))
        case OneTimeKind.WHAT_IF:
            delta = questions.what_if(ask.view, ask.changes, _wanted(ask))
            return {(weight, encode_row(row)): 1 for row, weight in delta.items()}
        case OneTimeKind.WEAK_POINTS:
            return _weak_points(questions.weak_points(ask.view, _wanted(ask), ask.by, ask.among))
        case OneTimeKind.ONCE:
            raise AssertionError(ask)  # pragma: no cover - answered as such


def _wanted(ask: OneTimeQuery) -> Pattern:
    return pattern(ask.row, ask.free)


def _why(found: Why) -> Delta:
    # Sorted: the order of equally small sets depends on how the circuits came to be.
    sets = sorted(
        (
            sorted((relation, encode_row(row)) for relation, row in members)
            for members in found.sets
        ),
        key=lambda members: (len(members), members),
    )
    needed = {(relation, encode_row(row)) for relation, row in found.necessary}
    return {
        (number, *base, base in needed, found.complete): 1
        for number, members in enumerate(sets, start=1)
        for base in members
    }


def _why_not(found: WhyNot) -> Delta:
    if not found.repairs:
        return {(0, "", "", "", "", "", "[]", found.complete): 1}
    return {
        _edit(number, edit, repair.conditions, complete=found.complete): 1
        for number, repair in enumerate(found.repairs, start=1)
        for edit in repair.edits
    }


def _edit(number: int, edit: Edit, conditions: Iterable[str], *, complete: bool) -> Row:
    after = "" if edit.after is None else _compact([_shown(value) for value in edit.after])
    return (
        number,
        edit.action,
        edit.relation,
        "" if edit.before is None else encode_row(edit.before),
        after,
        "" if edit.example is None else encode_row(edit.example),
        _compact(list(conditions)),
        complete,
    )


def _shown(value: object) -> object:
    return {"open": value.name} if isinstance(value, Open) else value


def _compact(values: list[object] | list[str]) -> str:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _weak_points(found: WeakPoints) -> Delta:
    if not found.points:
        return {(0, "", "", 0, found.total, found.complete): 1}
    return {
        (
            place,
            point.base[0],
            encode_row(point.base[1]),
            point.lost,
            found.total,
            found.complete,
        ): 1
        for place, point in enumerate(found.points, start=1)
    }
