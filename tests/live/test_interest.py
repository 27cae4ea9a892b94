"""What sockets follow is told to the log, again and again, and no longer once nobody does."""

from __future__ import annotations

import asyncio

import pytest
import redis
from live.sockets import PATIENCE_S
from log.memory_log import MemoryLog

from aspen.log.entry import Interest, Uninterest
from smartcis.live import interest as module
from smartcis.live.interest import AGAIN_S, KEEP_S, LINGER_S, SocketInterests


class Clock:
    def __init__(self):
        self.now_s = 1_000.0

    def __call__(self):
        return self.now_s


async def until(holds):
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - a log in memory has no event
            await asyncio.sleep(0.005)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def log():
    return MemoryLog()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "_LOOK_S", 0.01)
    monkeypatch.setattr(module, "_RETRY_S", 0.01)


def told(log):
    return [(type(entry).__name__, entry.view, entry.at_s) for _, entry in log.read(0, log.head())]


@pytest.mark.asyncio
async def test_an_interest_is_told_once_renewed_and_taken_back(clock, log):
    interests = SocketInterests(log.append, clock)
    task = asyncio.create_task(interests.run())
    interests.take("q1")
    interests.take("q1")
    await until(lambda: log.head() == 1)
    clock.now_s += AGAIN_S + 1
    await until(lambda: log.head() == 2)
    interests.drop("q1")
    await asyncio.sleep(0.05)
    interests.drop("q1")
    clock.now_s += LINGER_S + 1
    await until(lambda: log.head() == 3)
    clock.now_s += 10 * KEEP_S
    await asyncio.sleep(0.05)
    task.cancel()
    one, two, end = told(log)
    assert one == ("Interest", "q1", 1_000.0)
    assert two == ("Interest", "q1", 1_001.0 + AGAIN_S)
    assert end[:2] == ("Uninterest", "q1")
    holders = {entry.holder for _, entry in log.read(0, 3)}
    assert len(holders) == 1


@pytest.mark.asyncio
async def test_who_comes_back_at_once_changes_nothing(clock, log):
    interests = SocketInterests(log.append, clock)
    task = asyncio.create_task(interests.run())
    interests.take("q1")
    await until(lambda: log.head() == 1)
    interests.drop("q1")
    clock.now_s += LINGER_S / 2
    interests.take("q1")
    clock.now_s += 2 * LINGER_S
    await asyncio.sleep(0.1)
    task.cancel()
    assert told(log) == [("Interest", "q1", 1_000.0)]


@pytest.mark.asyncio
async def test_what_the_log_does_not_take_is_told_later(clock, log):
    failures = iter([redis.ConnectionError("away"), OSError("away"), None])

    def append(entries):
        failure = next(failures)
        if failure is not None:
            raise failure
        return log.append(entries)

    interests = SocketInterests(append, clock)
    task = asyncio.create_task(interests.run())
    interests.take("q1")
    await until(lambda: log.head() == 1)
    task.cancel()
    ((_, entry),) = log.read(0, 1)
    assert isinstance(entry, Interest)
    assert not isinstance(entry, Uninterest)
    assert entry.keep_s == KEEP_S


@pytest.mark.asyncio
async def test_who_left_before_the_log_was_told_leaves_nothing_behind(clock, log):
    interests = SocketInterests(log.append, clock)
    for number in range(100):
        interests.take(f"q{number}")
        interests.drop(f"q{number}")
    task = asyncio.create_task(interests.run())
    interests.take("q0")
    await until(lambda: log.head() == 1)
    task.cancel()
    assert told(log) == [("Interest", "q0", 1_000.0)]
    assert (interests._left_s, interests._wanted) == ({}, {"q0": 1})
