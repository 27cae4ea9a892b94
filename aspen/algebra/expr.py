"""Expressions: what a plan node computes over one row.

Null follows SQL: an operator with a null operand gives null; a filter keeps a row only when its
predicate is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from aspen.effort import spend
from aspen.errors import AspenError
from aspen.model.arrays import Array
from aspen.model.schema import Value

OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "AND", "OR")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_LONG_CHAIN = 32


class ExprError(AspenError, code="aspen.algebra.expr"):
    """An expression that makes no sense."""


@dataclass(frozen=True, slots=True)
class Col:
    """The value of a column of the row, by its name in the child plan (`m.mid`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Outer:
    """The value of a column of a row around: of the left row of an Apply, read on its right."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A literal; 1, 1.0 and TRUE are three different ones."""

    value: Value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Const)
            and type(self.value) is type(other.value)
            and self.value == other.value
            and (not isinstance(self.value, Array) or repr(self.value) == repr(other.value))
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Op:
    """A binary operator.

    Args:
        symbol: one of `= <> < <= > >= + - * / % AND OR`.
    """

    symbol: str
    left: Expr
    right: Expr

    def __post_init__(self) -> None:
        if self.symbol not in OPERATORS:
            raise ExprError("no such operator", found=self.symbol, exists=OPERATORS)


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


Expr = Col | Outer | Const | Op | Not | IsNull | Call | Case

TRUE = Const(True)


def parts(expr: Expr) -> tuple[Expr, ...]:
    """Returns an expression's operands, left to right."""
    match expr:
        case Col() | Outer() | Const():
            return ()
        case Op(_, left, right):
            return (left, right)
        case Not(inner) | IsNull(inner):
            return (inner,)
        case Call(_, arguments):
            return arguments
        case Case(branches, otherwise):
            return (*(part for branch in branches for part in branch), otherwise)


def with_parts(expr: Expr, new: Iterable[Expr]) -> Expr:
    """Returns the same expression over other operands.

    Law: `with_parts(e, parts(e)) == e`.
    """
    operands = tuple(new)
    spend(1, "an expression")
    match expr:
        case Col() | Outer() | Const():
            return expr
        case Op(symbol):
            return Op(symbol, *operands)
        case Not():
            return Not(*operands)
        case IsNull():
            return IsNull(*operands)
        case Call(function):
            return Call(function, operands)
        case Case():
            pairs = zip(operands[:-1:2], operands[1:-1:2], strict=True)
            return Case(tuple(pairs), operands[-1])


def leaves(expr: Expr | None) -> Iterator[Expr]:
    """Returns the columns and constants of an expression, as often as they stand there."""
    if expr is None:
        return
    operands = parts(expr)
    if not operands:
        yield expr
    for part in operands:
        yield from leaves(part)


def map_leaves(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Returns an expression with its columns and constants changed."""
    operands = parts(expr)
    return with_parts(expr, (map_leaves(p, change) for p in operands)) if operands else change(expr)


def columns_in(expr: Expr | None) -> frozenset[str]:
    """Returns the names of the columns an expression reads."""
    # The innermost loop of planning; `leaves` would take twice as long.
    if expr is None:
        return frozenset()
    if isinstance(expr, Col):
        return frozenset((expr.name,))
    return frozenset[str]().union(*map(columns_in, parts(expr)))


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Replace columns by expressions; columns without a value stay."""
    if isinstance(expr, Col):
        return values.get(expr.name, expr)
    return with_parts(expr, (substitute(part, values) for part in parts(expr)))


def outer_in(expr: Expr | None) -> frozenset[str]:
    """Returns the names of the columns of rows around that an expression reads."""
    return frozenset(leaf.name for leaf in leaves(expr) if isinstance(leaf, Outer))


def as_outer(expr: Expr) -> Expr:
    """Returns an expression over a row as a plan computed for that row reads it."""
    return map_leaves(expr, lambda leaf: Outer(leaf.name) if isinstance(leaf, Col) else leaf)


def as_own(expr: Expr, names: frozenset[str]) -> Expr:
    """Returns an expression where some columns of the rows around stand beside its own.

    Law: `as_own(as_outer(e), columns_in(e)) == e`.
    """

    def own(leaf: Expr) -> Expr:
        return Col(leaf.name) if isinstance(leaf, Outer) and leaf.name in names else leaf

    return map_leaves(expr, own)


def conjuncts(predicate: Expr | None) -> Iterator[Expr]:
    """Returns the parts a predicate's ANDs join, left to right; none for None."""
    if isinstance(predicate, Op) and predicate.symbol == "AND":
        yield from conjuncts(predicate.left)
        yield from conjuncts(predicate.right)
    elif predicate is not None:
        yield predicate


def conjunction(predicates: Iterable[Expr]) -> Expr | None:
    """Join predicates by AND, None when there are none."""
    found = list(predicates)
    return chain("AND", found) if found else None


def chain(symbol: str, operands: Sequence[Expr]) -> Expr:
    """Join operands by an associative operator, from the left.

    Long chains are built as balanced trees: every walk over an expression is recursive.
    """
    if len(operands) > _LONG_CHAIN:
        middle = len(operands) // 2
        return Op(symbol, chain(symbol, operands[:middle]), chain(symbol, operands[middle:]))
    return reduce(lambda left, right: Op(symbol, left, right), operands)
