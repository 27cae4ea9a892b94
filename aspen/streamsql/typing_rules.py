"""Types and units of operators and functions; every refusal names what would have fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from aspen import units
from aspen.algebra.expr import (
    Call,
    Case,
    Col,
    Const,
    Expr,
)
from aspen.algebra.plan import (
    Distinct,
    Plan,
    Project,
)
from aspen.errors import Position
from aspen.model.schema import TIMES_WRITTEN, Column, Type
from aspen.model.times import READERS
from aspen.streamsql.decimals import converted, read, shared
from aspen.streamsql.errors import (
    TypeMismatch,
    UnionArity,
    UnitMismatch,
)
from aspen.streamsql.sql_types import CASTS


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression with what is known of its value.

    Args:
        type: None for a bare NULL, which fits every type.
        unit: empty when the value says nothing of it.
        nullable: whether it may be null.
        at: where the user wrote it.
    """

    expr: Expr
    type: Type | None
    unit: str
    nullable: bool
    at: Position


_MOST_WRITTEN = 15
"""A FLOAT has so many digits for sure."""
DAYS = (Type.DATE, Type.TIMESTAMP, Type.TIMESTAMPTZ)
"""The times that have a date; each widens to those behind it, with clocks in UTC."""


def spelt(kind: Type | None) -> str:
    """Returns a type as the user writes it."""
    return "NULL" if kind is None else kind.value


def widened(expr: Expr, source: Type | None, target: Type | None) -> Expr:
    """Returns a number as the one it meets, an INT as a FLOAT, say; a date as a timestamp."""
    if source in DAYS and target in DAYS and source is not target:
        return Call(CASTS[target], (expr,))
    if source is None or target is None or source is target:
        return expr
    if source.digits or target.digits:
        return converted(expr, source, target)
    if source is Type.INT and target is Type.FLOAT:
        if isinstance(expr, Const) and isinstance(expr.value, int):
            return Const(float(expr.value))
        return Call("to_float", (expr,))
    return expr


def relabelled(plan: Plan, columns: tuple[Column, ...]) -> Plan:
    """Returns a plan with its columns renamed and widened by index, where they differ."""
    if plan.columns == columns:
        return plan
    if isinstance(plan, Project):
        child, values = plan.child, [expr for _, expr in plan.outputs]
    else:
        child, values = plan, [Col(column.name) for column in plan.columns]
    outputs = (
        (wanted, widened(value, column.type, wanted.type))
        for column, value, wanted in zip(plan.columns, values, columns, strict=True)
    )
    return Project(child, tuple(outputs))


def known_type(plan: Plan, index: int) -> Type | None:
    """Returns the type of a plan's column, None where it is a bare NULL."""
    made = plan.child if isinstance(plan, Distinct) else plan
    if isinstance(made, Project) and made.outputs[index][1] == Const(None):
        return None
    return plan.columns[index].type


def meet(left: Type | None, right: Type | None) -> tuple[Type | None, bool]:
    """Returns the type two types share, and whether they share one."""
    if left is None or right is None or left is right:
        return left or right, True
    if left.numeric and right.numeric:
        return Type.FLOAT if Type.FLOAT in (left, right) else shared(left, right), True
    if left in DAYS and right in DAYS:
        return max(left, right, key=DAYS.index), True
    return None, False


def meeting(one: Typed, other: Typed, doing: str) -> tuple[Type | None, str]:
    """Returns the type and unit two values share.

    Args:
        doing: what brings them together, for the message: `compare`, `add`.

    Raises:
        TypeMismatch: text and number, say.
        UnitMismatch: kg and °C, say.
    """
    kind, fits = meet(one.type, other.type)
    if not fits:
        raise TypeMismatch(
            f"cannot {doing} {spelt(one.type)} and {spelt(other.type)}",
            position=other.at,
            found=spelt(other.type),
            exists=(spelt(one.type),),
            attempt=_meeting_place(one.type, other.type),
        )
    unit = units.common(one.unit, other.unit)
    if unit is None:
        raise UnitMismatch(
            f"cannot {doing} {one.unit} and {other.unit}",
            position=other.at,
            found=other.unit,
            exists=(one.unit,),
            attempt=f"use a column in {one.unit}, or divide by a quantity in {other.unit}",
        )
    return kind, unit


def unified(left: Plan, right: Plan, at: Position, word: str = "UNION") -> tuple[Column, ...]:
    """Returns the columns two queries share, named by the left one.

    Args:
        word: what combines them.

    Raises:
        UnionArity: different numbers of columns.
        TypeMismatch: types that do not meet.
        UnitMismatch: units that do not.
    """
    if len(left.columns) != len(right.columns):
        raise UnionArity(
            f"one side has {len(left.columns)} columns, the other {len(right.columns)}",
            position=at,
            found=", ".join(column.name for column in right.columns),
            exists=[column.name for column in left.columns],
            attempt="select the same columns on both sides",
        )
    columns: list[Column] = []
    for i, (one, other) in enumerate(zip(left.columns, right.columns, strict=True)):
        kind, fits = meet(known_type(left, i), known_type(right, i))
        if not fits:
            raise TypeMismatch(
                f"column {one.name!r} is {spelt(one.type)} on one side of {word}"
                f" and {spelt(other.type)} on the other",
                position=at,
                found=spelt(other.type),
                exists=(spelt(one.type),),
                attempt="CAST one side",
            )
        unit = units.common(one.unit, other.unit)
        if unit is None:
            raise UnitMismatch(
                f"column {one.name!r} is in {one.unit} on one side of {word}"
                f" and in {other.unit} on the other",
                position=at,
                found=other.unit,
                exists=(one.unit,),
                attempt="name the quantity in a column of its own and the other NULL",
            )
        nullable = one.nullable or other.nullable
        columns.append(Column(one.name, kind or Type.TEXT, unit, nullable))
    return tuple(columns)


