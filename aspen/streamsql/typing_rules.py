"""Types and units of operators and functions; every refusal names what would have fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from aspen import units
from aspen.algebra.expr import (
    COMPARISONS,
    Call,
    Case,
    Col,
    Const,
    Expr,
    Op,
    columns_in,
    outer_in,
)
from aspen.algebra.functions import FUNCTIONS, Function
from aspen.algebra.patterns import is_pattern
from aspen.algebra.plan import (
    AggregateFunction,
    Distinct,
    PickFunction,
    Plan,
    Project,
    RankFunction,
)
from aspen.errors import Position
from aspen.model.schema import Column, Type
from aspen.streamsql.errors import (
    TypeMismatch,
    UnionArity,
    UnitMismatch,
    UnknownFunction,
    WrongArity,
    nearest,
    suggestion,
)


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


_SHAPES = {"distance": "distance(x1, y1, x2, y2)", "round": "round(x) or round(x, digits)"}


def spelt(kind: Type | None) -> str:
    """Returns a type as the user writes it."""
    return "NULL" if kind is None else kind.value


def widened(expr: Expr, source: Type | None, target: Type | None) -> Expr:
    """Returns the expression as a FLOAT where an INT meets one."""
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
        return Type.FLOAT, True
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
            attempt="quote texts with '…', write numbers bare",
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
    if value.type is not None and value.type not in accepted:
        raise TypeMismatch(
            f"{where} takes {' or '.join(kind.value for kind in accepted)}",
            position=value.at,
            found=spelt(value.type),
            exists=[kind.value for kind in accepted],
            attempt=_remedy(value.type, accepted),
        )


def _remedy(found: Type, accepted: Sequence[Type]) -> str:
    if Type.BOOL in accepted:
        return "compare it with something"
    if Type.TEXT in accepted:
        return "CAST(… AS TEXT)"
    return "CAST(… AS FLOAT), or join texts with ||" if found is Type.TEXT else "use a number"


def operator(symbol: str, left: Typed, right: Typed, at: Position) -> Typed:
    """Type a binary operator."""
    if symbol in COMPARISONS:
        left, right = _as_number(left, right), _as_number(right, left)
    nullable = left.nullable or right.nullable
    expr = Op(symbol, left.expr, right.expr)
    if symbol in ("AND", "OR"):
        require(left, (Type.BOOL,), symbol)
        require(right, (Type.BOOL,), symbol)
        return Typed(expr, Type.BOOL, "", nullable, at)
    if symbol in COMPARISONS:
        kind, _ = meeting(left, right, "compare")
        if kind is Type.BOOL and symbol not in ("=", "<>"):
            raise TypeMismatch(
                f"truth values have no order for {symbol}",
                position=at,
                found="BOOL",
                exists=("=", "<>"),
                attempt="use the value itself, or NOT it",
            )
        return Typed(expr, Type.BOOL, "", nullable, at)
    for side in (left, right):
        require(side, (Type.INT, Type.FLOAT), symbol)
    if symbol in ("*", "/"):
        left, right = _scaled(left, right)
    if symbol == "/" and left.type is Type.INT and right.type is Type.INT:
        # Whole numbers divide to a whole number, as in SQLite, PostgreSQL and the SQL standard.
        unit = units.quotient(left.unit, right.unit)
        return Typed(Call("quotient", (left.expr, right.expr)), Type.INT, unit, True, at)
    if symbol in ("*", "/"):
        unit = (units.product if symbol == "*" else units.quotient)(left.unit, right.unit)
        kind = Type.FLOAT if symbol == "/" else meet(left.type, right.type)[0]
        return Typed(expr, kind, unit, nullable or symbol == "/", at)
    doing = {"+": "add", "-": "subtract", "%": "divide"}[symbol]
    kind, unit = meeting(left, right, doing)
    return Typed(expr, kind, unit, nullable or symbol == "%", at)


def _scaled(left: Typed, right: Typed) -> tuple[Typed, Typed]:
    """Takes the unit off what is multiplied with a written number: W / 1000 may be kW."""
    if _is_written(left) == _is_written(right):
        return left, right
    return replace(left, unit=""), replace(right, unit="")


def _is_written(value: Typed) -> bool:
    return not columns_in(value.expr) and not outer_in(value.expr)


def _as_number(value: Typed, other: Typed) -> Typed:
    """Read a quoted number as one where it meets a number, as SQL reads untyped literals."""
    if not (isinstance(value.expr, Const) and isinstance(value.expr.value, str)):
        return value
    if other.type is None or not other.type.numeric:
        return value
    try:
        number: int | float = int(value.expr.value)
    except ValueError:
        try:
            number = float(value.expr.value)
        except ValueError:
            return value
    if number - number:
        return value
    kind = Type.INT if isinstance(number, int) else Type.FLOAT
    return replace(value, expr=Const(number), type=kind)


def choice(branches: Sequence[tuple[Typed, Typed]], otherwise: Typed, at: Position) -> Typed:
    """Type a CASE: one type and unit for all its results."""
    for when, _ in branches:
        require(when, (Type.BOOL,), "WHEN")
    results = [*(then for _, then in branches), otherwise]
    shared = reduce(lambda one, other: _joined(one, other, "mix"), results)
    pairs = tuple((w.expr, widened(t.expr, t.type, shared.type)) for w, t in branches)
    default = widened(otherwise.expr, otherwise.type, shared.type)
    nullable = any(result.nullable for result in results)
    return Typed(Case(pairs, default), shared.type, shared.unit, nullable, at)


def _joined(one: Typed, other: Typed, doing: str) -> Typed:
    kind, unit = meeting(one, other, doing)
    return Typed(one.expr, kind, unit, one.nullable or other.nullable, other.at)


_SHOWN = 16
_CLOCKS = frozenset({"now", "current_time", "current_date", "current_timestamp", "getdate"})
_TIME = "the time is a row of the log: … JOIN clock c …, c.now_s"


def call(name: str, arguments: Sequence[Typed], at: Position) -> Typed:
    """Type a scalar function.

    Raises:
        UnknownFunction: no such function.
        WrongArity: too few or too many arguments.
    """
    known = FUNCTIONS.get(name)
    if known is None:
        names = (*FUNCTIONS, *(one.value.lower() for one in AggregateFunction))
        over = name.upper() in {*RankFunction.__members__, *PickFunction.__members__}
        behind = f"{name}(…) OVER (ORDER BY column)" if over else suggestion(name, names)
        raise UnknownFunction(
            f"{name} needs OVER" if over else f"there is no function {name!r}",
            position=at,
            found=name,
            exists=nearest(name, names)[:_SHOWN],
            attempt=_TIME if name in _CLOCKS else behind,
        )
    if len(arguments) < known.least or (known.most is not None and len(arguments) > known.most):
        raise WrongArity(
            f"{name} takes {_count(known)}, not {len(arguments)}",
            position=at,
            found=str(len(arguments)),
            exists=(_count(known),),
            attempt=_SHAPES.get(name, f"{name}(…) with {_count(known)}"),
        )
    if name in ("concat", "concat_ws"):
        arguments = [_as_text(argument) for argument in arguments]
    if name.startswith("regexp_"):
        _check_pattern(arguments[1])
    for i, argument in enumerate(arguments):
        accepts = known.each[min(i, len(known.each) - 1)] if known.each else known.accepts
        require(argument, sorted(accepts, key=lambda kind: kind.value), name)
    # The digits of round(x, digits) are a bare number.
    measured = arguments[:1] if name == "round" or known.each else arguments
    shared = reduce(lambda one, other: _joined(one, other, f"give {name}"), measured)
    nullable = any(argument.nullable for argument in arguments)
    if name == "coalesce":
        nullable = all(argument.nullable for argument in arguments)
    nullable = nullable or not known.total
    kind = known.result or shared.type
    # Functions that give their arguments' type must not let an INT out where FLOAT is promised.
    widen = known.result is None and name != "round"
    exprs = tuple(widened(a.expr, a.type, kind) if widen else a.expr for a in arguments)
    return Typed(Call(name, exprs), kind, shared.unit if known.keeps_unit else "", nullable, at)


def _check_pattern(given: Typed) -> None:
    pattern = given.expr.value if isinstance(given.expr, Const) else None
    if isinstance(pattern, str) and not is_pattern(pattern):
        raise TypeMismatch(
            "this text is no regular expression",
            position=given.at,
            found=pattern,
            exists=("RE2's syntax",),
            attempt=r"letters stand for themselves; \. for a full stop, [0-9]+ for digits",
        )


def _as_text(value: Typed) -> Typed:
    """Spell a value that is joined with texts."""
    if value.type in (None, Type.TEXT):
        return value
    return replace(value, expr=Call("to_text", (value.expr,)), type=Type.TEXT, unit="")


def _count(known: Function) -> str:
    if known.most is None:
        return f"at least {known.least} argument(s)"
    if known.least == known.most:
        return f"{known.least} argument(s)"
    return f"{known.least} to {known.most} arguments"
