"""Expressions that make no new values for ever, however often they take their own results.

CASE WHEN e.src = r.node THEN e.dst ELSE r.node END     one of the values there are
r.n % 7,  r.n IN (1, 2, 3),  e.len > r.n                one of finitely many, whatever is read
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.algebra.expr import Call, Case, Col, Const, Expr, Op, columns_in
from aspen.model.schema import Type

_CHOOSE = frozenset({"coalesce", "greatest", "least"})
_SETTLE = frozenset({"abs", "ceil", "floor", "lower", "ltrim", "round", "rtrim", "trim", "trunc"})
"""Functions that change nothing the second time."""


def chooses(expr: Expr) -> bool:
    """Whether a value is one of those it reads, or of finitely many made of each.

    Law: closed under such expressions, finitely many values stay finitely many.
    """
    match expr:
        case Col() | Const():
            return True
        case Case(branches, otherwise):
            return all(chooses(then) for _, then in branches) and chooses(otherwise)
        case Call(function, arguments) if function in _CHOOSE:
            return all(map(chooses, arguments))
        case Call(function, (inner,)) if function in {*_SETTLE, "to_float"}:
            return chooses(inner)
    return False


def is_one_of_few(expr: Expr, kind: Type) -> bool:
    """Whether an expression has finitely many values, whatever it reads.

    Args:
        kind: its type.
    """
    if kind is Type.BOOL:
        return True
    match expr:
        case Const():
            return True
        case Op("%", _, Const(value)):
            return kind is Type.INT and isinstance(value, int)
        case Call("sign" | "part"):
            return True
        case Case(branches, otherwise):
            results = [*(then for _, then in branches), otherwise]
            return all(is_one_of_few(result, kind) for result in results)
    return False


def is_listed(predicates: Iterable[Expr], column: str, kind: Type) -> bool:
    """Whether conditions leave a column finitely many values: equal to some, or whole and between.

    Args:
        predicates: all of which hold.
        kind: the column's type.
    """
    sides = {symbol for one in predicates for symbol in _bounds(one, column)}
    return "=" in sides or (kind is Type.INT and {"<", ">"} <= sides)


def _bounds(predicate: Expr, column: str) -> frozenset[str]:
    """Returns on which sides a condition bounds a column by constants."""
    match predicate:
        case Op("OR", left, right):
            return _bounds(left, column) & _bounds(right, column)
        case Op("AND", left, right):
            return _bounds(left, column) | _bounds(right, column)
        case Op(symbol, Col(name), bound) if name == column and not columns_in(bound):
            return frozenset(symbol[:1]) if symbol != "<>" else frozenset()
        case Op(symbol, bound, Col(name)) if name == column and not columns_in(bound):
            turned = {"<": ">", ">": "<", "=": "="}
            return frozenset(turned.get(symbol[:1], "")) if symbol != "<>" else frozenset()
    return frozenset()


def is_capped(expr: Expr, *, rising: bool) -> Expr | None:
    """Returns what a constant caps: `LEAST(w.n + 1, 10)` rises no further than 10."""
    name = "least" if rising else "greatest"
    match expr:
        case Call(function, (inner, Const())) | Call(function, (Const(), inner)) if (
            function == name
        ):
            return inner
    return None


def is_bound(predicate: Expr, computed: Expr, allowed: tuple[str, ...]) -> bool:
    """Whether a condition holds what is computed below or above a constant.

    Args:
        allowed: the comparisons that do.
    """
    match predicate:
        case Op(symbol, left, right) if left == computed and not columns_in(right):
            return symbol in allowed
        case Op(symbol, left, right) if right == computed and not columns_in(left):
            return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(symbol) in allowed
    return False
