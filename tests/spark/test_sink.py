"""The sink without Spark: what of a batch is written, once, and when the lanes exchange instead."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row

from aspen.log.superstep import decode_superstep
from aspen.results import RedisResults
from aspen.results.protocol import Savepoint, ViewChange
from aspen.results.wire import decode_changes, encode_changes
from aspen.spark.sink import Sink, join_changes

changes = st.lists(
    st.builds(ViewChange, view=st.text(max_size=3), delta=st.just({(1, "]["): 1})), max_size=3
)


@given(st.lists(changes, max_size=4))
def test_law_joining_texts_is_joining_lists(lanes):
    joined = join_changes([encode_changes(lane) for lane in lanes])
    assert list(decode_changes(joined)) == [change for lane in lanes for change in lane]


@dataclass
class Batch:
    """What of a DataFrame the sink asks for."""

    lanes: list
    generation: str = "g"

    def collect(self):
        return self.lanes

    @property
    def sparkSession(self):  # noqa: N802 - Spark's word
        local = SimpleNamespace(getLocalProperty=lambda _name: self.generation)
        return SimpleNamespace(sparkContext=local)


def lane(number, position, changes=(), **more):
    said = {
        "lane": number,
        "position": position,
        "at_s": float(position),
        "changes": encode_changes(list(changes)),
        "parts": "[]",
        "crossing": "{}",
        "quiescent": True,
        "supersteps": 0,
        "timing": json.dumps({"appended_at": 100.0 + number, "lane_done_at": 5.0, "fold": number}),
        "pid": 1_000 + number,
        "base": None,
    }
    return Row(**{**said, **more})


def one(number):
    return ViewChange("v", {(number,): 1}, (("n", "INT", ""),) if number == 1 else ())


class Bench:
    """A sink on a store of its own, and all that it told."""

    def __init__(self, url, savepoint=None, name=None):
        self.results = RedisResults(url, name or f"test-{secrets.token_hex(6)}")
        self.epochs, self.bases, self.silent, self.exchanged = [], [], [], []
        self.sink = Sink(
            self.results,
            lambda *epoch: self.epochs.append(epoch),
            self.bases.append,
            savepoint,
            lambda *silence: self.silent.append(silence),
            lambda *exchange: self.exchanged.append(exchange),
        )

    def rows(self):
        return dict(self.results.snapshot("v").rows)


def test_a_batch_that_spark_runs_again_is_folded_once(redis_url):
    bench = Bench(redis_url)
    for number in (1, 2, 2, 1, 3, 3):
        bench.sink(Batch([lane(0, number, [one(number)])]), number)
    assert bench.rows() == {(1,): 1, (2,): 1, (3,): 1}
    assert [epoch.number for epoch in bench.results.epochs_since(0, 0)] == [1, 2, 3]
    assert [epoch for epoch, _, _ in bench.epochs] == [1, 2, 2, 1, 3, 3]


def test_an_epoch_has_the_changes_of_all_lanes_and_the_slowest_times(redis_url):
    bench = Bench(redis_url)
    part = encode_changes([ViewChange("p", {("x", 2): 1})])
    lanes = [lane(0, 7, [one(1)], parts=part), lane(1, 7, [one(2)], parts=part), lane(2, 7)]
    bench.sink(Batch(lanes), 1)
    assert bench.rows() == {(1,): 1, (2,): 1}
    assert bench.epochs == [(1, 7, {0: 1_000, 1: 1_001, 2: 1_002})]
    (epoch,) = bench.results.epochs_since(0, 0)
    assert (epoch.position, epoch.at_s) == (7, 7.0)
    assert epoch.timing_ms["fold"] == 2
    assert "supersteps" not in epoch.timing_ms
    bench.sink(Batch([]), 2)
    assert len(bench.epochs) == 1


def test_lanes_that_are_not_done_exchange_and_write_nothing(redis_url):
    """One is enough; the batch after the last exchange writes, and counts them."""
    bench = Bench(redis_url)
    crossing = [json.dumps({"reach": [[[number], 1]]}) for number in range(2)]
    told = [lane(n, 7, crossing=crossing[n], quiescent=n == 1, supersteps=4) for n in (1, 0)]
    bench.sink(Batch(told), 1)
    (number, data, appended_ms, generation, batch) = bench.exchanged.pop()
    assert (number, appended_ms, generation, batch) == (5, 100, "g", 1)
    assert decode_superstep(data).number == 5
    assert bench.results.head()[0] == 0
    assert not bench.epochs
    bench.sink(Batch([lane(n, 7, crossing=crossing[n], quiescent=n == 0) for n in (0, 1)]), 2)
    bench.sink(Batch([lane(n, 7, [one(n)]) for n in (0, 1)]), 3)
    bench.sink(Batch([lane(n, 8) for n in (0, 1)]), 4)
    timings = [epoch.timing_ms for epoch in bench.results.epochs_since(0, 0)]
    assert [timing.get("supersteps", 0) for timing in timings] == [2, 0]
    assert bench.rows() == {(0,): 1, (1,): 1}


def test_a_fold_of_the_log_is_told_once_and_only_after_its_epoch(redis_url):
    bench = Bench(redis_url)
    bench.sink(Batch([lane(0, 7, base=b"fold", quiescent=False), lane(1, 7)]), 1)
    assert bench.bases == []
    bench.sink(Batch([lane(0, 7), lane(1, 7)]), 2)
    (base,) = bench.bases
    assert (base.position, base.state) == (7, b"fold")
    bench.sink(Batch([lane(0, 8), lane(1, 8)]), 3)
    assert len(bench.bases) == 1


@pytest.mark.parametrize("standing", [2, 3])
def test_who_takes_over_says_nothing_twice_and_leaves_nothing_out(redis_url, standing):
    """The store stands at position 3; batches up to there are silent, and the next one is told."""
    first = Bench(redis_url)
    for number in (1, 2, 3):
        first.sink(Batch([lane(0, number, [one(number)])]), number)
    name = first.results._keys.meta.partition(":")[0]
    second = Bench(redis_url, Savepoint("g", 3), name)
    positions = [1, standing, 5, 6]
    for batch, position in enumerate(positions):
        changes = [ViewChange("v", {(position,): 1})] if position > 3 else [one(position)]
        second.sink(Batch([lane(0, position, changes)], "h"), batch)
    assert [position for position, _ in second.silent] == [1, standing]
    assert [position for _, position, _ in second.epochs] == [5, 6]
    assert second.rows() == {(n,): 1 for n in (1, 2, 3, 5, 6)}
    assert second.results.writer() == ("h", 3)
    # Spark runs the last batches again after a crash: the store knows them.
    for batch in (2, 3):
        second.sink(Batch([lane(0, positions[batch], [one(9)])], "h"), batch)
    assert second.rows() == {(n,): 1 for n in (1, 2, 3, 5, 6)}
    assert [epoch.number for epoch in second.results.epochs_since(0, 0)] == [1, 2, 3, 4, 5]
