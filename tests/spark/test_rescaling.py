"""Another number of lanes: views and epochs go on, and each client hears every change once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import pytest
import redis
from spark import product
from spark.test_engine import ENVIRONMENT, HERE, status_of

pytestmark = pytest.mark.spark


@contextmanager
def running(config, session, lanes):
    session.conf.set("spark.sql.shuffle.partitions", str(lanes))
    try:
        with product.running(replace(config, lanes=lanes), session) as engine:
            yield engine
    finally:
        session.conf.set("spark.sql.shuffle.partitions", "1")


def go_through(turns, session, config, feed, results, follower):
    epoch, generations = 0, set()
    for lanes in turns:
        with running(config, session, lanes) as engine:
            if epoch:  # without news the results stay as they are
                product.until(lambda: status_of(config).state == "live", "it stands there")
                assert ("took_over", {"epoch": epoch, "position": feed.log.head()}) in engine.said
                assert results.head()[0] == epoch
            feed.more(30, pause_s=0.01)
            product.check(feed, results, follower)
            product.until(
                lambda many=lanes: set(status_of(config).lane_pids) == set(range(many)),
                "all lanes are known",
            )
        epoch = results.head()[0]
        generations.add(results.writer()[0])
    assert len(generations) == len(turns)
    assert follower.resyncs == 0
    # Who comes back after all that still finds what was missed.
    assert [e.number for e in results.epochs_since(0, 0)] == list(range(1, epoch + 1))


@pytest.mark.timeout(600)
def test_one_lane_becomes_two_and_one_again(session, config, feed, results, follower):
    config = replace(config, compact_entries=20, keep_entries=5, entries_per_batch=25)
    feed.more(60)
    go_through((1, 2, 1), session, config, feed, results, follower)
    assert feed.log.base().position > 0, "the log was compacted on the way"


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_one_lane_becomes_two_then_four_then_three(session, config, feed, results, follower):
    go_through((1, 2, 4, 3, 1), session, config, feed, results, follower)


def start(config, tmp_path, master, lanes):
    program = tmp_path / f"config-{lanes}.json"
    program.write_text(
        json.dumps([config.log_url, config.log_name, str(config.checkpoint), master, lanes])
    )
    command = [sys.executable, str(HERE / "driver.py"), str(program)]
    return subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True)


def end(process, how):
    os.killpg(process.pid, how) if how is signal.SIGKILL else process.send_signal(how)
    process.wait(60)


@pytest.mark.nightly
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("master", ["local[2,3]", "local-cluster[2,1,1024]"])
def test_killed_again_and_again_while_it_is_rescaled(
    config, feed, results, follower, tmp_path, master
):
    draw = random.Random(7)
    feed.more(400)
    for lanes in (1, 2, 2, 4, 2, 4, 1):
        process = start(config, tmp_path, master, lanes)
        try:
            feed.more(draw.randrange(20, 600), pause_s=0.05)
        finally:
            end(process, signal.SIGKILL)
        with redis.Redis.from_url(config.results_url) as client:
            client.delete(f"{config.results_name}:lease")  # as its supervisor does
    process = start(config, tmp_path, master, 2)
    try:
        feed.more(60, pause_s=0.05)
        product.until(  # three JVMs take their time to begin
            lambda: status_of(config).pid == process.pid and status_of(config).state == "live",
            "the last engine is live",
            400,
        )
        product.check(feed, results, follower)
    finally:
        end(process, signal.SIGTERM)
    assert follower.resyncs == 0
