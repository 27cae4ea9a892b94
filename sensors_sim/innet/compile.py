"""Compile: plan nodes over device streams → the program motes run and what the base finishes.

    Project(Filter(GroupBy(Filter(Scan))))     finish ┆ program
    └───── base ──────────┘└──── motes ────┘          ┆

Law: what the base finishes from the program's rows of one epoch equals the plan's answer over
the samples of that epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from aspen.algebra.evaluate import compile_predicate, compile_row
from aspen.algebra.explain import node_text
from aspen.algebra.expr import (
    Call,
    Col,
    Expr,
    Op,
    columns_in,
    conjunction,
    conjuncts,
    parts,
    substitute,
)
from aspen.algebra.plan import (
    AggregateFunction,
    Filter,
    GroupBy,
    Join,
    Plan,
    Project,
    Scan,
    Ship,
    Window,
)
from aspen.model.schema import Column, Row, Type
from sensors_sim.errors import UnsupportedFragment
from sensors_sim.innet.program import (
    Input,
    Method,
    Output,
    PartialAggregate,
    Program,
    input_columns,
    place_of,
)
from sensors_sim.innet.values import Wire, WireType
from sensors_sim.motes import DeviceStream

Streams = Mapping[str, DeviceStream]
Finish = Callable[[Iterable[Row]], list[Row]]
MILLISECONDS = 3
BITS_PER_KEY = 10  # a Bloom filter of ten bits per key errs in one of a hundred
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
class Compiled:
    """A fragment ready to be sent.

    Args:
        columns: of the answer.
        finish: turns the program's rows of one epoch into the answer's.
    """

    program: Program
    columns: tuple[Column, ...]
    finish: Finish


@dataclass(frozen=True)
class _Block:
    inputs: tuple[Input, ...]
    columns: Mapping[str, Expr]
    where: tuple[Expr, ...] = ()


def compile_fragment(fragment: Fragment, streams: Streams) -> Compiled:
    """Compile a fragment.

    Raises:
        UnsupportedFragment: a node or expression motes do not run, named.
    """
    above: list[Filter | Project] = []
    node = fragment.plan
    while isinstance(node, Filter | Project) and _groups_below(node):
        above.append(node)
        node = node.child
    if isinstance(node, GroupBy):
        program = _grouping(node, streams)
        finish = _finisher(above)
    else:
        node = fragment.plan
        program = _rows(node, streams, fragment.method)
        finish = list
    period_ms = 0 if fragment.period_s is None else round(fragment.period_s * 1000)
    if period_ms == 0 and (program.grouped or program.joins):
        raise UnsupportedFragment(
            "aggregates and joins are computed epoch by epoch",
            attempt="give the fragment a sampling period",
        )
    bits = 8 * max(1, -(-fragment.keys * BITS_PER_KEY // 8))
    bloom = bits if program.method is Method.BLOOM else 0
    return Compiled(
        replace(program, period_ms=period_ms, bloom_bits=bloom), fragment.plan.columns, finish
    )


def _groups_below(node: Plan) -> bool:
    while isinstance(node, Filter | Project):
        node = node.child
    return isinstance(node, GroupBy)


def _grouping(node: GroupBy, streams: Streams) -> Program:
    block = _block(node.child, streams, 0)
    if len(block.inputs) > 1:
        raise UnsupportedFragment(
            "aggregates over an in-network join belong to the engine", found=node_text(node)
        )
    types = {column.name: column for column in node.child.columns}
    outputs = tuple(
        _output(block.columns[key], types[key], block.inputs, streams) for key in node.keys
    )
    found = []
    for one in node.aggregates:
        if one.distinct:
            raise UnsupportedFragment("COUNT DISTINCT keeps every value: not in the tree")
        if one.argument is None:
            found.append(PartialAggregate(one.function, None, COUNT_WIRE))
            continue
        argument = _output(block.columns[one.argument], types[one.argument], block.inputs, streams)
        if one.function is not AggregateFunction.COUNT and not types[one.argument].type.numeric:
            raise UnsupportedFragment(
                f"motes compute {one.function.value} of numbers only", found=one.argument
            )
        found.append(PartialAggregate(one.function, argument.value, argument.wire))
    inputs, paired, joined, _ = _parted(block, streams)
    assert paired is None  # one input: every condition is its own
    assert joined is None
    _check_simple([*(one.value for one in outputs), *(a.argument for a in found if a.argument)])
    return Program(inputs, outputs, grouped=True, aggregates=tuple(found))


def _rows(plan: Plan, streams: Streams, method: Method) -> Program:
    block = _block(plan, streams, 0)
    outputs = tuple(
        _output(block.columns[column.name], column, block.inputs, streams)
        for column in plan.columns
    )
    inputs, paired, joined, equal = _parted(block, streams)
    if len(inputs) == 1:
        method = Method.BASE
    if len(inputs) == 1 or method is Method.PAIRWISE:
        _check_simple([*(one.value for one in outputs), *([joined] if joined else [])])
    if len(inputs) > 1 and paired is None and not equal:
        raise UnsupportedFragment("a join without a condition is a product: not in the network")
    if method in (Method.SEMI, Method.BLOOM) and (len(inputs) != 2 or not equal):  # noqa: PLR2004
        raise UnsupportedFragment(
            f"a {method.name.lower()}-join compares a column of one stream with one of another"
        )
    return Program(inputs, outputs, paired=paired, joined=joined, equal=equal, method=method)


def _block(node: Plan, streams: Streams, number: int) -> _Block:
    """Returns inputs, positional columns and conditions of everything below a node."""
    match node:
        case Scan():
            stream = streams.get(node.relation)
            if stream is None:
                raise UnsupportedFragment(
                    "no mote measures this", found=node.relation, exists=sorted(streams)
                )
            places = {name: place for place, name in enumerate(stream.relation.names)}
            columns: dict[str, Expr] = {
                column.name: Col(f"r{number}.c{places[column.name.rpartition('.')[2]]}")
                for column in node.columns
            }
            return _Block((Input(node.relation),), columns)
        case Window(child=Scan(), rows=1):
            return _block(node.child, streams, number)  # an epoch holds one row per sensor
        case Ship():
            return _block(node.child, streams, number)
        case Filter():
            below = _block(node.child, streams, number)
            where = (*below.where, *conjuncts(substitute(node.predicate, below.columns)))
            return replace(below, where=where)
        case Project():
            below = _block(node.child, streams, number)
            computed = {c.name: substitute(e, below.columns) for c, e in node.outputs}
            return replace(below, columns=computed)
        case Join():
            left = _block(node.left, streams, number)
            right = _block(node.right, streams, number + len(left.inputs))
            both = {**left.columns, **right.columns}
            on = [Op("=", both[one], both[other]) for one, other in node.on]
            rest = conjuncts(None if node.residual is None else substitute(node.residual, both))
            return _Block(left.inputs + right.inputs, both, (*left.where, *right.where, *on, *rest))
        case _:
            raise UnsupportedFragment(
                f"motes hold no {type(node).__name__}",
                found=node_text(node),
                exists=("Scan", "Filter", "Project", "GroupBy", "Join"),
            )


def _parted(
    block: _Block, streams: Streams
) -> tuple[tuple[Input, ...], Expr | None, Expr | None, tuple[tuple[int, int, int, int], ...]]:
    """Sort conditions: each input's own, those of lasting pairs, those of rows; and equalities."""
    own: list[list[Expr]] = [[] for _ in block.inputs]
    paired: list[Expr] = []
    joined: list[Expr] = []
    equal: list[tuple[int, int, int, int]] = []
    for one in block.where:
        places = sorted(place_of(name) for name in columns_in(one))
        touched = sorted({number for number, _ in places})
        if len(touched) <= 1:
            own[touched[0] if touched else 0].append(one)
            continue
        lasting = all(_fixed(block.inputs[n], c, streams) for n, c in places)
        (paired if lasting else joined).append(one)
        if isinstance(one, Op) and one.symbol == "=":
            sides = [one.left, one.right]
            if all(isinstance(side, Col) for side in sides):
                (one_place, other_place) = places
                equal.append((*one_place, *other_place))
    for predicates in own:
        _check_simple(predicates)
    inputs = tuple(
        replace(one, predicate=conjunction(mine))
        for one, mine in zip(block.inputs, own, strict=True)
    )
    return inputs, conjunction(paired), conjunction(joined), tuple(equal)


