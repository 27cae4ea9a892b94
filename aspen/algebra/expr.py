"""Expressions: what a plan node computes over one row.

Null follows SQL: an operator with a null operand gives null; a filter keeps a row only when its
predicate is true.
"""

from __future__ import annotations

from dataclasses import dataclass

from aspen.model.schema import Value


@dataclass(frozen=True, slots=True)
class Col:
    """The value of a column of the row, by its name in the child plan (`m.mid`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Const:
    """A literal."""

    value: Value


@dataclass(frozen=True, slots=True)
class Op:
    """A binary operator.

    Args:
        symbol: one of `= <> < <= > >= + - * / % AND OR`.
    """

    symbol: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Not:
    """Logical negation."""

    inner: Expr


@dataclass(frozen=True, slots=True)
class IsNull:
    """True when the inner value is null."""

    inner: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function from `aspen.algebra.functions`, e.g. `distance(x1, y1, x2, y2)`."""

    function: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """`CASE WHEN … THEN … ELSE … END`."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr


Expr = Col | Const | Op | Not | IsNull | Call | Case

OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "AND", "OR")
