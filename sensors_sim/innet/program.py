"""Programs: what a mote does, its columns by number instead of name.

    input 0  seat_reading    where weight >= 5           ┐
    input 1  light_reading   where lux > 100             ├ join on a0.c… = a1.c…  → outputs
    input 2  temperature_reading                         ┘

Columns are named as in `aspen.algebra.block`: column i of input n is `a{n}.c{i}`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from aspen.algebra.block import column_name
from aspen.algebra.expr import Expr
from aspen.algebra.plan import AggregateFunction
from aspen.model.schema import Column
from sensors_sim.innet.values import Wire
from sensors_sim.motes import DeviceStream


class Method(Enum):
    """How a join is computed; `PAIRWISE` joins inside the network, mote by mote."""

    BASE = 0
    PAIRWISE = 1
    SEMI = 2
    BLOOM = 3


@dataclass(frozen=True, slots=True)
class StreamInput:
    """One device stream of a program.

    Args:
        predicate: over its own columns; rows for which it is not true never leave the mote.
    """

    stream: str
    predicate: Expr | None = None


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """One computed column."""

    value: Expr
    wire: Wire


@dataclass(frozen=True, slots=True)
class PartialAggregate:
    """One aggregate computed in the tree.

    Args:
        argument: over the input's columns; None for COUNT(*).
        wire: of the argument, or of the count.
    """

    function: AggregateFunction
    argument: Expr | None
    wire: Wire


@dataclass(frozen=True, slots=True)
class MoteProgram:
    """A fragment as motes run it.

    Args:
        inputs: more than one for a join.
        outputs: what is sent; the group keys when `grouped`.
        period_ms: between two epochs; 0 to report whenever the device measures.
        grouped: whether motes send partial state records instead of rows.
        paired: what two sensors must fulfil to be partners at all, over columns that never change.
        joined: what their rows must fulfil.
        equal: pairs of columns the join compares, as (input, column, input, column).
        method: of the join.
        bloom_bits: size of the filter, of BLOOM.
        slots: slices an epoch is cut into for partial aggregates: deeper motes send earlier.
    """

    inputs: tuple[StreamInput, ...]
    outputs: tuple[ProgramOutput, ...]
    period_ms: int = 0
    grouped: bool = False
    aggregates: tuple[PartialAggregate, ...] = ()
    paired: Expr | None = None
    joined: Expr | None = None
    equal: tuple[tuple[int, int, int, int], ...] = ()
    method: Method = Method.BASE
    bloom_bits: int = 0
    slots: int = 16

    @property
    def joins(self) -> bool:
        """Whether several streams meet."""
        return len(self.inputs) > 1


def input_columns(number: int, stream: DeviceStream) -> tuple[Column, ...]:
    """Returns an input's columns under the names expressions use."""
    return tuple(
        replace(column, name=column_name(number, index))
        for index, column in enumerate(stream.relation.columns)
    )
