"""The snapshot store: snapshots are folds, batches count once, readers are told of gaps."""

from __future__ import annotations

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aspen.model.delta import merge
from aspen.results import AsyncResults, EpochsForgotten, FencedOff, RedisResults
from aspen.results.protocol import ViewChange

COLUMNS = (("a", "INT", ""), ("b", "TEXT", "m"))
# A column holds values of one type: Python takes 0, 0.0 and False for the same key.
kinds = (
    st.booleans(),
    st.integers(-(2**40), 2**40),
    st.text(max_size=4),
    st.floats(allow_nan=False, allow_infinity=False),
)
row = st.tuples(*(st.none() | kind for kind in kinds))
delta = st.dictionaries(row, st.sampled_from([-2, -1, 1, 2, 3]), max_size=4)
change = st.builds(
    ViewChange,
    view=st.sampled_from(["v", "w ü"]),
    delta=delta,
    columns=st.sampled_from([(), COLUMNS]),
    closed=st.sampled_from([False, False, False, True]),
    error=st.sampled_from([None, None, None, {"code": "x.y", "exists": [], "position": None}]),
    complete_since_s=st.sampled_from([None, 0.0, 1_763_900_000.123456]),
)
batches = st.lists(st.lists(change, max_size=3), min_size=1, max_size=8)


@pytest.fixture
def name():
    return f"test-{secrets.token_hex(6)}"


def write(results, generation, batch, changes=(), position=None):
    return results.write(generation, batch, position or batch + 10, float(batch), changes, {})


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(batches, st.data())
def test_law_a_snapshot_is_the_fold_of_all_changes(redis_url, steps, data):
    results = RedisResults(redis_url, f"test-{secrets.token_hex(6)}")
    folded, complete_since_s = {}, {}
    for batch, changes in enumerate(steps):
        assert write(results, "g", batch, changes) == batch + 1
        again = data.draw(st.integers(0, batch))
        assert write(results, "g", again, [ViewChange("v", {("twice", 0): 1})]) == again + 1
        for one in changes:
            if one.closed:
                folded.pop(one.view, None)
                complete_since_s.pop(one.view, None)
            else:
                merge(folded.setdefault(one.view, {}), one.delta)
                if one.columns:
                    complete_since_s[one.view] = one.complete_since_s
    assert results.views() == sorted(folded)
    for view, rows in folded.items():
        snapshot = results.snapshot(view)
        assert dict(snapshot.rows) == rows
        assert snapshot.complete_since_s == complete_since_s.get(view)
        assert snapshot.epoch == len(steps)
        assert snapshot.position == len(steps) + 9
    epochs = list(results.epochs_since(0, 0))
    assert [epoch.number for epoch in epochs] == list(range(1, len(steps) + 1))
    assert [epoch.changes for epoch in epochs] == [tuple(changes) for changes in steps]


def test_a_batch_counts_once_however_long_ago_it_came(redis_url, name):
    """Batches that became no epoch leave gaps; of the oldest is known only that they came."""
    results = RedisResults(redis_url, name)
    first = [3 * number for number in range(1_200)]
    for batch in first:
        write(results, "g", batch, [ViewChange("v", {("n",): 1})])
    head = results.head()
    for batch in (0, 3, 600, first[-2], first[-1]):
        write(results, "g", batch, [ViewChange("v", {("n",): 1})])
    assert results.head() == head
    assert dict(results.snapshot("v").rows) == {("n",): len(first)}
    for batch in first[-300:]:
        assert write(results, "g", batch) == 1 + batch // 3
    assert results._redis.hlen(results._keys.batches) <= 1_000


def test_columns_and_errors_are_kept_and_an_error_ends_with_new_columns(redis_url, name):
    results = RedisResults(redis_url, name)
    error = {"code": "aspen.x", "exists": [], "position": None}
    write(results, "g", 0, [ViewChange("v", {(1,): 1}, COLUMNS), ViewChange("w", error=error)])
    write(results, "g", 1, [ViewChange("v", {(2,): 1})])
    assert results.snapshot("v").columns == COLUMNS
    assert results.snapshot("w").error == error
    write(results, "g", 2, [ViewChange("w", columns=COLUMNS)])
    assert results.snapshot("w").error is None


