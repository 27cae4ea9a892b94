"""Running: a program compiled once for all motes that hold it, with the payloads it makes.

    row payload      [epoch] sensor… value…      a column that never changes for its sensor is left
                                                 out: the base knows it from the sensor's number
Law: `read_row(write_row(…))` gives the sensors and outputs back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aspen.algebra.block import column_of
from aspen.algebra.expr import Col, Const, Expr, parts
from aspen.model.schema import Row, Value
from aspen.motes.hardware import LONGEST_PAYLOAD_BYTES
from aspen.motes.radio import OPERATOR_MJ
from sensors_sim.errors import BadMessage
from sensors_sim.innet.compile import columns_of
from sensors_sim.innet.expressions import compile_predicate, compile_row
from sensors_sim.innet.partial import Aggregator
from sensors_sim.innet.program import MoteProgram, input_columns
from sensors_sim.innet.registry import Registry
from sensors_sim.innet.sides import Sides
from sensors_sim.innet.values import ValueReader, Writer
from sensors_sim.motes import DeviceStream


class Running:
    """One version of one query.

    Args:
        query: its number, one byte on the air.
        version: the change that brought it.
        registry: the sensors everybody may speak of.
    """

    def __init__(
        self,
        query: int,
        version: int,
        program: MoteProgram,
        streams: Mapping[str, DeviceStream],
        registry: Registry,
    ) -> None:
        self.query = query
        self.version = version
        self.program = program
        self.period_s = program.period_ms / 1000.0
        self._registry = registry
        columns = columns_of(program, streams)
        self.keep = [
            None
            if one.predicate is None
            else compile_predicate(one.predicate, input_columns(n, streams[one.stream]))
            for n, one in enumerate(program.inputs)
        ]
        self.work_mj = [OPERATOR_MJ * (1 + _operators(one.predicate)) for one in program.inputs]
        self.by_stream: dict[str, list[int]] = {}
        for n, one in enumerate(program.inputs):
            self.by_stream.setdefault(one.stream, []).append(n)
        self.outputs = compile_row([one.value for one in program.outputs], columns)
        self.joined = None if program.joined is None else compile_predicate(program.joined, columns)
        self.arguments = compile_row(
            [one.argument or Const(None) for one in program.aggregates], columns
        )
        self.aggregator = Aggregator(program.outputs, program.aggregates, registry.texts)
        self.sides = Sides(program, streams, registry)
        self._implied = [_implied(one.value, program, streams) for one in program.outputs]

    def epoch_of(self, at_s: float) -> int:
        """Returns the epoch a moment belongs to."""
        return int(at_s // self.period_s)

    def write_row(self, epoch: int, sensors: Sequence[int], row: Row) -> bytes:
        """Write one row of the answer.

        Raises:
            BadMessage: it fits no frame.
        """
        out = Writer(self._registry.texts)
        if self.period_s:
            out.count(epoch)
        out.count(*sensors)
        for value, output, implied in zip(row, self.program.outputs, self._implied, strict=True):
            if implied is None:
                out.put(output.wire, value)
        if len(out.data) > LONGEST_PAYLOAD_BYTES:
            raise BadMessage("a row that fits no frame", found=f"{len(out.data)} bytes")
        return bytes(out.data)

    def read_row(self, payload: bytes) -> tuple[int, tuple[int, ...], Row]:
        """Returns the epoch, the sensors and the row of a payload."""
        source = ValueReader(payload, self._registry.texts)
        epoch = source.count() if self.period_s else 0
        sensors = tuple(source.count() for _ in self.program.inputs)
        row: list[Value] = []
        for output, implied in zip(self.program.outputs, self._implied, strict=True):
            if implied is None:
                row.append(source.take(output.wire))
            else:
                number, name = implied
                row.append(self._registry.attached(sensors[number]).attributes[name])
        return epoch, sensors, tuple(row)


def _implied(
    value: Expr, program: MoteProgram, streams: Mapping[str, DeviceStream]
) -> tuple[int, str] | None:
    if not isinstance(value, Col) or program.grouped:
        return None
    number, index = column_of(value.name)
    stream = streams[program.inputs[number].stream]
    name = stream.relation.names[index]
    return (number, name) if name in stream.fixed else None


def _operators(expr: Expr | None) -> int:
    if expr is None:
        return 0
    return bool(parts(expr)) + sum(_operators(one) for one in parts(expr))
