"""A recursion split by networks in the real engine: every epoch is right, whoever is killed."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import replace

import pytest
import redis
from spark import product
from spark.networks import VIEW, Building
from spark.test_engine import lane_pid, status_of
from spark.test_rescaling import end, running, start

from aspen.log.redis_log import RedisLog
from aspen.results import RedisResults

pytestmark = pytest.mark.spark


class Watcher(product.Follower):
    """Hears every epoch, and holds it against the graph at its log position."""

    def __init__(self, results, building):
        self.building = building
        self.checked = self.supersteps = 0
        self.wrong = []
        super().__init__(results)

    def hear(self, epoch):
        super().hear(epoch)
        self.supersteps += int(epoch.timing_ms.get("supersteps", 0))
        self._check(epoch.position)

    def _check(self, position):
        if position not in self.building.at_position:
            return  # noted a moment after it was appended; the next one will be looked at
        self.checked += 1
        if self.rows.get(VIEW, {}) != self.building.answer(position):
            self.wrong.append(position)


@pytest.fixture
def building(config):
    return Building(RedisLog(config.log_url, config.log_name, patience_s=20))


@pytest.fixture
def watcher(config, building):
    watching = Watcher(RedisResults(config.results_url, config.results_name), building)
    yield watching
    watching.over.set()
    watching.join(10)


def check(building, results, watcher):
    product.caught_up(results, building.log)
    assert dict(results.snapshots([VIEW])[VIEW].rows) == building.answer()
    epoch = results.head()[0]
    product.until(lambda: watcher.numbers and watcher.numbers[-1] >= epoch, "it hears all")
    assert watcher.wrong == []
    assert watcher.rows[VIEW] == building.answer()
    assert watcher.numbers == list(range(1, len(watcher.numbers) + 1))


def kill_in_a_superstep(config, building, number):
    """Kill the worker of a lane as soon as lanes exchange something."""
    supersteps = building.log.newest_superstep().number
    building.more(1)
    while building.log.newest_superstep().number == supersteps and building.log.head() < 10_000:
        building.more(1)
    os.kill(lane_pid(config, lane=number), signal.SIGKILL)


@pytest.mark.timeout(300)
def test_every_epoch_is_right_though_workers_are_killed_between_supersteps(
    session, config, building, results, watcher
):
    building.begin()
    config = replace(config, compact_entries=25)
    with running(config, session, 2):
        check(building, results, watcher)
        assert building.log.newest_superstep().number > 1
        for _ in range(6):  # at least an epoch each, however many changes a batch takes at once
            building.more(4)
            check(building, results, watcher)
        for number in (0, 1):
            kill_in_a_superstep(config, building, number)
            building.more(3)
            check(building, results, watcher)
    generation = results.writer()[0]
    building.more(5)
    with running(config, session, 2):
        check(building, results, watcher)
        building.more(3)
        check(building, results, watcher)
    assert results.writer()[0] == generation
    assert watcher.checked > 10
    assert watcher.supersteps > 2


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_lanes_come_and_go_and_no_epoch_is_wrong(session, config, building, results, watcher):
    config = replace(config, compact_entries=20, keep_entries=5, entries_per_batch=25)
    building.begin()
    for lanes in (1, 2, 3, 2, 1):
        with running(config, session, lanes):
            building.more(40)
            check(building, results, watcher)
    assert building.log.base().position > 0, "the log was compacted on the way"
    assert watcher.resyncs == 0


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_drivers_are_killed_again_and_again(config, building, results, watcher, tmp_path):
    draw = random.Random(7)
    building.begin()
    for _ in range(5):
        process = start(config, tmp_path, "local[2,3]", 2)
        try:
            product.until(
                lambda pid=process.pid: (
                    status_of(config).pid == pid and status_of(config).state == "live"
                ),
                "it is live",
                400,
            )
            for _ in range(draw.randrange(1, 12)):
                building.more(1)
                time.sleep(draw.random() / 4)
        finally:
            end(process, signal.SIGKILL)
        with redis.Redis.from_url(config.results_url) as client:
            client.delete(f"{config.results_name}:lease")  # as its supervisor does
    generation = results.writer()[0]
    process = start(config, tmp_path, "local[2,3]", 2)
    try:
        building.more(5)
        check(building, results, watcher)
    finally:
        end(process, signal.SIGTERM)
    assert results.writer()[0] == generation
    assert watcher.resyncs == 0