def test_several_views_are_given_as_of_one_epoch(redis_url, name):
    results = RedisResults(redis_url, name)
    write(results, "g", 0, [ViewChange("v", {(1,): 1}), ViewChange("w", {(1,): 1})])
    found = results.snapshots(["v", "nobody", "w"])
    assert {view: snapshot.epoch for view, snapshot in found.items()} == {"v": 1, "w": 1}


def test_a_new_generation_begins_empty_and_sends_followers_to_a_snapshot(redis_url, name):
    results = RedisResults(redis_url, name)
    write(results, "g", 0, [ViewChange("v", {(1,): 1})])
    write(results, "g", 1, [ViewChange("v", {(2,): 1})])
    assert write(results, "h", 0, [ViewChange("w", {(3,): 1})]) == 3
    assert results.views() == ["w"]
    assert results.writer() == ("h", 0)
    for number in (0, 1, 2):
        with pytest.raises(EpochsForgotten):
            list(results.epochs_since(number, 0))
    write(results, "h", 1)
    assert [epoch.number for epoch in results.epochs_since(3, 0)] == [4]


def test_only_the_newest_epochs_are_kept_and_a_late_reader_is_told(redis_url, name):
    results = RedisResults(redis_url, name, keep=3)
    for batch in range(10):
        write(results, "g", batch)
    assert [epoch.number for epoch in results.epochs_since(7, 0)] == [8, 9, 10]
    with pytest.raises(EpochsForgotten) as forgotten:
        list(results.epochs_since(6, 0))
    assert forgotten.value.exists == ("7",)
    with pytest.raises(EpochsForgotten):
        list(results.epochs_since(11, 0))


def test_more_epochs_than_one_read_gives_come_in_order(redis_url, name):
    results = RedisResults(redis_url, name)
    for batch in range(600):
        write(results, "g", batch)
    assert [epoch.number for epoch in results.epochs_since(3, 0)] == list(range(4, 601))


def test_a_writer_whose_token_was_overtaken_writes_nothing(redis_url, name):
    old, new = (RedisResults(redis_url, name, fence=token) for token in (1, 2))
    write(old, "g", 0, [ViewChange("v", {(1,): 1})])
    write(new, "g", 1, [ViewChange("v", {(2,): 1})])
    with pytest.raises(FencedOff):
        write(old, "g", 2, [ViewChange("v", {(3,): 1})])
    assert dict(new.snapshot("v").rows) == {(1,): 1, (2,): 1}


def test_a_waiting_reader_wakes_with_the_next_epoch(redis_url, name):
    results = RedisResults(redis_url, name)
    assert list(results.epochs_since(0, 0.05)) == []
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: list(RedisResults(redis_url, name).epochs_since(0, 30)))
        write(results, "g", 0)
        assert [epoch.number for epoch in waiting.result(timeout=10)] == [1]


def test_timing_ends_with_the_write_itself(redis_url, name):
    results = RedisResults(redis_url, name)
    results.write("g", 0, 1, 1.0, [], {"appended_at": 1000.0, "sink_at": 2000.0})
    (epoch,) = results.epochs_since(0, 0)
    timing = epoch.timing_ms
    assert timing["sink"] == timing["written_at"] - 2000.0
    assert timing["total"] == timing["written_at"] - 1000.0


@pytest.mark.asyncio
async def test_an_asynchronous_reader_follows_from_a_snapshot(redis_url, name):
    writer, reader = RedisResults(redis_url, name), AsyncResults(redis_url, name)
    write(writer, "g", 0, [ViewChange("v", {(1,): 1}, COLUMNS)])
    snapshot = await reader.snapshot("v")
    assert snapshot == writer.snapshot("v")
    assert await reader.snapshot("w") is None
    assert writer.views() == ["v"]
    rows, heard = dict(snapshot.rows), []

    async def follow():
        async for epoch in reader.follow(snapshot.epoch):
            heard.append(epoch.number)
            for one in epoch.changes:
                merge(rows, one.delta)
            if epoch.number == 6:
                return

    following = asyncio.create_task(follow())
    for batch in range(1, 6):
        await asyncio.to_thread(write, writer, "g", batch, [ViewChange("v", {(batch,): 1})])
    await asyncio.wait_for(following, 10)
    assert heard == [2, 3, 4, 5, 6]
    assert rows == dict(writer.snapshot("v").rows)
    assert await reader.head() == writer.head()
    write(writer, "h", 0)
    with pytest.raises(EpochsForgotten):
        await reader.epochs_since(6)
    await reader.close()
