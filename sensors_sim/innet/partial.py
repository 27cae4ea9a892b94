"""Partial state records: what of an aggregate travels up the tree, and how two become one.

    COUNT (n)   SUM (n, total)   MIN, MAX (n, best)   AVG (n, total)   n: values not null

    leaf a 3 ─┐                 COUNT 1 SUM 3 ─┐
    leaf b 4 ─┴─ parent 5  ──►  COUNT 1 SUM 4 ─┴─► COUNT 3 SUM 12   one record, whatever the subtree

Law: merging is associative and commutative and has the empty record as its neutral element;
sums of measured values are sums of integers, so order changes no digit.
Source: Madden et al., TAG: a Tiny AGgregation Service for Ad-Hoc Sensor Networks, OSDI 2002, §3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from aspen.algebra.plan import AggregateFunction
from aspen.model.schema import Row, Value
from aspen.motes.hardware import LONGEST_PAYLOAD_BYTES
from sensors_sim.innet.program import PartialAggregate, ProgramOutput
from sensors_sim.innet.values import (
    POWERS,
    Dictionary,
    ValueReader,
    Wire,
    WireType,
    Writer,
    counts,
    packed,
    scaled,
    unscaled,
)

Number = int | float
State = tuple[int, Number]
EMPTY: State = (0, 0)
_SUMS = (AggregateFunction.SUM, AggregateFunction.AVG)


@dataclass(slots=True)
class Partials:
    """The records one mote holds for one epoch.

    Args:
        groups: one state per aggregate, by key.
        motes: how many motes' rows are in it.
        hops: links the oldest of it has crossed, so that none circles for ever.
    """

    groups: dict[Row, list[State]] = field(default_factory=dict)
    motes: int = 0
    hops: int = 0


class Aggregator:
    """Folds rows, merges and writes records of one program.

    Args:
        keys: the group key's columns.
        aggregates: in the order of the answer.
    """

    def __init__(
        self,
        keys: Sequence[ProgramOutput],
        aggregates: Sequence[PartialAggregate],
        texts: Dictionary,
    ) -> None:
        self._keys = keys
        self._aggregates = aggregates
        self._texts = texts

    def fold(self, into: Partials, key: Row, arguments: Sequence[Value]) -> None:
        """Add one row.

        Args:
            arguments: one per aggregate; ignored for COUNT(*).
        """
        states = into.groups.get(key)
        if states is None:
            states = into.groups[key] = [EMPTY] * len(self._aggregates)
        for index, (one, value) in enumerate(zip(self._aggregates, arguments, strict=True)):
            if one.argument is None:
                states[index] = (states[index][0] + 1, 0)
            elif value is not None:
                states[index] = _merged(one.function, states[index], (1, _exact(one, value)))

    def merge(self, into: Partials, other: Partials) -> None:
        """Add another mote's records."""
        into.motes += other.motes
        for key, states in other.groups.items():
            mine = into.groups.get(key)
            if mine is None:
                into.groups[key] = list(states)
                continue
            for index, one in enumerate(self._aggregates):
                mine[index] = _merged(one.function, mine[index], states[index])

    def write(self, epoch: int, records: Partials) -> list[bytes]:
        """Returns the payloads that carry the records, each short enough for a frame."""
        groups = [self._group(key, states) for key, states in records.groups.items()]
        # Every mote counts once.
        first, later = counts(epoch, records.motes), counts(epoch, 0)
        return packed(groups, LONGEST_PAYLOAD_BYTES, first, later)

    def _group(self, key: Row, states: Sequence[State]) -> bytes:
        out = Writer(self._texts)
        for output, value in zip(self._keys, key, strict=True):
            out.put(output.wire, value)
        for one, state in zip(self._aggregates, states, strict=True):
            out.count(state[0])
            if state[0] and one.function is not AggregateFunction.COUNT:
                out.put(_carrier(one), state[1])
        return bytes(out.data)

    def read(self, payload: bytes) -> tuple[int, Partials]:
        """Returns the epoch and the records of a payload."""
        source = ValueReader(payload, self._texts)
        epoch, motes = source.count(), source.count()
        records = Partials({}, motes)
        while not source.done:
            key = tuple(source.take(output.wire) for output in self._keys)
            records.groups[key] = [_take_state(source, one) for one in self._aggregates]
        return epoch, records

    def answer(self, records: Partials) -> list[Row]:
        """Returns the rows of the GroupBy; without keys one row, also when nothing came."""
        groups = records.groups
        if not groups and not self._keys:
            groups = {(): [EMPTY] * len(self._aggregates)}
        return [
            (*key, *(_final(one, s) for one, s in zip(self._aggregates, states, strict=True)))
            for key, states in groups.items()
        ]


def _exact(one: PartialAggregate, value: Value) -> Number:
    if one.function is AggregateFunction.COUNT:
        return 0
    assert isinstance(value, int | float)
    return scaled(value, one.wire.decimals) if one.wire.type is WireType.SCALED else value


def _merged(function: AggregateFunction, one: State, other: State) -> State:
    if not one[0] or not other[0]:
        return one if one[0] else other
    count = one[0] + other[0]
    match function:
        case AggregateFunction.MIN:
            return count, min(one[1], other[1])
        case AggregateFunction.MAX:
            return count, max(one[1], other[1])
        case AggregateFunction.COUNT:
            return count, 0
        case _:
            return count, one[1] + other[1]


def _carrier(one: PartialAggregate) -> Wire:
    if one.wire.type is WireType.SCALED:
        return Wire(WireType.INT)
    return Wire(one.wire.type)


def _take_state(source: ValueReader, one: PartialAggregate) -> State:
    count = source.count()
    if not count or one.function is AggregateFunction.COUNT:
        return count, 0
    value = source.take(_carrier(one))
    assert isinstance(value, int | float)
    return count, value


def _final(one: PartialAggregate, state: State) -> Value:
    count, value = state
    if one.function is AggregateFunction.COUNT:
        return count
    if not count:
        return None
    decimals = one.wire.decimals if one.wire.type is WireType.SCALED else 0
    number = unscaled(int(value), decimals) if one.wire.type is WireType.SCALED else value
    if one.function is not AggregateFunction.AVG:
        return number
    if one.wire.type is WireType.SCALED:
        return value / (POWERS[decimals] * count)
    return number / count
