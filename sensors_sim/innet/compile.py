"""Compile: plan nodes over device streams → the program motes run and what the base finishes.

    Project(Filter(GroupBy(Filter(Scan))))     finish ┆ program
    └───── base ──────────┘└──── motes ────┘          ┆

Law: what the base finishes from the program's rows of one epoch equals the plan's answer over
the samples of that epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aspen.algebra.block import NotABlock, column_of
from aspen.algebra.device_block import DeviceBlock, device_block
from aspen.algebra.explain import node_text
from aspen.algebra.expr import Call, Col, Expr, conjunction, parts
from aspen.algebra.plan import MERGEABLE, AggregateFunction, Filter, GroupBy, Plan, Project
from aspen.model.schema import Column, Row, Type
from aspen.motes.protocol import BLOOM_BITS_PER_KEY
from sensors_sim.errors import UnsupportedFragment
from sensors_sim.innet.expressions import compile_predicate, compile_row
from sensors_sim.innet.program import (
    Method,
    MoteProgram,
    PartialAggregate,
    ProgramOutput,
    StreamInput,
    input_columns,
)
from sensors_sim.innet.values import Wire, WireType
from sensors_sim.motes import DeviceStream

Streams = Mapping[str, DeviceStream]
Finish = Callable[[Iterable[Row]], list[Row]]
MILLISECONDS = 3
WIRE_TYPES = dict.fromkeys(Type, WireType.TEXT) | {
    Type.INT: WireType.INT,
    Type.FLOAT: WireType.DOUBLE,
    Type.BOOL: WireType.BOOL,
}
COUNT_WIRE = Wire(WireType.INT)


@dataclass(frozen=True, slots=True)
class Fragment:
    """What shall run in the network.

    Args:
        plan: over device streams; in-network joins are the Joins in it.
        period_s: between two epochs; None to report whenever a device measures.
        method: how a join is computed.
        keys: distinct join values expected, for the size of a Bloom filter.
        shares: part of each input's rows expected to pass its own selection, 0 to 1, in the order
            of the join's inputs; all of them if empty.
        joined_share: part of the groups expected to join once all their rows have passed.
    """

    plan: Plan
    period_s: float | None = None
    method: Method = Method.PAIRWISE
    keys: int = 32
    shares: tuple[float, ...] = ()
    joined_share: float = 1.0


@dataclass(frozen=True)
class CompiledFragment:
    """A fragment ready to be sent.

    Args:
        finish: turns the program's rows of one epoch into the answer's.
    """

    program: MoteProgram
    finish: Finish


def compile_fragment(fragment: Fragment, streams: Streams) -> CompiledFragment:
    """Compile a fragment.

    Raises:
        UnsupportedFragment: a node or expression motes do not run, named.
    """
    block = _block(fragment.plan, streams)
    program = (
        _rows(block, streams, fragment.method)
        if block.grouping is None
        else _grouped(block, block.grouping, streams)
    )
    period_ms = 0 if fragment.period_s is None else round(fragment.period_s * 1000)
    if period_ms == 0 and (program.grouped or program.joins):
        raise UnsupportedFragment(
            "aggregates and joins are computed epoch by epoch",
            attempt="give the fragment a sampling period",
        )
    bits = 8 * max(1, -(-fragment.keys * BLOOM_BITS_PER_KEY // 8))
    bloom = bits if program.method is Method.BLOOM else 0
    return CompiledFragment(
        replace(program, period_ms=period_ms, bloom_bits=bloom),
        _finisher(block.above),
    )


def _block(plan: Plan, streams: Streams) -> DeviceBlock:
    def lasts(name: str, column: str) -> bool:
        return name in streams and column in streams[name].fixed

    try:
        block = device_block(plan, lasts)
    except NotABlock as fault:
        raise UnsupportedFragment(
            f"motes hold no {type(fault.node).__name__}",
            found=node_text(fault.node),
            exists=("Scan", "Filter", "Project", "GroupBy", "Join"),
        ) from fault
    for scan in block.scans:
        stream = streams.get(scan.relation)
        if stream is None:
            raise UnsupportedFragment(
                "no mote measures this", found=scan.relation, exists=sorted(streams)
            )
        names = tuple(column.name.rpartition(".")[2] for column in scan.columns)
        if names != stream.relation.names:
            raise UnsupportedFragment(
                f"a scan reads all columns of {scan.relation}",
                found=", ".join(names),
                exists=stream.relation.names,
            )
    for own in block.own:
        _check_simple(own)
    return block


def _inputs(block: DeviceBlock) -> tuple[StreamInput, ...]:
    return tuple(
        StreamInput(scan.relation, conjunction(own))
        for scan, own in zip(block.scans, block.own, strict=True)
    )


def _outputs(block: DeviceBlock, streams: Streams) -> tuple[ProgramOutput, ...]:
    return tuple(
        _output(value, column, block, streams)
        for value, column in zip(block.outputs, block.columns, strict=True)
    )


def _grouped(block: DeviceBlock, node: GroupBy, streams: Streams) -> MoteProgram:
    if len(block.scans) > 1:
        raise UnsupportedFragment(
            "aggregates over an in-network join belong to the engine", found=node_text(node)
        )
    types = {column.name: column for column in node.child.columns}
    outputs = _outputs(block, streams)
    found = []
    for one, value in zip(node.aggregates, block.arguments, strict=True):
        if one.distinct:
            raise UnsupportedFragment("COUNT DISTINCT keeps every value: not in the tree")
        if one.function not in MERGEABLE:
            raise UnsupportedFragment(f"{one.function.value} keeps every value: not in the tree")
        if one.argument is None or value is None:
            found.append(PartialAggregate(one.function, None, COUNT_WIRE))
            continue
        argument = _output(value, types[one.argument], block, streams)
        if one.function is not AggregateFunction.COUNT and not types[one.argument].type.numeric:
            raise UnsupportedFragment(
                f"motes compute {one.function.value} of numbers only", found=one.argument
            )
        found.append(PartialAggregate(one.function, argument.value, argument.wire))
    _check_simple([*(one.value for one in outputs), *(a.argument for a in found if a.argument)])
    return MoteProgram(_inputs(block), outputs, grouped=True, aggregates=tuple(found))


def _rows(block: DeviceBlock, streams: Streams, method: Method) -> MoteProgram:
    outputs = _outputs(block, streams)
    alone = len(block.scans) == 1
    if alone:
        method = Method.BASE
    if alone or method is Method.PAIRWISE:
        _check_simple([*(one.value for one in outputs), *block.joined])
    equal = tuple((*column_of(one), *column_of(other)) for one, other in block.equal)
    if not alone and not block.paired and not equal:
        raise UnsupportedFragment("a join without a condition is a product: not in the network")
    if method in (Method.SEMI, Method.BLOOM) and (len(block.scans) != 2 or not equal):  # noqa: PLR2004
        raise UnsupportedFragment(
            f"a {method.name.lower()}-join compares a column of one stream with one of another"
        )
    return MoteProgram(
        _inputs(block),
        outputs,
        paired=conjunction(block.paired),
        joined=conjunction(block.joined),
        equal=equal,
        method=method,
    )


def _output(value: Expr, column: Column, block: DeviceBlock, streams: Streams) -> ProgramOutput:
    if isinstance(value, Col):
        number, index = column_of(value.name)
        return ProgramOutput(value, column_wire(streams[block.scans[number].relation], index))
    return ProgramOutput(value, Wire(WIRE_TYPES[column.type], nullable=True))


def column_wire(stream: DeviceStream, index: int) -> Wire:
    """Returns how a column of a stream travels."""
    column = stream.relation.columns[index]
    if column.type is Type.FLOAT and column.name == stream.time:
        return Wire(WireType.SCALED, MILLISECONDS)
    if column.type is Type.FLOAT and column.name in stream.decimals:
        return Wire(WireType.SCALED, stream.decimals[column.name], column.nullable)
    return Wire(WIRE_TYPES[column.type], nullable=column.nullable)


def _check_simple(exprs: Iterable[Expr]) -> None:
    for one in exprs:
        if isinstance(one, Call):
            raise UnsupportedFragment(
                "motes compute comparisons and plain arithmetic, no functions", found=one.function
            )
        _check_simple(parts(one))


def _finisher(above: Sequence[Filter | Project]) -> Finish:
    steps: list[tuple[bool, Callable[[Row], Any]]] = [
        (True, compile_predicate(node.predicate, node.child.columns))
        if isinstance(node, Filter)
        else (False, compile_row([expr for _, expr in node.outputs], node.child.columns))
        for node in reversed(above)
    ]

    def finish(rows: Iterable[Row]) -> list[Row]:
        found = list(rows)
        for keeps, step in steps:
            found = [row for row in found if step(row)] if keeps else [step(row) for row in found]
        return found

    return finish


def columns_of(program: MoteProgram, streams: Streams) -> tuple[Column, ...]:
    """Returns all inputs' columns, in the order expressions are evaluated over."""
    return tuple(
        column
        for number, one in enumerate(program.inputs)
        for column in input_columns(number, streams[one.stream])
    )
