"""UNION ALL in a recursion: every way to a row is a row.

A recursion is a set. So a row carries a fingerprint of the rows it was derived from, which no query
sees: rows that are alike and were derived in two ways are two.

    base   main                 main·a
    step   ups, of main         ups·f(a, main → ups)
           pdu, of ups          pdu·f(f(a, main → ups), ups → pdu)
           pdu, of main         pdu·f(a, main → pdu)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aspen.algebra.expr import Call, Col, Expr
from aspen.algebra.plan import (
    WAY,
    Apply,
    ApplyKind,
    Filter,
    Fixpoint,
    Join,
    Over,
    Plan,
    Project,
    Rank,
    RankFunction,
    RecursiveRef,
    children,
)
from aspen.algebra.renaming import as_they_are
from aspen.model.schema import Column, Type


@dataclass(frozen=True, slots=True)
class _Told:
    """A plan, and the columns that tell its rows apart."""

    plan: Plan
    by: tuple[str, ...]


def base_by_way(base: Plan, numbers: Iterator[int]) -> Plan:
    """Returns what a recursion begins with, each row with a fingerprint of its own."""
    return _fingerprinted(_numbered(base, numbers), as_they_are(base.columns))


def step_by_way(step: Plan, numbers: Iterator[int]) -> Plan | None:
    """Returns a step whose rows carry a fingerprint of what they were derived from.

    Returns:
        None where it reads the recursion twice, or through more than joins and conditions.

    Law: without the fingerprints, the rows SQL gives, each as often.
    Source: own.
    """
    if _readings(step) != 1:
        return None
    below, outputs = step, as_they_are(step.columns)
    if isinstance(step, Project):  # which computes what rows below it already tell
        below, outputs = step.child, step.outputs
    told = _told(below, numbers)
    return None if told is None else _fingerprinted(told, outputs)


def _readings(plan: Plan) -> int:
    if isinstance(plan, Fixpoint):
        return 0
    return isinstance(plan, RecursiveRef) + sum(map(_readings, children(plan)))


def _fingerprinted(told: _Told, outputs: tuple[tuple[Column, Expr], ...]) -> Plan:
    """Returns columns of a plan, and one that tells its rows apart."""
    way: Expr = Call("fingerprint", tuple(map(Col, told.by)))
    return Project(told.plan, (*outputs, (Column(WAY, Type.TEXT), way)))


def _numbered(plan: Plan, numbers: Iterator[int]) -> _Told:
    """Tells rows apart by their values, and equal ones by a number."""
    names = tuple(column.name for column in plan.columns)
    number = Column(f"way_{next(numbers)}.number", Type.INT)
    functions = (Rank(RankFunction.ROW_NUMBER, number),)
    return _Told(Over(plan, functions, names), (*names, number.name))


def _told(plan: Plan, numbers: Iterator[int]) -> _Told | None:
    """Returns a part of a step whose rows can be told apart, None where that is not known."""
    if not _readings(plan):
        return _numbered(plan, numbers)
    match plan:
        case RecursiveRef(name, alias, columns):
            way = Column(f"{alias}.{WAY}", Type.TEXT)
            return _Told(RecursiveRef(name, alias, (*columns, way)), (way.name,))
        case Project(child, outputs):
            told = _told(child, numbers)
            if told is None:
                return None
            way = Column(f"way_{next(numbers)}.value", Type.TEXT)
            made: Expr = Call("fingerprint", tuple(map(Col, told.by)))
            return _Told(Project(told.plan, (*outputs, (way, made))), (way.name,))
        case Filter(child):
            told = _told(child, numbers)
            return told and replace(told, plan=replace(plan, child=told.plan))
        case Join(left, right):
            one, other = _told(left, numbers), _told(right, numbers)
            if one is None or other is None:
                return None
            return _Told(replace(plan, left=one.plan, right=other.plan), one.by + other.by)
        case Apply(left, right, kind) if kind is not ApplyKind.ROWS and not _readings(right):
            told = _told(left, numbers)
            return told and replace(told, plan=replace(plan, left=told.plan))
    return None