def _fixed(one: Input, place: int, streams: Streams) -> bool:
    stream = streams[one.stream]
    return stream.relation.names[place] in stream.fixed


def _output(value: Expr, column: Column, inputs: tuple[Input, ...], streams: Streams) -> Output:
    if isinstance(value, Col):
        number, place = place_of(value.name)
        return Output(value, column_wire(streams[inputs[number].stream], place))
    kinds = {Type.INT: WireType.INT, Type.FLOAT: WireType.DOUBLE, Type.BOOL: WireType.BOOL}
    return Output(value, Wire(kinds.get(column.type, WireType.TEXT), nullable=True))


def column_wire(stream: DeviceStream, place: int) -> Wire:
    """Returns how a column of a stream travels."""
    column = stream.relation.columns[place]
    match column.type:
        case Type.TEXT:
            return Wire(WireType.TEXT, nullable=column.nullable)
        case Type.INT:
            return Wire(WireType.INT, nullable=column.nullable)
        case Type.BOOL:
            return Wire(WireType.BOOL, nullable=column.nullable)
        case Type.FLOAT:
            if column.name == stream.time:
                return Wire(WireType.SCALED, MILLISECONDS)
            if column.name in stream.decimals:
                return Wire(WireType.SCALED, stream.decimals[column.name], column.nullable)
            return Wire(WireType.DOUBLE, nullable=column.nullable)


def _check_simple(exprs: Iterable[Expr]) -> None:
    for one in exprs:
        if isinstance(one, Call):
            raise UnsupportedFragment(
                "motes compute comparisons and plain arithmetic, no functions", found=one.function
            )
        _check_simple(parts(one))


def _finisher(above: list[Filter | Project]) -> Finish:
    steps: list[Finish] = []
    for node in reversed(above):
        if isinstance(node, Filter):
            steps.append(_keeping(compile_predicate(node.predicate, node.child.columns)))
        else:
            steps.append(_mapping(compile_row([e for _, e in node.outputs], node.child.columns)))

    def finish(rows: Iterable[Row]) -> list[Row]:
        found = list(rows)
        for step in steps:
            found = step(found)
        return found

    return finish


def _keeping(keep: Callable[[Row], bool]) -> Finish:
    return lambda rows: [row for row in rows if keep(row)]


def _mapping(compute: Callable[[Row], Row]) -> Finish:
    return lambda rows: [compute(row) for row in rows]


def columns_of(program: Program, streams: Streams) -> tuple[Column, ...]:
    """Returns all inputs' columns, in the order expressions are evaluated over."""
    return tuple(
        column
        for number, one in enumerate(program.inputs)
        for column in input_columns(number, streams[one.stream])
    )
