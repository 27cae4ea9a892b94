"""Which way an expression goes while a column it reads rises: the ground of sure ends."""

from __future__ import annotations

from aspen.algebra.expr import Call, Case, Col, Const, Expr, Op, columns_in, parts

UP = ("<", "<=")
DOWN = (">", ">=")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def strictly(expr: Expr, column: str, *, rising: bool) -> bool:
    """Whether an expression is a positive whole number above (below) what never falls under it."""
    match expr:
        case Op("+", inner, Const(value)) | Op("+", Const(value), inner) if rising:
            pass
        case Op("-", inner, Const(value)) if not rising:
            pass
        case _:
            return False
    return type(value) is int and value > 0 and moves(inner, column, rising=rising)


def beyond(predicate: Expr, other: str, column: str, *, rising: bool) -> bool:
    """Whether a predicate says that `other` is strictly above (rising) or below `column`."""
    match predicate:
        case Op("=", Col(name), expr) | Op("=", expr, Col(name)) if name == other:
            return strictly(expr, column, rising=rising)
        case Op(">" | "<" as symbol, Col(left), Col(right)):
            above, below = (left, right) if symbol == ">" else (right, left)
            return (above, below) == ((other, column) if rising else (column, other))
    return False


def side(expr: Expr, column: str) -> str:
    """Returns how an expression bounds a column: `<` from above, `>` from below, empty if neither.

    The column stands on one side, by itself or in what never falls while it rises (`w.cost + 1`).
    """
    match expr:
        case Op(symbol, left, right) if column not in columns_in(right) and _follows(left, column):
            return symbol
        case Op(symbol, left, right) if column not in columns_in(left) and _follows(right, column):
            return _FLIPPED.get(symbol, symbol)
    return ""


def _follows(expr: Expr, column: str) -> bool:
    return any(moves(expr, column, rising=rising) for rising in (True, False))


def moves(expr: Expr, column: str, *, rising: bool) -> bool:
    """Whether an expression is never below (rising) or never above the column it reads.

    It also never falls while the column rises: a better cost never gives a worse one.

    Columns other than `column` are taken to be non-negative, as lengths and costs are.
    """
    match expr:
        case Col(name):
            return name == column
        case Op("+", left, right) if rising:
            return (moves(left, column, rising=True) and _non_negative(right, column)) or (
                moves(right, column, rising=True) and _non_negative(left, column)
            )
        case Op("-", left, right) if not rising:
            return moves(left, column, rising=False) and _non_negative(right, column)
        case Call("greatest", arguments) if rising:
            return any(moves(argument, column, rising=True) for argument in arguments)
        case Call("least", arguments) if not rising:
            return any(moves(argument, column, rising=False) for argument in arguments)
        case Call("to_float", (inner,)):
            return moves(inner, column, rising=rising)
        case Case(branches, otherwise):
            results = [*(then for _, then in branches), otherwise]
            jumps = any(column in columns_in(when) for when, _ in branches)
            return not jumps and all(moves(result, column, rising=rising) for result in results)
        case _:
            return False


def _non_negative(expr: Expr, column: str) -> bool:
    if column in columns_in(expr):
        return False
    match expr:
        case Col():
            return True
        case Const(value):
            return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        case Op("+" | "*" | "/", left, right):
            return _non_negative(left, column) and _non_negative(right, column)
        case Call("abs" | "distance" | "sqrt"):
            return True
        case Call(
            "to_float"
            | "to_int"
            | "try_to_int"
            | "round"
            | "ceil"
            | "floor"
            | "greatest"
            | "coalesce"
        ):
            return all(_non_negative(part, column) for part in parts(expr))
        case Case(branches, otherwise):
            results = [*(then for _, then in branches), otherwise]
            return all(_non_negative(result, column) for result in results)
        case _:
            return False
