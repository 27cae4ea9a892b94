"""Supersteps beside a log: each is there once, in order, and its number is never given twice."""

from __future__ import annotations

import secrets

import pytest

from aspen.log.base import LogGap
from aspen.log.entry import Tick
from aspen.log.redis_log import NewestSuperstep, OtherSupersteps, RedisLog


@pytest.fixture
def log(redis_url):
    return RedisLog(redis_url, f"test-{secrets.token_hex(6)}")


def test_a_round_is_appended_once_for_its_batch(log):
    assert log.newest_superstep() == NewestSuperstep()
    assert log.begin_supersteps() == 1
    for _ in range(2):
        log.append_superstep(2, b"two", 17, "g", 5)
    log.append_superstep(3, b"three", 18, "g", 6)
    found = log.read_superstep(2)
    assert (found.position, found.data, found.appended_ms) == (2, b"two", 17)
    assert log.newest_superstep() == NewestSuperstep(3, "g", (6, 5))


def test_nobody_appends_behind_another_query(log):
    number = log.begin_supersteps()
    log.append_superstep(number + 1, b"one", 1, "g", 0)
    assert log.begin_supersteps() == number + 2
    for other in (number + 1, number + 2, number + 4):
        with pytest.raises(OtherSupersteps):
            log.append_superstep(other, b"late", 1, "g", 1)
    log.append_superstep(number + 3, b"mine", 1, "h", 0)
    assert log.newest_superstep() == NewestSuperstep(number + 3, "h", (0,))


def test_a_round_that_is_gone_is_a_gap(log):
    with pytest.raises(LogGap):
        log.read_superstep(1)


def test_log_and_rounds_are_seen_as_of_one_moment(log):
    assert log.state() == ("", 0, 0)
    log.append([Tick(1.0), Tick(2.0)])
    number = log.begin_supersteps()
    assert log.state() == (log.identity(), 2, number)
