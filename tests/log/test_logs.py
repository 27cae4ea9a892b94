"""Both logs keep the same law; Redis' keeps it through crashes."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log.memory_log import MemoryLog

from aspen.log import Base, LogCompacted, LogGap, RedisLog, redis_log
from aspen.log.base import KeyReused
from aspen.log.entry import Change, Register, Tick, Transaction
from aspen.log.retention import Retention

entries = st.lists(
    st.one_of(
        st.builds(Tick, st.floats(0, 1e9)),
        st.builds(
            lambda at_s, text, number: Transaction(at_s, (Change("r", 1, (text, number, None)),)),
            st.floats(0, 1e9),
            st.text(max_size=5),
            st.integers(-5, 5),
        ),
        st.builds(lambda text: Register(0.0, "v", text), st.text(max_size=9)),
    ),
    min_size=1,
    max_size=5,
)
appends = st.lists(st.tuples(entries, st.sampled_from(["", "a", "b"])), max_size=8)


@pytest.fixture(params=["memory", "redis"])
def fresh(request):
    if request.param == "memory":
        return MemoryLog
    url = request.getfixturevalue("redis_url")
    return lambda: RedisLog(url, f"test-{secrets.token_hex(6)}")


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(appends)
def test_law_a_log_reads_back_what_was_appended_once_per_key(fresh, steps):
    log, kept, seen = fresh(), [], {}
    for batch, key in steps:
        position = log.append(batch, key)
        if key in seen:
            assert position == seen[key]
            continue
        kept += batch
        assert position == len(kept)
        if key:
            seen[key] = position
    assert log.head() == len(kept)
    everything = list(enumerate(kept, start=1))
    assert log.read(0, len(kept)) == everything
    for after in range(len(kept)):
        assert log.read(after, after + 2) == everything[after : after + 2]
    assert log.read(len(kept), len(kept) + 5) == []


def test_law_a_key_stands_for_one_thing_alone(fresh):
    log = fresh()
    first = log.append([Tick(1.0)], "readings:a", digest="one")
    assert log.append([Tick(2.0)], "readings:a", digest="one") == first
    with pytest.raises(KeyReused):
        log.append([Tick(2.0)], "readings:a", digest="two")
    assert log.append([Tick(2.0)], "readings:a") == first  # who binds nothing is told the first
    unbound = log.append([Tick(3.0)], "readings:b")
    assert log.append([Tick(4.0)], "readings:b", digest="two") == unbound
    assert log.read(0, log.head()) == [(1, Tick(1.0)), (2, Tick(3.0))]


def test_digests_leave_with_their_keys(redis_url, monkeypatch):
    monkeypatch.setattr(redis_log, "KEYS_KEPT", 20)
    name = f"test-{secrets.token_hex(6)}"
    log = RedisLog(redis_url, name)
    for n in range(100):
        log.append([Tick(n)], f"readings:{n}", digest=str(n))
    with redis.Redis.from_url(redis_url) as client:
        said = client.hgetall(f"{name}:log:said:readings")
        assert said == {b"readings:%d" % n: b"%d" % n for n in range(80, 100)}
        assert 0 < client.ttl(f"{name}:log:said:readings") <= redis_log.KEYS_KEPT_S
    with pytest.raises(KeyReused):
        log.append([Tick(0.0)], "readings:99", digest="other")


def test_an_empty_append_is_refused(fresh):
    with pytest.raises(ValueError, match="at least one"):
        fresh().append([])


def test_appends_at_once_leave_no_gap_and_break_no_batch(redis_url):
    name = f"test-{secrets.token_hex(6)}"

    def writer(number):
        log = RedisLog(redis_url, name)
        for turn in range(25):
            at_s = float(number * 1000 + turn)
            log.append([Tick(at_s), Tick(at_s + 0.5)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(writer, range(4)))
    read = RedisLog(redis_url, name).read(0, 10_000)
    assert [position for position, _ in read] == list(range(1, 201))
    times = [entry.at_s for _, entry in read]
    assert all(second == first + 0.5 for first, second in zip(times[::2], times[1::2], strict=True))


def test_idempotency_keys_stay_bounded_and_no_writer_pushes_out_anothers(redis_url, monkeypatch):
    monkeypatch.setattr(redis_log, "KEYS_KEPT", 20)
    name = f"test-{secrets.token_hex(6)}"
    log = RedisLog(redis_url, name)
    first = log.append([Tick(0.0)], "outbox:1")
    positions = {f"readings:{n}": log.append([Tick(n)], f"readings:{n}") for n in range(100)}
    for n in range(50):
        log.append([Tick(n)])
    head = log.head()
    with redis.Redis.from_url(redis_url) as client:
        keys = list(client.scan_iter(f"{name}:*"))
        windows = [key for key in keys if b":keys:" in key]
        assert sorted(client.zcard(key) for key in windows) == [1, 20, 20]
        assert all(0 < client.ttl(key) <= redis_log.KEYS_KEPT_S for key in windows)
    assert len(keys) == len(windows) + 2
    assert log.append([Tick(0.0)], "outbox:1") == first
    for key, position in list(positions.items())[-20:]:
        assert log.append([Tick(0.0)], key) == position
    assert log.head() == head


def test_a_log_that_lost_entries_says_so(redis_url):
    name = f"test-{secrets.token_hex(6)}"
    log = RedisLog(redis_url, name)
    log.append([Tick(1.0), Tick(2.0)])
    with pytest.raises(LogGap):
        log.read_raw(0, 3)
    redis.Redis.from_url(redis_url).xdel(f"{name}:log", "1-0")
    with pytest.raises(LogGap, match="1 are there"):
        log.read_raw(0, 2)


def test_a_log_has_an_identity_from_its_first_append_on(redis_url):
    log = RedisLog(redis_url, f"test-{secrets.token_hex(6)}")
    assert log.state() == ("", 0, 0)
    log.append([Tick(1.0)])
    identity = log.identity()
    log.append([Tick(2.0)])
    assert identity
    assert log.state() == (identity, 2, 0)


def test_waiting_ends_with_the_next_entry(redis_url):
    name = f"test-{secrets.token_hex(6)}"
    log = RedisLog(redis_url, name)
    assert log.wait(0, 0.05) == 0
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(RedisLog(redis_url, name).wait, 0, 30)
        log.append([Tick(1.0)])
        assert waiting.result(timeout=10) == 1


def test_the_newest_tick_is_found_among_other_entries(redis_url):
    log = RedisLog(redis_url, f"test-{secrets.token_hex(6)}")
    assert log.last_tick_s() is None
    log.append([Tick(1.0), Tick(7.0), Register(9.0, "v", "plan")])
    assert log.last_tick_s() == 7.0


compactions = st.lists(st.tuples(entries, st.integers(0, 30)), max_size=8)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(compactions)
def test_law_base_and_what_follows_are_the_whole_history(fresh, steps):
    log, kept = fresh(), []
    for batch, upto in steps:
        kept += batch
        assert log.append(batch) == len(kept)
        before = log.base()
        log.compact(Base(upto, f"fold of {upto}".encode()))
        base = log.base()
        moves = before.position < upto <= len(kept)
        assert base == (Base(upto, f"fold of {upto}".encode()) if moves else before)
        assert log.head() == len(kept)
        rest = list(enumerate(kept, start=1))[base.position :]
        assert log.read(base.position, len(kept)) == rest
        if base.position:
            with pytest.raises(LogCompacted):
                log.read(base.position - 1, len(kept))


def test_an_append_after_everything_was_compacted_continues_the_count(fresh):
    log = fresh()
    log.append([Tick(1.0), Tick(2.0)])
    log.compact(Base(2, b"two ticks"))
    assert log.head() == 2
    assert log.append([Tick(3.0)]) == 3
    assert log.read(2, 3) == [(3, Tick(3.0))]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.lists(st.integers(1, 15), max_size=30))
def test_law_the_newest_entries_always_stay(keep, batches):
    log = MemoryLog()
    retention = Retention(log, keep)
    for number, size in enumerate(batches):
        log.append([Tick(float(number))] * size)
        retention.offer(Base(log.head(), b"fold"))
        base = log.base().position
        assert base == 0 or log.head() - base >= keep
        assert log.head() - base <= 2 * keep + 30, "nor does it grow for ever"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.floats(0.0, 40.0)), max_size=30))
def test_law_nothing_stays_beyond_two_spans_and_two_folds(batches):
    """What a quiet log holds was told within twice `keep_s`, and the folds' distance."""
    log, now_s, keep_s, pauses = MemoryLog(), [0.0], 60.0, [0.0]
    retention = Retention(log, keep=10**6, keep_s=keep_s, clock=lambda: now_s[0])
    came_s: list[float] = []
    for size, pause_s in batches:
        now_s[0] += pause_s
        pauses.append(pause_s)
        log.append([Tick(now_s[0])] * size)
        came_s += [now_s[0]] * size
        retention.offer(Base(log.head(), b"fold"))
        kept = came_s[log.base().position :]
        assert not kept or kept[0] >= now_s[0] - 2 * keep_s - 3 * max(pauses)
        assert log.head() - log.base().position >= sum(at > now_s[0] - keep_s for at in came_s)