def require(value: Typed, accepted: Sequence[Type], where: str) -> None:
    """Refuse a value of another type.

    Raises:
        TypeMismatch: not among `accepted`.
    """
    if value.type is not None and value.type.family not in accepted:
        raise TypeMismatch(
            f"{where} takes {' or '.join(kind.word for kind in accepted)}",
            position=value.at,
            found=spelt(value.type),
            exists=[kind.word for kind in accepted],
            attempt=_remedy(value.type, accepted),
        )


def _meeting_place(one: Type | None, other: Type | None) -> str:
    for kind, met in ((one, other), (other, one)):
        if kind is not None and kind.is_time and met is not None:
            return "to_timestamp(seconds)" if met.numeric else f"CAST(… AS {kind.value})"
    return "quote texts with '…', write numbers bare"


def _remedy(found: Type, accepted: Sequence[Type]) -> str:
    if found.is_time:
        if any(kind.is_time for kind in accepted):
            return "a TIMESTAMP has both, a date and a time"
        return "CAST(… AS TEXT)" if Type.TEXT in accepted else "epoch(time) gives seconds"
    if found is Type.TEXT and any(kind.is_time for kind in accepted):
        return "CAST(… AS TIMESTAMP)"
    if found.numeric and any(kind.is_time for kind in accepted):
        return "to_timestamp(seconds)"
    if Type.BOOL in accepted and len(accepted) == 1:
        return "compare it with something"
    if Type.TEXT in accepted:
        return "CAST(… AS TEXT)"
    return "CAST(… AS FLOAT), or join texts with ||" if found is Type.TEXT else "use a number"


def as_time(value: Typed, other: Typed) -> Typed:
    """Read a quoted text as a time where it meets one.

    Raises:
        TypeMismatch: the text is no such time.
    """
    kind = other.type
    if kind is None or not kind.is_time or value.type is not Type.TEXT:
        return value
    if not (isinstance(value.expr, Const) and isinstance(value.expr.value, str)):
        return value
    found = READERS[kind.value](value.expr.value)
    if found is None:
        raise TypeMismatch(
            f"this text is no {kind.value}",
            position=value.at,
            found=value.expr.value,
            exists=(TIMES_WRITTEN[kind],),
            attempt=f"write it as in {kind.value} '{TIMES_WRITTEN[kind]}'",
        )
    return replace(value, expr=Const(found), type=kind)


def is_decimal(value: Typed) -> bool:
    """Whether a value is a DECIMAL."""
    return value.type is not None and value.type.digits is not None


def beside_decimals(values: Sequence[Typed]) -> list[Typed]:
    """Returns values with numbers that are written beside a DECIMAL as the DECIMAL they are."""
    return list(map(_as_written, values)) if any(map(is_decimal, values)) else list(values)


def _as_written(value: Typed) -> Typed:
    if isinstance(value.expr, Const) and value.type in (Type.INT, Type.FLOAT) and not value.unit:
        written = repr(value.expr.value)
        found = read(written) if len(written.strip("-")) <= _MOST_WRITTEN + 1 else None
        if found is not None:
            return replace(value, expr=found[0], type=found[1])
    return value


def choice(branches: Sequence[tuple[Typed, Typed]], otherwise: Typed, at: Position) -> Typed:
    """Type a CASE: one type and unit for all its results."""
    for when, _ in branches:
        require(when, (Type.BOOL,), "WHEN")
    results = beside_decimals([*(then for _, then in branches), otherwise])
    branches = [(when, then) for (when, _), then in zip(branches, results, strict=False)]
    otherwise = results[-1]
    moment = next((one for one in results if one.type is not None and one.type.is_time), None)
    if moment is not None:
        branches = [(when, as_time(then, moment)) for when, then in branches]
        otherwise = as_time(otherwise, moment)
        results = [*(then for _, then in branches), otherwise]
    shared = reduce(lambda one, other: joined(one, other, "mix"), results)
    pairs = tuple((w.expr, widened(t.expr, t.type, shared.type)) for w, t in branches)
    default = widened(otherwise.expr, otherwise.type, shared.type)
    nullable = any(result.nullable for result in results)
    return Typed(Case(pairs, default), shared.type, shared.unit, nullable, at)


def joined(one: Typed, other: Typed, doing: str) -> Typed:
    """Returns what is known of a value that is one or the other; raises as `meeting`."""
    kind, unit = meeting(one, other, doing)
    return Typed(one.expr, kind, unit, one.nullable or other.nullable, other.at)
