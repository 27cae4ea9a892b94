"""Partial state records: however a subtree is cut, its record answers as all rows together."""

from __future__ import annotations

import math
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.expr import Col
from aspen.algebra.plan import AggregateFunction
from aspen.motes.hardware import LONGEST_PAYLOAD_BYTES
from sensors_sim.innet.partial import Aggregator, Partials
from sensors_sim.innet.program import PartialAggregate, ProgramOutput
from sensors_sim.innet.values import Dictionary, Wire, WireType

ARGUMENT = Col("r0.c0")
KEY = ProgramOutput(Col("r0.c1"), Wire(WireType.INT))
WIRES = {
    "measured": (Wire(WireType.SCALED, 1), st.integers(-500, 5_000).map(lambda n: n / 10)),
    "whole": (Wire(WireType.INT), st.integers(-5_000, 5_000)),
    "computed": (Wire(WireType.DOUBLE), st.integers(-500, 500).map(lambda n: n / 4)),
}
PLAIN = {
    AggregateFunction.COUNT: len,
    AggregateFunction.SUM: math.fsum,
    AggregateFunction.MIN: min,
    AggregateFunction.MAX: max,
    AggregateFunction.AVG: fmean,
}


def aggregator(wire, keys=(KEY,)):
    found = [PartialAggregate(one, ARGUMENT, wire) for one in PLAIN]
    counted = PartialAggregate(AggregateFunction.COUNT, None, Wire(WireType.INT))
    return Aggregator(keys, [*found, counted], Dictionary())


def folded(one, rows):
    records = Partials(motes=1)
    for key, value in rows:
        one.fold(records, (key,), [value] * (len(PLAIN) + 1))
    return records


@pytest.mark.parametrize("wire", sorted(WIRES))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_oracle_any_tree_of_records_gives_the_aggregates_of_all_rows(wire, data):
    of, values = WIRES[wire]
    one = aggregator(of)
    row = st.tuples(st.integers(0, 2), st.none() | values)
    motes = data.draw(st.lists(st.lists(row, max_size=4), min_size=1, max_size=6))
    waiting = [folded(one, rows) for rows in motes]
    while len(waiting) > 1:  # a child's record crosses a link and joins its parent's
        place = data.draw(st.integers(0, len(waiting) - 2))
        parent = waiting[place]
        for payload in one.write(7, waiting.pop(place + 1)):
            epoch, records = one.read(payload)
            assert epoch == 7
            one.merge(parent, records)
    (whole,) = waiting
    assert whole.motes == len(motes)
    rows = [row for mote in motes for row in mote]
    answers = {row[0]: row[1:] for row in one.answer(whole)}
    assert set(answers) == {key for key, _ in rows}
    for key, answer in answers.items():
        there = [value for other, value in rows if other == key and value is not None]
        wanted = [len(there), *(of(there) if there else None for of in [*PLAIN.values()][1:])]
        assert answer[-1] == sum(other == key for other, _ in rows)
        for found, expected in zip(answer[:-1], wanted, strict=True):
            assert (found is None) == (expected is None)
            assert found is None or math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


def test_nothing_at_all_is_one_row_without_keys_and_none_with_them():
    assert aggregator(Wire(WireType.INT)).answer(Partials()) == []
    ((count, *rest, rows),) = aggregator(Wire(WireType.INT), ()).answer(Partials())
    assert (count, rows) == (0, 0)
    assert rest == [None] * 4


def test_many_groups_are_cut_into_frames_and_every_mote_counts_once():
    one = aggregator(Wire(WireType.SCALED, 1))
    records = folded(one, [(key, 3.5) for key in range(60)])
    records.motes = 17
    payloads = one.write(3, records)
    assert len(payloads) > 1
    assert max(map(len, payloads)) <= LONGEST_PAYLOAD_BYTES
    whole = Partials()
    for payload in payloads:
        one.merge(whole, one.read(payload)[1])
    assert whole.motes == 17
    assert sorted(one.answer(whole)) == sorted(one.answer(records))
    assert len(one.answer(whole)) == 60
