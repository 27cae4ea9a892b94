"""Payloads: how many bytes the rows and records of a fragment take on the air, without headers.

    row     epoch sensor… value…            columns that never change for a sensor do not travel
    side    epoch input sensor value…       only what the join or its answer needs
    record  epoch motes (key… state…)…

Law: a column more never makes a payload shorter.
Source: the motes' varints and scaled integers, with usual values.
"""

from __future__ import annotations

from functools import cached_property

from aspen.algebra.block import input_of
from aspen.algebra.device_block import DeviceBlock
from aspen.algebra.expr import Col, Expr, columns_in
from aspen.model.schema import Type
from aspen.motes.protocol import DOUBLE_BYTES, WIRE_BYTES
from federation.network import Network

ONE_BYTE = 128  # smaller numbers take one byte, others two
EPOCH_BYTES = 2  # number of the epoch, up to 16,383
COUNT_BYTES = 1
TIME_BYTES = 4  # milliseconds, a day's worth
COMPUTED_BYTES = DOUBLE_BYTES + 1  # and whether it is null


class Payloads:
    """The sizes of one fragment over one network, in bytes."""

    def __init__(self, block: DeviceBlock, network: Network) -> None:
        self._block = block
        self._network = network

    @cached_property
    def _sensor(self) -> int:
        return 1 if len(self._network.devices) < ONE_BYTE else 2

    def _lasts(self, name: str) -> bool:
        stream, column = self._block.column(name)
        return self._network.lasts(stream, column.name)

    def _value(self, name: str) -> float:
        _, known = self._block.column(name)
        if known.type is Type.FLOAT and known.unit == "s":
            return TIME_BYTES
        return WIRE_BYTES[known.type.family] + known.nullable

    @cached_property
    def output(self) -> float:
        """The computed columns of a row, or the key of a record."""
        return sum(self._output(one) for one in self._block.outputs)

    def _output(self, one: Expr) -> float:
        if not isinstance(one, Col):
            return COMPUTED_BYTES
        return self._value(one.name) if self._block.grouping or not self._lasts(one.name) else 0.0

    @cached_property
    def result(self) -> float:
        """A row of the answer."""
        return EPOCH_BYTES + len(self._block.scans) * self._sensor + self.output

    def side(self, number: int, *, to_base: bool) -> float:
        """Returns a row of an input on its way to a join; the base needs no lasting column."""
        compared = {name for one in self._block.joined for name in columns_in(one)}
        needed = {name for one in self._block.outputs for name in columns_in(one)}
        size = float(EPOCH_BYTES + COUNT_BYTES + self._sensor)
        for name in sorted(compared | needed):
            if input_of(name) == number and (
                not self._lasts(name) or (name in compared and not to_base)
            ):
                size += self._value(name)
        return size

    @cached_property
    def key(self) -> float:
        """A join key of input 0."""
        pairs = self._block.equal
        return sum(self._value(name) for pair in pairs for name in pair if input_of(name) == 0)

    @cached_property
    def states(self) -> float:
        """The partial states of one group."""
        return sum(
            COUNT_BYTES + (0 if one is None else TIME_BYTES) for one in self._block.arguments
        )
