"""DECIMAL inside a query: one in other units, what two types share, and rows kept and taken.

A kept row has the text '12.50', which `taken` turns into 1250 above each relation that is read;
`kept` turns it back above the whole query.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aspen.algebra.expr import Call, Col, Const, Expr
from aspen.algebra.plan import Plan, Project, Values
from aspen.model.decimals import MOST_DIGITS, rescaled, text_of, units_of
from aspen.model.schema import Column, Type


def digits(kind: Type) -> tuple[int, int]:
    """Returns how many digits a DECIMAL or an INT has, and how many behind the point."""
    return kind.digits or (MOST_DIGITS, 0)


def shared(left: Type, right: Type) -> Type:
    """Returns the DECIMAL that two types share, one of which is DECIMAL and the other no FLOAT."""
    (p, s), (q, t) = digits(left), digits(right)
    scale = max(s, t)
    return Type.decimal(min(max(p - s, q - t) + scale, MOST_DIGITS), scale)


def converted(expr: Expr, source: Type, target: Type) -> Expr:
    """Returns a DECIMAL as another or as a FLOAT, or an INT as a DECIMAL.

    Args:
        target: FLOAT, or a DECIMAL; rows whose number it does not hold are out of range.
    """
    if target is Type.FLOAT:
        return call_of("decimal_float", expr, digits(source)[1])
    (p, s), (q, t) = digits(source), digits(target)
    made = scaled(expr, s, t)
    known = isinstance(made, Const) and isinstance(made.value, int)
    if p - s <= q - t or (known and abs(made.value) < 10**q):  # type: ignore[union-attr,arg-type]
        return made
    return call_of("decimal_within", made, q, t)


def text(expr: Expr, kind: Type | None) -> Expr:
    """Returns the text of a value, given its type."""
    if kind is not None and kind.digits is not None:
        return call_of("decimal_text", expr, kind.digits[1])
    return Call("to_text", (expr,))


def kept(plan: Plan) -> Plan:
    """Returns a query's rows as they are kept and shown.

    Law: `taken(kept(p))` has the rows of p.
    """
    if all(column.type.digits is None for column in plan.columns):
        return plan
    if isinstance(plan, Values):
        rows = (
            tuple(_const(value, c.type) for value, c in zip(row, plan.columns, strict=True))
            for row in plan.rows
        )
        return replace(plan, rows=tuple(rows))
    outputs = (
        (c, text(Col(c.name), c.type) if c.type.digits else Col(c.name)) for c in plan.columns
    )
    return Project(plan, tuple(outputs))


def taken(plan: Plan) -> Plan:
    """Returns kept rows as a query computes with them."""
    within = inside(plan.columns)
    if not within:
        return plan
    return Project(plan, tuple((c, within.get(c.name, Col(c.name))) for c in plan.columns))


def inside(columns: Iterable[Column]) -> dict[str, Expr]:
    """Returns what kept rows' decimals are inside a query, by the names of their columns."""
    return {
        column.name: call_of("decimal_units", Col(column.name), column.type.digits[1])
        for column in columns
        if column.type.digits is not None
    }


def _const(value: Const, kind: Type) -> Const:
    if kind.digits is None or not isinstance(value.value, int):
        return value
    return Const(text_of(value.value, kind.digits[1]))


def scaled(expr: Expr, old: int, new: int) -> Expr:
    """Returns the same number with more or fewer digits behind the point, without a limit."""
    if isinstance(expr, Const) and isinstance(expr.value, int):
        return Const(rescaled(expr.value, old, new))
    return expr if old == new else call_of("decimal_scaled", expr, old, new)


def call_of(name: str, expr: Expr, *numbers: int) -> Expr:
    """Returns a function's call for a value and some whole numbers."""
    return Call(name, (expr, *map(Const, numbers)))


def widest(old: tuple[Column, ...], new: tuple[Column, ...]) -> tuple[Column, ...]:
    """Returns columns where a DECIMAL that grew has all the digits there are, to grow no more."""
    return tuple(
        replace(column, type=Type.decimal(MOST_DIGITS, column.type.digits[1]))
        if column.type.digits is not None and column.type is not before.type
        else column
        for before, column in zip(old, new, strict=True)
    )


def read(written: str) -> tuple[Const, Type] | None:
    """Returns a number as it is written, and its type; None for what is no DECIMAL."""
    whole, _, behind = written.strip().lstrip("+-").partition(".")
    count = len(whole.lstrip("0") + behind)
    units = units_of(written, len(behind)) if (whole + behind).isdecimal() else None
    if units is None or count > MOST_DIGITS:
        return None
    return Const(units), Type.decimal(max(count, 1), len(behind))
