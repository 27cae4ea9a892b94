"""The real engine: Spark over a real Redis, killed and restarted, against the oracle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import redis
from spark import product
from views import small_world as world

import aspen
from aspen.algebra.explain import plan_text
from aspen.log import RedisLog
from aspen.log.entry import (
    Change,
    EntryQuarantined,
    OneTimeKind,
    OneTimeQuery,
    Transaction,
)
from aspen.results import EpochsForgotten, RedisResults
from aspen.results.engine_status import read_status
from aspen.spark.checkpoint import read_checkpoint
from aspen.spark.engine import Ending, Engine, LeaseTaken
from aspen.streamsql import compile_query
from smartcis.services.embedded_redis import EmbeddedRedis

pytestmark = pytest.mark.spark
HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}


def status_of(config):
    with redis.Redis.from_url(config.results_url) as client:
        return read_status(client, config.results_name)


def lane_pid(config, dead=0, lane=0):
    """Wait until a lane is known to be in a worker other than a dead one; give its process id."""

    def another():  # the status is written a moment after the epoch
        pid = status_of(config).lane_pids.get(lane, dead)
        return 0 if pid == dead else pid

    return product.until(another, "the lane is in a worker")


def test_oracle_views_equal_a_recomputation_through_kills_and_restarts(
    session, config, feed, results, follower
):
    config = replace(config, compact_entries=60)
    with product.running(config, session):
        product.caught_up(results, feed.log)
        feed.more(80, pause_s=0.01)
        product.check(feed, results, follower)
        dead = 0
        for _ in range(3):
            feed.more(10, pause_s=0.01)
            dead = lane_pid(config, dead)
            os.kill(dead, signal.SIGKILL)
            feed.more(10, pause_s=0.02)
            product.check(feed, results, follower)
    assert status_of(config).state == "stopped"
    feed.more(30)
    generation = results.writer()[0]
    with product.running(config, session):
        product.check(feed, results, follower)
    assert results.writer()[0] == generation
    assert follower.resyncs == 0
    assert {"lane_warm", "lane_rebuilt"} <= set(follower.how)


def test_workers_import_the_package_from_where_the_driver_has_it(session, tmp_path):
    first, *_ = os.environ["PYTHONPATH"].split(os.pathsep)
    command = [sys.executable, "-c", "import aspen; print(aspen.__file__)"]
    ran = subprocess.run(
        command,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": first},
        capture_output=True,
        text=True,
    )
    assert ran.stdout.strip() == aspen.__file__, ran.stderr


def test_a_lost_checkpoint_begins_a_new_generation(session, config, feed, results):
    with product.running(config, session):
        feed.more(20)
        product.check(feed, results)
    epoch, generation = results.head()[0], results.writer()[0]
    # Not in the old place, where this JVM may still write the old query's state.
    config = replace(config, checkpoint=config.checkpoint.with_name("another"))
    feed.more(20)
    with product.running(config, session):
        product.check(feed, results)
    assert results.writer()[0] != generation
    with pytest.raises(EpochsForgotten):
        list(results.epochs_since(epoch, 0))


def test_lost_results_begin_a_new_generation(session, config, feed, results):
    with product.running(config, session):
        feed.more(10)
        product.check(feed, results)
        # Spark marks a batch as done a moment after the sink wrote it; before that, it runs again.
        product.until(
            lambda: read_checkpoint(config.checkpoint).committed >= 0, "a batch is marked as done"
        )
    with redis.Redis.from_url(config.results_url) as client:
        client.delete(*client.scan_iter(f"{config.results_name}:results:*"))
    with product.running(config, session) as engine:
        product.check(feed, results)
        assert "checkpoint_dropped" in [event for event, _ in engine.said]


def test_a_compacted_log_rebuilds_every_view(session, config, feed, results, follower):
    config = replace(config, compact_entries=20, keep_entries=40, entries_per_batch=10)
    with product.running(config, session):
        feed.more(200)
        product.check(feed, results, follower)
    base = feed.log.base().position
    assert base > 0
    # Not in the old place, where this JVM may still write the old query's state.
    config = replace(config, checkpoint=config.checkpoint.with_name("another"))
    feed.more(20)
    with product.running(config, session):
        product.check(feed, results, follower)
    assert follower.resyncs == 1


def test_one_engine_works_at_a_time(session, config, feed, results):
    with product.running(config, session):
        product.caught_up(results, feed.log)
        with pytest.raises(LeaseTaken):
            Engine(config, lambda *_, **__: None, session).run()


def test_an_engine_whose_lease_is_gone_ends_itself(session, config, feed, results):
    with product.running(config, session) as engine:
        product.caught_up(results, feed.log)
        with redis.Redis.from_url(config.results_url) as client:
            client.set(f"{config.results_name}:lease", "99 elsewhere:1")
        product.until(lambda: engine.ended, "the engine ends")
        assert engine.ended == [Ending.LEASE_LOST]
        assert status_of(config).state == "failed"


def test_an_engine_outlives_a_restart_of_redis(session, tmp_path, config):
    server = EmbeddedRedis(tmp_path / "redis")
    server.start()
    url = server.url
    config = replace(config, log_url=url, results_url=url)
    log = RedisLog(url, config.log_name, patience_s=20)
    feed = product.Feed(log)
    feed.begin()
    results = RedisResults(url, config.results_name, patience_s=20)
    follower = product.Follower(RedisResults(url, config.results_name, patience_s=20))
    try:
        with product.running(config, session) as engine:
            for _ in range(2):
                feed.more(15, pause_s=0.01)
                server.process.kill()
                server.process.wait()
                time.sleep(1.5)
                server.start()
                feed.more(15, pause_s=0.01)
                product.check(feed, results, follower)
            assert engine.ended == []
        assert follower.resyncs == 0
    finally:
        follower.over.set()
        follower.join(30)
        server.stop()


def test_a_driver_killed_mid_stream_is_continued_by_the_next(config, feed, results, follower):
    config_file = config.checkpoint.parent / "config.json"
    config_file.write_text(json.dumps([config.log_url, config.log_name, str(config.checkpoint)]))
    command = [sys.executable, str(HERE / "driver.py"), str(config_file)]
    for turn in range(2):
        driver = subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True)
        try:
            feed.more(10)
            product.caught_up(results, feed.log)
            feed.more(40, pause_s=0.02)
            family = psutil.Process(driver.pid).children(recursive=True)
            if turn:
                product.check(feed, results, follower)
        finally:
            driver.send_signal(signal.SIGKILL)
            driver.wait()
        gone, alive = psutil.wait_procs(family, timeout=120)
        assert alive == [], "Spark's processes end with the driver"
        assert gone
        with redis.Redis.from_url(config.results_url) as client:
            client.delete(f"{config.results_name}:lease")  # as its supervisor does
    assert follower.resyncs == 0


@pytest.mark.nightly
def test_executors_of_their_own_give_the_same_views(config, feed, results, tmp_path):
    program = tmp_path / "config.json"
    program.write_text(
        json.dumps(
            [config.log_url, config.log_name, str(config.checkpoint), "local-cluster[2,1,1024]", 2]
        )
    )
    command = [sys.executable, str(HERE / "driver.py"), str(program)]
    driver = subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True)
    try:
        feed.more(60, pause_s=0.05)
        product.check(feed, results)
    finally:
        driver.send_signal(signal.SIGTERM)
        driver.wait(60)


def test_a_question_that_was_running_when_its_worker_died_is_answered_with_that(
    session, config, feed, results
):
    with product.running(config, session):
        feed.more(40)
        edges = tuple(Change("link", 1, (n, n + 1, 1)) for n in range(100, 3_000))
        feed.log.append([Transaction(1.0, edges)])
        product.caught_up(results, feed.log)
        pid = lane_pid(config)
        sql = "SELECT COUNT(*) AS n FROM link a, link b, link c"
        plan = plan_text(compile_query(sql, world.CATALOG).plan)
        question = OneTimeQuery(1.0, "q", "", (), OneTimeKind.ONCE, plan_text=plan)
        more = Transaction(1.0, (Change("link", 1, (0, 3_001, 1)),))
        feed.log.append([question])
        product.until(psutil.Process(pid).children, "the question is computed beside the lane")
        feed.log.append([more])
        product.caught_up(results, feed.log)  # no epoch waits for it
        assert results.snapshot("why:q") is None
        os.kill(pid, signal.SIGKILL)
        feed.log.append([more])
        answer = product.until(lambda: results.snapshot("why:q"), "an answer")
        assert answer.error["code"] == EntryQuarantined.code
        assert lane_pid(config, pid)
        assert status_of(config).state == "live"
        assert feed.log.left_out() == []
