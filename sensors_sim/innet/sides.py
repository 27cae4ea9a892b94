"""Sides: the rows of a join's inputs on their way to where they meet.

payload   epoch input sensor value…     only columns that the join or its answer needs
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from aspen.algebra.block import column_of
from aspen.algebra.expr import columns_in
from aspen.model.schema import Row, Value
from aspen.motes.protocol import BLOOM_HASHES, FILTER_BYTES
from sensors_sim.innet.compile import column_wire
from sensors_sim.innet.program import MoteProgram
from sensors_sim.innet.registry import Registry
from sensors_sim.innet.values import ValueReader, Wire, WireType, Writer
from sensors_sim.motes import DeviceStream


class Sides:
    """Writes and reads the inputs' rows of one program, and the keys of its join."""

    def __init__(
        self, program: MoteProgram, streams: Mapping[str, DeviceStream], registry: Registry
    ) -> None:
        self._registry = registry
        self._bits = program.bloom_bits
        needed = {column_of(n) for one in program.outputs for n in columns_in(one.value)}
        compared = {column_of(name) for name in columns_in(program.joined)}
        self._columns: list[list[tuple[int, Wire, bool]]] = []
        for number, one in enumerate(program.inputs):
            stream = streams[one.stream]
            columns = []
            for index, name in enumerate(stream.relation.names):
                moving = name not in stream.fixed
                here = (number, index)
                if here in compared or (moving and here in needed):
                    columns.append((index, column_wire(stream, index), moving))
            self._columns.append(columns)
        self._keys = [
            [(p[1] if p[0] == n else p[3]) for p in program.equal if n in (p[0], p[2])]
            for n in range(len(program.inputs))
        ]
        # Equal values must give equal bytes, however differently the two devices round.
        self._key_wires = []
        for first, index, second, its in program.equal:
            left = column_wire(streams[program.inputs[first].stream], index)
            right = column_wire(streams[program.inputs[second].stream], its)
            self._key_wires.append(left if left == right else _common(left, right))

    def write(self, epoch: int, number: int, sensor: int, row: Row, *, to_base: bool) -> bytes:
        """Write a row; the base needs no column that never changes, a mote may."""
        out = Writer(self._registry.texts)
        out.count(epoch, number, sensor)
        for index, wire, moving in self._columns[number]:
            if moving or not to_base:
                out.put(wire, row[index])
        return bytes(out.data)

    def read(self, payload: bytes, *, at_base: bool) -> tuple[int, int, int, Row]:
        """Returns epoch, input, sensor and row; columns nobody needs are null."""
        source = ValueReader(payload, self._registry.texts)
        epoch, number, sensor = source.count(), source.count(), source.count()
        fixed = self._registry.fixed_row(sensor)
        row: list[Value] = list(fixed) if at_base else [None] * len(fixed)
        for index, wire, moving in self._columns[number]:
            if moving or not at_base:
                row[index] = source.take(wire)
        return epoch, number, sensor, tuple(row)

    def key(self, number: int, row: Row) -> bytes:
        """Returns a row's join key as bytes, the same for equal values on either side."""
        out = Writer(self._registry.texts)
        for index, wire in zip(self._keys[number], self._key_wires, strict=True):
            out.put(wire, row[index])
        return bytes(out.data)

    @property
    def wires(self) -> list[list[Wire]]:
        """How each input's columns travel."""
        return [[wire for _, wire, _ in columns] for columns in self._columns]

    @property
    def filters(self) -> int:
        """Filters a program's keys are spread over, so that each fits a frame."""
        return max(1, -(-self._bits // (8 * FILTER_BYTES)))

    def bloom(self, keys: set[bytes]) -> list[bytes]:
        """Returns the Bloom filters of keys."""
        size = -(-self._bits // (8 * self.filters))
        bits = [0] * self.filters
        for key in keys:
            which, positions = self._positions(key, size * 8)
            for position in positions:
                bits[which] |= 1 << position
        return [one.to_bytes(size, "little") for one in bits]

    def may_hold(self, which: int, bloom: bytes, key: bytes) -> bool:
        """Say whether one of the filters may have been made from a key; never wrongly no."""
        mine, positions = self._positions(key, len(bloom) * 8)
        bits = int.from_bytes(bloom, "little")
        return mine == which and all(bits >> position & 1 for position in positions)

    def _positions(self, key: bytes, bits: int) -> tuple[int, list[int]]:
        digest = blake2b(key, digest_size=10).digest()
        one = int.from_bytes(digest[:4], "little")
        other = int.from_bytes(digest[4:8], "little") | 1
        which = int.from_bytes(digest[8:], "little") % self.filters
        return which, [(one + n * other) % bits for n in range(BLOOM_HASHES)]


def _common(left: Wire, right: Wire) -> Wire:
    nullable = left.nullable or right.nullable
    if left.type is right.type and left.type is not WireType.SCALED:
        return Wire(left.type, nullable=nullable)
    return Wire(WireType.DOUBLE, nullable=nullable)
