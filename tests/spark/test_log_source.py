"""The log as a source: which entries and supersteps a batch has, and where it ends."""

from __future__ import annotations

import secrets

import pytest

from aspen.log.base import Base, LogGap
from aspen.log.entry import Tick, Unregister
from aspen.log.redis_log import RedisLog
from aspen.spark.log_source import LogReader

SUPERSTEP = b'{"k":"b","t":1.0,"n":%d,"l":[{},{}]}'


@pytest.fixture
def log(redis_url):
    made = RedisLog(redis_url, f"test-{secrets.token_hex(6)}")
    made.append([Tick(float(n)) for n in range(1, 6)])
    return made


def reader(redis_url, log, lanes, **more):
    options = {"url": redis_url, "name": log.name, "lane_keys": lanes, "entries_per_batch": "3"}
    return LogReader({**options, "patience_s": "3", **more})


def rows_of(batches):
    rows = [row for batch in batches for row in batch.to_pylist()]
    return [(r["lane"], r["position"], r["after"], r["supersteps"], r["since"]) for r in rows]


def test_one_lane_hears_of_no_supersteps(redis_url, log):
    log.begin_supersteps()
    source = reader(redis_url, log, "0")
    start = source.initialOffset()
    assert start == {"log": log.identity(), "position": 0}
    rows, end = source.read(start)
    assert end == {"log": log.identity(), "position": 3}
    assert [row[1] for row in rows_of(rows)] == [1, 2, 3]


def test_spark_selects_from_a_position_on_and_no_more_once_views_change(redis_url, log):
    source = reader(redis_url, log, "0", lower_from="3")
    end, selects = source.initialOffset(), []
    for entry in (None, None, Tick(6.0), Unregister(7.0, "v"), Tick(8.0)):
        if entry is not None:
            log.append([entry])
        batches, end = source.read(end)
        selects += {row["lower"] for batch in batches for row in batch.to_pylist()}
    assert selects == [False, True, True, False, False]


def test_a_round_goes_before_any_entry(redis_url, log):
    begun = log.begin_supersteps()
    source = reader(redis_url, log, "0,2", supersteps=str(begun))
    start = source.initialOffset()
    rows, first = source.read(start)
    assert {key: first[key] for key in ("position", "borders", "since")} == {
        "position": 3,
        "borders": begun,
        "since": 0,
    }
    assert rows_of(rows) == [(lane, n, 0, begun, 0) for lane in (0, 2) for n in (1, 2, 3)]
    log.append_superstep(begun + 1, SUPERSTEP % (begun + 1), 7, "g", 0)
    rows, second = source.read(first)
    assert second == {**first, "borders": begun + 1}
    assert rows_of(rows) == [(lane, 3, 3, begun, 0) for lane in (0, 2)]
    rows, third = source.read(second)
    assert (third["position"], third["borders"], third["since"]) == (5, begun + 1, 3)
    assert [row[2:] for row in rows_of(rows)] == [(3, begun + 1, 3)] * 4
    for again in ((start, first), (first, second), (second, third)):
        assert rows_of(source.readBetweenOffsets(*again))
    rows, idle = source.read(third)
    assert idle == third, "a query that has nothing to do plans nothing"
    assert rows_of(rows) == []


def test_a_checkpoint_from_before_supersteps_is_read(redis_url, log):
    source = reader(redis_url, log, "0,2")
    rows, end = source.read({"log": log.identity(), "position": 4})
    assert rows_of(rows) == [(lane, 5, 4, 0, 4) for lane in (0, 2)]
    assert (end["position"], end["borders"], end["since"]) == (5, 0, 4)


def test_a_compacted_log_begins_with_its_fold(redis_url, log):
    log.compact(Base(2, b"fold"))
    begun = log.begin_supersteps()
    source = reader(redis_url, log, "0,2", supersteps=str(begun))
    rows, end = source.read(source.initialOffset())
    assert rows_of(rows) == [(lane, n, 2, begun, 0) for lane in (0, 2) for n in (2, 3, 4, 5)]
    assert (end["position"], end["since"]) == (5, 0)


def test_supersteps_that_are_gone_are_a_gap(redis_url, log):
    source = reader(redis_url, log, "0,2", supersteps="9")
    begun = {**source.initialOffset(), "position": 5}
    with pytest.raises(LogGap):
        source.read(begun)
