"""Aggregates: which types each takes and gives, and how a call of one is bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from sqlglot import exp

from aspen import units
from aspen.algebra.array_functions import ARRAYS
from aspen.algebra.expr import Call as Computed
from aspen.algebra.expr import Case, Expr
from aspen.algebra.plan import Aggregate, AggregateFunction, SortKey
from aspen.errors import Position
from aspen.model.decimals import MOST_DIGITS
from aspen.model.schema import Column, Type, Value
from aspen.streamsql.bind_order import sort_key
from aspen.streamsql.decimals import digits, text
from aspen.streamsql.errors import TypeMismatch, WrongArity
from aspen.streamsql.positions import at
from aspen.streamsql.tree import FunctionCall, called_at, constant, unsupported
from aspen.streamsql.typing_decimals import as_float
from aspen.streamsql.typing_rules import Typed, is_decimal, require

_NUMBERS = (Type.INT, Type.FLOAT)
_EXACT = (*_NUMBERS, Type.DECIMAL)
_TRUTH = (Type.BOOL,)


class Second(Enum):
    """What a second argument is."""

    NONE = ""
    BY = ", by"
    NUMBER = ", x"
    FRACTION = ", 0.5"
    BETWEEN = ", ', '"
    ORDER = " ORDER BY x"


@dataclass(frozen=True, slots=True)
class Signature:
    """What an aggregate takes and gives.

    Args:
        accepts: types of its argument.
        result: the type given, None for the argument's.
        second: what its second argument is, if it takes one.
        unit: of the result, given those of its arguments.
        nullable: whether it may be null over values of which none is.
    """

    accepts: tuple[Type, ...] = tuple(Type)
    result: Type | None = None
    second: Second = Second.NONE
    unit: Callable[[str, str], str] = lambda unit, _: unit
    nullable: bool = False


def _of_pairs(unit: Callable[[str, str], str]) -> Signature:
    return Signature(_NUMBERS, Type.FLOAT, Second.NUMBER, unit, nullable=True)


def _square(unit: str, _: str) -> str:
    return units.product(unit, unit)


_BARE = _of_pairs(lambda *_: "")
_COVARIANCE = _of_pairs(units.product)
_F = AggregateFunction

SIGNATURES: Mapping[AggregateFunction, Signature] = {
    _F.SUM: Signature(_EXACT),
    _F.AVG: Signature(_EXACT, Type.FLOAT),
    _F.MIN: Signature(),
    _F.MAX: Signature(),
    _F.VAR_SAMP: Signature(_NUMBERS, Type.FLOAT, unit=_square, nullable=True),
    _F.VAR_POP: Signature(_NUMBERS, Type.FLOAT, unit=_square),
    _F.STDDEV_SAMP: Signature(_NUMBERS, Type.FLOAT, nullable=True),
    _F.STDDEV_POP: Signature(_NUMBERS, Type.FLOAT),
    _F.QUANTILE_CONT: Signature(_NUMBERS, Type.FLOAT, Second.FRACTION),
    _F.QUANTILE_DISC: Signature(second=Second.FRACTION),
    _F.MODE: Signature(),
    _F.BOOL_AND: Signature(_TRUTH),
    _F.BOOL_OR: Signature(_TRUTH),
    _F.ARG_MIN: Signature(second=Second.BY),
    _F.ARG_MAX: Signature(second=Second.BY),
    _F.ARRAY_AGG: Signature(tuple(ARRAYS), second=Second.ORDER),
    _F.STRING_AGG: Signature(result=Type.TEXT, second=Second.BETWEEN),
    _F.CORR: _BARE,
    _F.COVAR_POP: _COVARIANCE,
    _F.COVAR_SAMP: _COVARIANCE,
    _F.REGR_SLOPE: _of_pairs(units.quotient),
    _F.REGR_INTERCEPT: _of_pairs(lambda unit, _: unit),
    _F.REGR_R2: _BARE,
}
"""Of all but COUNT, which takes anything."""


def _check_arity(call: FunctionCall, function: AggregateFunction, here: Position) -> None:
    """Refuses a call with too few or too many arguments.

    Raises:
        WrongArity: with how the call is written.
    """
    second = Second.NONE if function is _F.COUNT else SIGNATURES[function].second
    most = 1 if second in (Second.NONE, Second.ORDER) else 2
    least = 1 if second is Second.BETWEEN else most
    if call.star and function is _F.COUNT:
        return
    if call.star or not least <= len(call.arguments) <= most:
        wanted = f"{most} argument(s)"
        given = "*" if call.star else f"{len(call.arguments)}"
        raise WrongArity(
            f"{function.value} takes {wanted}, not {given}",
            position=here,
            found=given,
            exists=(wanted,),
            attempt=f"{function.value}(column{second.value})",
        )


def _result_type(value: Typed, function: AggregateFunction) -> Type:
    """Returns the type of an aggregate of some values.

    Raises:
        TypeMismatch: values that the aggregate does not take.
    """
    signature = SIGNATURES[function]
    require(value, signature.accepts, function.value)
    if function is _F.SUM and is_decimal(value):
        return Type.decimal(MOST_DIGITS, digits(value.type or Type.INT)[1])
    return signature.result or value.type or signature.accepts[-1]


def _constant_of(call: FunctionCall, function: AggregateFunction) -> Value:
    """Returns the second argument where it is a constant: a fraction, or what stands between.

    Raises:
        TypeMismatch: none that fits.
    """
    second = SIGNATURES[function].second
    if second is Second.BETWEEN and len(call.arguments) == 1:
        return ","
    tree = call.arguments[1]
    found = constant(tree)
    value = None if found is None else found.value
    if second is Second.BETWEEN and isinstance(value, str):
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if second is Second.FRACTION and number and 0 <= value <= 1:  # type: ignore[operator]  # a number
        return float(value)  # type: ignore[arg-type]  # a number
    wanted = "a text in quotes" if second is Second.BETWEEN else "a number from 0 to 1"
    raise TypeMismatch(
        f"the second argument of {function.value} is {wanted}",
        position=at(tree),
        found=tree.sql() if isinstance(tree, exp.Literal) else type(tree).__name__.upper(),
        exists=(wanted,),
        attempt=f"{function.value}(column{second.value})",
    )


class Keep(Protocol):
    """Keeps a value as a column."""

    def __call__(self, value: Typed, word: str = "value") -> str:
        """Returns the name of the column that holds a value.

        Args:
            word: what a column made for it is called by.
        """
        ...


def bind_aggregate(
    call: FunctionCall,
    function: AggregateFunction,
    node: exp.Expr,
    bind: Callable[[exp.Expr], Typed],
    keep: Keep,
    *,
    may_be_empty: bool,
) -> Aggregate:
    """Binds a call of an aggregate; what its column is called is for who asks.

    Args:
        node: the call in the text.
        bind: binds its arguments.
        keep: keeps what it reads.
        may_be_empty: whether it may be over no rows.

    Raises:
        WrongArity: too few or too many arguments.
        TypeMismatch: an argument it does not take.
        Unsupported: an order where none counts.
    """
    _check_arity(call, function, called_at(node))
    if call.order and function not in (_F.ARRAY_AGG, _F.STRING_AGG):
        raise unsupported(f"ORDER BY inside {function.value}", node, "leave it out")
    if function is _F.COUNT:
        name = None if call.star else keep(bind(call.arguments[0]))
        return Aggregate(function, name, Column("made", Type.INT), call.distinct)
    signature = SIGNATURES[function]
    value = bind(call.arguments[0])
    value = as_float(value) if signature.accepts is _NUMBERS else value
    kind = _result_type(value, function)
    order, given, unit = None, None, ""
    match signature.second:
        case Second.BY | Second.NUMBER:
            by = bind(call.arguments[1])
            if signature.second is Second.NUMBER:
                by = as_float(by)
                require(by, _NUMBERS, function.value)
            order, unit = SortKey(keep(by, "by")), by.unit
        case Second.FRACTION:
            given = _constant_of(call, function)
        case Second.ORDER:
            order = _order_of(call, value, bind, keep)
        case Second.BETWEEN:
            order, given = _order_of(call, value, bind, keep), _constant_of(call, function)
            if value.type is not Type.TEXT:
                value = replace(value, expr=text(value.expr, value.type), type=Type.TEXT)
    nullable = value.nullable or may_be_empty or signature.nullable
    made = Column("made", kind, signature.unit(value.unit, unit), nullable)
    return Aggregate(function, keep(value), made, call.distinct, order, given)


def _order_of(
    call: FunctionCall, value: Typed, bind: Callable[[exp.Expr], Typed], keep: Keep
) -> SortKey:
    """Returns what STRING_AGG and ARRAY_AGG sort by: the values, if nothing is said."""
    if not call.order:
        return SortKey(keep(value, "by"))
    if len(call.order) > 1:
        raise unsupported("several keys in an aggregate's ORDER BY", call.order[1], "name one")
    (key,) = call.order
    by = bind(key.this if isinstance(key, exp.Ordered) else key)
    if call.distinct and by.expr not in (value.expr, _collected(value.expr)):
        raise unsupported("DISTINCT beside another ORDER BY", key, "sort by what is aggregated")
    return sort_key(keep(by, "by"), key)


def _collected(expr: Expr) -> Expr:
    """Returns what ARRAY_AGG collects, of the array of one value that it is given."""
    match expr:
        case Case(((_, then),)):
            return _collected(then)
        case Computed("list_value", (one,)):
            return one
    return expr
