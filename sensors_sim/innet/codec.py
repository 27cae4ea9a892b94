"""Codec: programs as bytes, so that they fit a few frames.

    seat_reading where weight_kg >= 5.0, every 30 s, whole rows

    flags period   1 input: stream, predicate     outputs
    01    b0 ea 01 01       00 01 25 10 00 02 …   04 …

Law: `decode(encode(p)) == p`, with the same streams and dictionary at both ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from aspen.algebra.block import column_name, column_of
from aspen.algebra.expr import OPERATORS, Call, Case, Col, Const, Expr, IsNull, Not, Op, parts
from aspen.algebra.functions import FUNCTIONS
from aspen.algebra.plan import AggregateFunction
from sensors_sim.errors import BadMessage
from sensors_sim.innet.program import (
    Method,
    MoteProgram,
    PartialAggregate,
    ProgramOutput,
    StreamInput,
)
from sensors_sim.innet.values import (
    DOUBLE,
    Dictionary,
    ValueReader,
    Wire,
    WireType,
    Writer,
    scaled,
    shortest_decimals,
    unscaled,
)

_COL, _TEXT, _INT, _NULL, _TRUE, _FALSE, _FLOAT, _DOUBLE, _NOT, _IS_NULL, _CASE, _CALL = range(12)
_OP = 32  # and above: the operators in their order
_GROUPED = 1
_AGGREGATES = tuple(AggregateFunction)
_FUNCTIONS = tuple(sorted(FUNCTIONS))


def encode(program: MoteProgram, streams: Sequence[str], dictionary: Dictionary) -> bytes:
    """Write a program.

    Args:
        streams: all device streams of the field, in an order both ends know.
    """
    out = Writer(dictionary)
    out.byte(_GROUPED * program.grouped | program.method.value << 1)
    out.count(program.period_ms, program.slots, program.bloom_bits, len(program.inputs))
    for one in program.inputs:
        out.count(streams.index(one.stream))
        _put_optional(out, one.predicate)
    out.count(len(program.outputs))
    for output in program.outputs:
        _put(out, output.value)
        _put_wire(out, output.wire)
    out.count(len(program.aggregates))
    for aggregate in program.aggregates:
        out.byte(_AGGREGATES.index(aggregate.function))
        _put_optional(out, aggregate.argument)
        _put_wire(out, aggregate.wire)
    if len(program.inputs) > 1:
        _put_optional(out, program.paired)
        _put_optional(out, program.joined)
        out.count(len(program.equal), *chain.from_iterable(program.equal))
    return bytes(out.data)


def decode(data: bytes, streams: Sequence[str], dictionary: Dictionary) -> MoteProgram:
    """Read a program back.

    Raises:
        BadMessage: cut short, or no program.
    """
    source = ValueReader(data, dictionary)
    try:
        flags = source.byte()
        period_ms, slots, bloom_bits = source.count(), source.count(), source.count()
        inputs = tuple(
            StreamInput(streams[source.count()], _take_optional(source))
            for _ in range(source.count())
        )
        outputs = tuple(
            ProgramOutput(_take(source), _take_wire(source)) for _ in range(source.count())
        )
        aggregates = tuple(
            PartialAggregate(_AGGREGATES[source.byte()], _take_optional(source), _take_wire(source))
            for _ in range(source.count())
        )
        paired = joined = None
        equal: tuple[tuple[int, int, int, int], ...] = ()
        if len(inputs) > 1:
            paired, joined = _take_optional(source), _take_optional(source)
            equal = tuple(
                (source.count(), source.count(), source.count(), source.count())
                for _ in range(source.count())
            )
    except (IndexError, ValueError) as fault:
        raise BadMessage(f"not a program: {fault}", found=data.hex()) from fault
    return MoteProgram(
        inputs,
        outputs,
        period_ms,
        grouped=bool(flags & _GROUPED),
        aggregates=aggregates,
        paired=paired,
        joined=joined,
        equal=equal,
        method=Method(flags >> 1),
        bloom_bits=bloom_bits,
        slots=slots,
    )


def _put_wire(out: Writer, wire: Wire) -> None:
    out.byte(wire.type.value | wire.nullable << 3 | wire.decimals << 4)


def _take_wire(source: ValueReader) -> Wire:
    byte = source.byte()
    return Wire(WireType(byte & 7), byte >> 4, bool(byte >> 3 & 1))


def _put_optional(out: Writer, expr: Expr | None) -> None:
    out.byte(expr is not None)
    if expr is not None:
        _put(out, expr)


def _take_optional(source: ValueReader) -> Expr | None:
    return _take(source) if source.byte() else None


def _put(out: Writer, expr: Expr) -> None:
    """Write an expression: its code, what it is called or how many it has, and its parts."""
    match expr:
        case Col(name):
            out.byte(_COL)
            out.count(*column_of(name))
        case Const(value):
            _put_const(out, value)
        case Op(symbol):
            out.byte(_OP + OPERATORS.index(symbol))
        case Not():
            out.byte(_NOT)
        case IsNull():
            out.byte(_IS_NULL)
        case Call(function, arguments):
            out.byte(_CALL)
            out.count(_FUNCTIONS.index(function), len(arguments))
        case Case(branches):
            out.byte(_CASE)
            out.count(len(branches))
    for one in parts(expr):
        _put(out, one)


def _put_const(out: Writer, value: str | float | bool | None) -> None:  # noqa: FBT001  # a value
    match value:
        case None:
            out.byte(_NULL)
        case bool():
            out.byte(_TRUE if value else _FALSE)
        case str():
            out.byte(_TEXT)
            out.text(value)
        case int():
            out.byte(_INT)
            out.whole(value)
        case float():
            decimals = shortest_decimals(value)
            if decimals == DOUBLE or str(value) == "-0.0":
                out.byte(_DOUBLE)
                out.double(value)
            else:
                out.byte(_FLOAT)
                out.byte(decimals)
                out.whole(scaled(value, decimals))


def _take(source: ValueReader) -> Expr:
    code = source.byte()
    match code:
        case 0:
            return Col(column_name(source.count(), source.count()))
        case 1:
            return Const(source.text())
        case 2:
            return Const(source.whole())
        case 3:
            return Const(None)
        case 4 | 5:
            return Const(code == _TRUE)
        case 6:
            decimals = source.byte()
            return Const(unscaled(source.whole(), decimals))
        case 7:
            return Const(source.double())
        case 8:
            return Not(_take(source))
        case 9:
            return IsNull(_take(source))
        case 10:
            branches = tuple((_take(source), _take(source)) for _ in range(source.count()))
            return Case(branches, _take(source))
        case 11:
            function = _FUNCTIONS[source.count()]
            return Call(function, tuple(_take(source) for _ in range(source.count())))
        case _:
            return Op(OPERATORS[code - _OP], _take(source), _take(source))
