"""One holder at a time; a fencing token that only grows; a status others can read."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import replace

import pytest
import redis

from aspen.results.engine_status import EngineStatus, read_status, write_status
from aspen.results.lease import Lease


@pytest.fixture
def name():
    return f"test-{secrets.token_hex(6)}"


def test_one_holds_it_and_the_next_gets_a_higher_token(redis_url, name):
    first, second = Lease(redis_url, name, 60), Lease(redis_url, name, 60)
    assert first.acquire()
    assert not second.acquire()
    assert 0 < second.held_for_s() <= 60
    assert first.renew()
    first.release()
    assert second.acquire()
    assert second.token > first.token
    assert not first.renew()


def test_it_runs_out(redis_url, name):
    first, second = Lease(redis_url, name, 0.05), Lease(redis_url, name, 5)
    assert first.acquire()
    time.sleep(0.1)
    assert second.acquire()
    assert not first.renew()


def test_a_holder_that_missed_a_renewal_keeps_it_while_nobody_came(redis_url, name):
    lease = Lease(redis_url, name, 0.05)
    assert lease.acquire()
    time.sleep(0.1)
    assert lease.renew()


def test_it_can_be_taken_from_a_dead_process_only(redis_url, name):
    lease = Lease(redis_url, name, 60)
    assert lease.acquire()
    assert not lease.break_of(os.getpid() + 1)
    assert lease.break_of(os.getpid())
    assert lease.held_for_s() == 0


def test_the_status_reads_back(redis_url, name):
    client = redis.Redis.from_url(redis_url)
    assert read_status(client, name) == EngineStatus()
    status = EngineStatus("live", 7, "host", 1.5, 2.5, "g", 3, 4, 5, 2.0, {0: 99}, "no")
    write_status(client, name, status)
    assert read_status(client, name) == status


@pytest.mark.parametrize(
    ("changes", "summary"),
    [
        ({}, "live"),
        ({"progress_s": 90.0}, "delayed"),
        ({"beat_s": 90.0}, "offline"),
        ({"state": "starting", "progress_s": 0.0}, "starting"),
        ({"state": "failed"}, "offline"),
        ({"state": "stopped"}, "offline"),
    ],
)
def test_the_status_is_one_word_for_people(changes, summary):
    status = EngineStatus(state="live", beat_s=100.0, progress_s=100.0)
    assert replace(status, **changes).summary(now_s=100.5) == summary
