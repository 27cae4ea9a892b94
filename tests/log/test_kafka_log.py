"""Kafka's log keeps the same law as the others, through a broker's own protocol."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aspen.log import Base, LogCompacted, LogGap, MemoryLog
from aspen.log.entry import Register, Tick

kafka_log = pytest.importorskip(
    "aspen.log.kafka_log", reason="the extra `kafka` is not installed", exc_type=ImportError
)

PATIENCE_S = 60
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 4), st.sampled_from(["", "", "a", "b"])),
        st.tuples(st.just("compact"), st.integers(0, 20), st.just("")),
        st.tuples(st.just("reopen"), st.just(0), st.just("")),
    ),
    max_size=12,
)


@pytest.fixture
def opened(kafka_url):
    """Open logs by name; all are closed at the end."""
    made = []

    def opening(name):
        log = kafka_log.KafkaLog(kafka_url, name, patience_s=PATIENCE_S)
        made.append(log)
        return log

    yield opening
    for log in made:
        log.close()


def a_name():
    return f"test-{secrets.token_hex(6)}"


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps)
def test_law_it_is_the_log_in_memory(opened, history):
    name, model = a_name(), MemoryLog()
    log = opened(name)
    for number, (step, size, key) in enumerate(history):
        if step == "append":
            entries = [Register(float(number), "v", "a\nb")] * size
            assert log.append(entries, key) == model.append(entries, key)
        elif step == "compact":
            fold = Base(size, f"fold\n{number}".encode())
            log.compact(fold)
            model.compact(fold)
        else:
            log = opened(name)
        assert (log.head(), log.base()) == (model.head(), model.base())
        start, head = model.base().position, model.head()
        assert log.read(start, head + 3) == model.read(start, head + 3)
        for after in range(start, head):
            assert log.read(after, after + 2) == model.read(after, after + 2)
        if start:
            with pytest.raises(LogCompacted):
                log.read(start - 1, head)


def test_writers_at_once_leave_no_gap_and_break_no_batch(opened):
    name = a_name()

    def writer(number):
        log = opened(name)
        for turn in range(10):
            at_s = float(number * 1000 + turn)
            log.append([Tick(at_s), Tick(at_s + 0.5)], key=f"{number}-{turn % 5}")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(writer, range(3)))
    one, other = opened(name), opened(name)
    read = one.read(0, 10_000)
    assert [position for position, _ in read] == list(range(1, 31))
    assert read == other.read(0, 10_000)
    assert one.identity() == other.identity() != ""
    times = [entry.at_s for _, entry in read]
    assert all(second == first + 0.5 for first, second in zip(times[::2], times[1::2], strict=True))


def test_of_two_bases_the_further_counts_whoever_wrote_it(opened):
    name = a_name()
    one, other = opened(name), opened(name)
    one.append([Tick(float(n)) for n in range(10)], key="a")
    assert other.head() == 10
    one.compact(Base(7, b"seven"))
    other.compact(Base(4, b"four"))
    for log in (one, other, opened(name)):
        assert log.base() == Base(7, b"seven")
        assert [position for position, _ in log.read(7, 10)] == [8, 9, 10]
        assert log.append([Tick(0.0)], key="a") == 10, "the key is known beyond the base"


def test_what_is_not_there_is_a_gap(opened):
    log = opened(a_name())
    assert log.state() == ("", 0)
    assert log.wait(0, 0.05) == 0
    assert log.append([Tick(1.0), Tick(2.0)]) == 2
    assert log.wait(1, 30) == 2
    assert [raw.data for raw in log.read_raw(0, 2)] == [b'{"k":"t","t":1.0}', b'{"k":"t","t":2.0}']
    with pytest.raises(LogGap):
        log.read_raw(0, 3)
    with pytest.raises(ValueError, match="at least one"):
        log.append([])
