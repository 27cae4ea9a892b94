"""Aggregates and what OVER computes in plan text: `s INT? = SUM(v) rows from -2 to 0`."""

from __future__ import annotations

from typing import Any

from aspen.algebra.expr import Const
from aspen.algebra.forms import COLUMN, NAME, Form, NodeField, flag, one_of, record
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    Exclusion,
    Frame,
    Framed,
    FrameUnit,
    OverFunction,
    Pick,
    PickFunction,
    Rank,
    RankFunction,
    SortKey,
)
from aspen.algebra.read_expr import Words, read_expr
from aspen.algebra.text import column_text, name_text, value_text
from aspen.model.schema import Column

SIGNED = Form(value_text, lambda words: -words.number() if words.take("-") else words.number())
SORT_KEY = record(
    SortKey,
    NodeField("column", NAME),
    flag("descending", "desc"),
    NodeField(
        "nulls_last", Form(lambda _: "last", lambda words: words.take("last")), "nulls", False
    ),
)


def _frame_unit(words: Words) -> FrameUnit:
    counted = (FrameUnit.ROWS, FrameUnit.GROUPS)
    return next((one for one in counted if words.take(one.value)), FrameUnit.RANGE)


_FRAME = record(
    Frame,
    NodeField("unit", Form(lambda one: "" if one is FrameUnit.RANGE else one.value, _frame_unit)),
    NodeField("start", SIGNED, "from", None),
    NodeField("end", SIGNED, "to", None),
    NodeField("without", one_of(Exclusion, "exclusion"), "without", Exclusion.NO_OTHERS),
)


def constant(words: Words) -> Any:
    """Reads a constant's value.

    Raises:
        PlanTextError: another expression.
    """
    value = read_expr(words)
    if not isinstance(value, Const):
        raise words.error("a constant stands here")
    return value.value


_CONSTANT = Form(value_text, constant)
_PICKED = (
    NodeField("offset", SIGNED, "by", 1),
    NodeField("default", _CONSTANT, "else", None),
    flag("ignores_nulls", "known"),
)


def aggregate_text(aggregate: Aggregate) -> str:
    """Writes an aggregate: `top INT? = ARG_MAX(node by load)`."""
    argument = "*" if aggregate.argument is None else name_text(aggregate.argument)
    distinct = "DISTINCT " if aggregate.distinct else ""
    order = "" if aggregate.order is None else f" by {SORT_KEY.write(aggregate.order)}"
    given = "" if aggregate.constant is None else f" with {value_text(aggregate.constant)}"
    inside = f"{distinct}{argument}{order}{given}"
    return f"{column_text(aggregate.output)} = {aggregate.function.value}({inside})"


def read_aggregate(words: Words) -> Aggregate:
    """Reads an aggregate."""
    output = COLUMN.read(words)
    words.expect("=")
    return _aggregate(words, output, _function(words, AggregateFunction))


def over_text(function: OverFunction) -> str:
    """Writes one function of an Over."""
    match function:
        case Rank(rank, output, parts):
            inside = str(parts) if rank is RankFunction.NTILE else ""
            return f"{column_text(output)} = {rank.value}({inside})"
        case Pick(pick, argument, output, frame):
            more = "".join(field.text(function) for field in _PICKED)
            inside = f"{name_text(argument)}{more}"
            return f"{column_text(output)} = {pick.value}({inside}){_frame_text(frame)}"
        case Framed(aggregate, frame):
            return f"{aggregate_text(aggregate)}{_frame_text(frame)}"


def read_over(words: Words) -> OverFunction:
    """Reads one function of an Over."""
    output = COLUMN.read(words)
    words.expect("=")
    function = _function(words, RankFunction, PickFunction, AggregateFunction)
    if isinstance(function, AggregateFunction):
        return Framed(_aggregate(words, output, function), _FRAME.read(words))
    words.expect("(")
    if isinstance(function, RankFunction):
        parts = int(words.number()) if function is RankFunction.NTILE else 1
        words.expect(")")
        return Rank(function, output, parts)
    argument = words.name()
    more = {field.name: field.read(words) for field in _PICKED}
    words.expect(")")
    return Pick(function, argument, output, _FRAME.read(words), **more)


def _frame_text(frame: Frame) -> str:
    said: str = _FRAME.write(frame)
    return f" {said}" if said else ""


def _function(words: Words, *kinds: type[Any]) -> Any:
    known = {one.value: one for kind in kinds for one in kind}
    spelling = words.name()
    if spelling not in known:
        words.back()
        raise words.error("no such function", exists=tuple(known))
    return known[spelling]


def _aggregate(words: Words, output: Column, function: AggregateFunction) -> Aggregate:
    words.expect("(")
    distinct = words.peek() == "DISTINCT" and words.peek(1) != ")" and words.take("DISTINCT")
    argument = None if words.take("*") else words.name()
    order = SORT_KEY.read(words) if words.take("by") else None
    given = constant(words) if words.take("with") else None
    words.expect(")")
    return Aggregate(function, argument, output, distinct, order, given)
