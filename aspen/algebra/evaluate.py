"""Expression → Python function over the row tuple.

The expression is written out as straight-line Python, one statement per operator, and compiled
once: no tree is walked per row. Every operand is computed, which is sound since every operator
gives a value: null in gives null out, and division by zero or a FLOAT that is not finite gives
null. A whole number beyond 64 bits alone is an error. So what may give one is computed last, and
only where it is read: behind the other conditions, in the branch of a CASE that is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, cast

from aspen.algebra.expr import (
    Call,
    Case,
    Col,
    Const,
    Expr,
    ExprError,
    IsNull,
    Not,
    Op,
    Outer,
    conjuncts,
    parts,
)
from aspen.algebra.functions import FUNCTIONS, quotient
from aspen.algebra.whole import refuse
from aspen.model.schema import INT_LEAST, INT_MOST, Column, Row, Value

_CACHED = 4096
_WIDENING = frozenset(
    {
        *("+", "-", "*", "abs", "ceil", "decimal_ceil", "decimal_floor", "decimal_within"),
        *("floor", "list_sum", "quotient", "to_int", "trunc"),
    }
)
"""What may give a whole number beyond 64 bits, or a decimal of too many digits."""
_PYTHON = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def compile_expr(expr: Expr, columns: Sequence[Column]) -> Callable[[Row], Value]:
    """Returns the function that computes `expr` from a row.

    Args:
        expr: over the names in `columns`.
        columns: of the rows the function will get, in row order.

    Raises:
        ExprError: a column or function that does not exist.
    """
    return _value(expr, tuple(column.name for column in columns))


def compile_predicate(expr: Expr, columns: Sequence[Column]) -> Callable[[Row], bool]:
    """Returns the function that says whether `expr` is true (not false, not null) of a row.

    It stops at the first conjunct that is not true.
    """
    return _predicate(expr, tuple(column.name for column in columns))


def may_fail(expr: Expr) -> bool:
    """Whether an expression may give a whole number beyond 64 bits, as far as its form says."""
    waiting = [expr]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Op | Call) and _named(one) in _WIDENING:
            return True
        waiting += parts(one)
    return False


def _named(expr: Op | Call) -> str:
    return expr.symbol if isinstance(expr, Op) else expr.function


def compile_row(exprs: Sequence[Expr], columns: Sequence[Column]) -> Callable[[Row], Row]:
    """Returns the function that computes a whole output row, as a Project needs it."""
    return _row(tuple(exprs), tuple(column.name for column in columns))


@lru_cache(maxsize=_CACHED)
def _value(expr: Expr, names: tuple[str, ...]) -> Callable[[Row], Value]:
    writer = _Writer(names)
    writer.lines.append(f"return {writer.operand(expr)}")
    return cast("Callable[[Row], Value]", writer.function())


@lru_cache(maxsize=_CACHED)
def _predicate(expr: Expr, names: tuple[str, ...]) -> Callable[[Row], bool]:
    writer = _Writer(names)
    for part in sorted(conjuncts(expr), key=may_fail):
        writer.lines.append(f"if {writer.operand(part)} is not True: return False")
    writer.lines.append("return True")
    return cast("Callable[[Row], bool]", writer.function())


@lru_cache(maxsize=_CACHED)
def _row(exprs: tuple[Expr, ...], names: tuple[str, ...]) -> Callable[[Row], Row]:
    writer = _Writer(names)
    values = [writer.operand(expr) for expr in exprs]
    writer.lines.append(f"return ({''.join(value + ', ' for value in values)})")
    return cast("Callable[[Row], Row]", writer.function())


class _Writer:
    """Writes the body of one function, a statement at a time."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.lines: list[str] = []
        self._scope: dict[str, Any] = {
            "divide": _divide,
            "remainder": _remainder,
            "refuse": refuse,
        }
        self._done: dict[Expr, str] = {}

    def function(self) -> Callable[[Row], Any]:
        """Compile what was written."""
        body = "\n    ".join(line for block in self.lines for line in block.split("\n"))
        source = f"def computed(row):\n    {body}\n"
        # The source holds only operators, row indices and generated names: no text of the user.
        exec(compile(source, "<aspen expression>", "exec"), self._scope)  # noqa: S102
        return cast("Callable[[Row], Any]", self._scope["computed"])

    def operand(self, expr: Expr) -> str:
        """Write what computes `expr`, once, and give the name that holds its value."""
        if expr not in self._done:
            self._done[expr] = self._write(expr)
        return self._done[expr]

    def _write(self, expr: Expr) -> str:
        match expr:
            case Col(name):
                if name not in self.names:
                    raise ExprError(f"no column {name!r}", found=name, exists=self.names)
                return self._set(f"row[{self.names.index(name)}]")
            case Outer(name):
                raise ExprError("a row around is read outside an Apply", found=name)
            case Const(value):
                return self._constant(value)
            case Not(inner):
                held = self.operand(inner)
                return self._set(f"None if {held} is None else not {held}")
            case IsNull(inner):
                return self._set(f"{self.operand(inner)} is None")
            case Op(symbol, left, right):
                return self._operator(symbol, left, right)
            case Call("coalesce", (first, *others)) if any(map(may_fail, others)):
                return self._first(first, others)
            case Call(function, arguments):
                return self._call(function, [self.operand(argument) for argument in arguments])
            case Case(branches, otherwise):
                return self._case(branches, otherwise)

    def _name(self) -> str:
        return f"v{len(self.lines)}"

    def _set(self, source: str) -> str:
        name = self._name()
        self.lines.append(f"{name} = {source}")
        return name

    def _constant(self, value: Value) -> str:
        if value is None or isinstance(value, bool):
            return repr(value)
        name = f"c{len(self._scope)}"
        self._scope[name] = value
        return name

    def _guard(self, held: Sequence[str]) -> str:
        # Constants other than NULL are never null.
        tests = [f"{name} is None" for name in dict.fromkeys(held) if name[0] in "vN"]
        return " or ".join(tests)

    def _later(self, expr: Expr) -> str:
        """Returns what gives a value that may not be needed, and then must not fail."""
        if expr in self._done or not may_fail(expr):
            return self.operand(expr)
        name = f"p{len(self._scope)}"
        self._scope[name] = _value(expr, self.names)
        return f"{name}(row)"

    def _first(self, first: Expr, others: Iterable[Expr]) -> str:
        held = [self.operand(first), *map(self._later, others)]
        name = self._set(held[0])
        self.lines += [f"if {name} is None: {name} = {one}" for one in held[1:]]
        return name

    def _lazily(self, symbol: str, one: str, other: str) -> str:
        """Write an AND or OR whose right side is computed where the left one does not decide."""
        decided = symbol == "OR"
        name = self._set(one)
        self.lines.append(
            f"if {name} is not {decided}:\n"
            f"    right = {other}\n"
            f"    {name} = {decided} if right is {decided} else"
            f" None if {name} is None or right is None else {not decided}"
        )
        return name

    def _operator(self, symbol: str, one: Expr, other: Expr) -> str:
        left = self.operand(one)
        if symbol in ("AND", "OR") and may_fail(other):
            return self._lazily(symbol, left, self._later(other))
        right = self.operand(other)
        if symbol == "AND":
            null = f"None if {left} is None or {right} is None else True"
            return self._set(f"False if {left} is False or {right} is False else {null}")
        if symbol == "OR":
            null = f"None if {left} is None or {right} is None else False"
            return self._set(f"True if {left} is True or {right} is True else {null}")
        guard = self._guard((left, right))
        if symbol in _PYTHON:
            test = f"{left} {_PYTHON[symbol]} {right}"
            return self._set(f"None if {guard} else {test}" if guard else test)
        if symbol in ("/", "%"):
            named = "divide" if symbol == "/" else "remainder"
            call = f"{named}({left}, {right})"
            return self._set(f"None if {guard} else {call}" if guard else call)
        name = self._name()
        self.lines.append(
            f"if {guard or 'False'}: {name} = None\n"
            f"else:\n"
            f"    try:\n"
            f"        {name} = {left} {symbol} {right}\n"
            f"        if {name}.__class__ is int:\n"
            f"            if not {INT_LEAST} <= {name} <= {INT_MOST}:"
            f" refuse({symbol!r}, {left}, {right})\n"
            # x - x is 0 for every number but infinity and nan.
            f"        elif {name} - {name} != 0: {name} = None\n"
            f"    except OverflowError: {name} = None"
        )
        return name

    def _call(self, function: str, held: list[str]) -> str:
        if function not in FUNCTIONS:
            raise ExprError(
                f"no function {function!r}", found=function, exists=tuple(sorted(FUNCTIONS))
            )
        known = FUNCTIONS[function]
        name = f"f_{function}"
        self._scope[name] = known.call
        call = f"{name}({', '.join(held)})"
        guard = self._guard(held) if known.strict else ""
        made = self._set(f"None if {guard} else {call}" if guard else call)
        if function in _WIDENING:
            self.lines.append(
                f"if {made}.__class__ is int and not {INT_LEAST} <= {made} <= {INT_MOST}:"
                f" refuse({function!r}, {', '.join(held)})"
            )
        return made

    def _case(self, branches: tuple[tuple[Expr, Expr], ...], otherwise: Expr) -> str:
        # Conditions behind the first are reached like branches are.
        whens = [
            self._later(when) if i else self.operand(when) for i, (when, _) in enumerate(branches)
        ]
        held = [(when, self._later(then)) for when, (_, then) in zip(whens, branches, strict=True)]
        default = self._later(otherwise)
        name = self._name()
        tests = [
            f"{'el' if i else ''}if {c} is True: {name} = {v}" for i, (c, v) in enumerate(held)
        ]
        tests.append(f"else: {name} = {default}" if held else f"{name} = {default}")
        self.lines.append("\n".join(tests))
        return name


def _divide(left: float, right: float) -> float | None:
    """Divide as FLOAT; null where there is no finite answer."""
    try:
        result = left / right
    except (ZeroDivisionError, OverflowError):
        return None
    return result if math.isfinite(result) else None


def _remainder(left: float, right: float) -> float | None:
    """Returns the remainder with the sign of the dividend, as SQL does."""
    if not right:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left - right * (quotient(left, right) or 0)
    try:
        return math.fmod(left, right)
    except (ValueError, OverflowError):
        return None
