"""Two lanes in one executor of real Spark: each stays in one worker, whichever takes the task."""

from __future__ import annotations

import os
import signal

import pytest
from spark import product
from spark.test_engine import status_of
from spark.test_rescaling import running

pytestmark = pytest.mark.spark


@pytest.mark.timeout(600)
def test_two_lanes_live_in_two_workers_and_outlive_one_of_them(
    session, config, feed, results, follower
):
    with running(config, session, 2):
        product.caught_up(results, feed.log)
        feed.more(25, pause_s=0.05)
        product.check(feed, results, follower)
        assert "lane_behind" not in follower.how, "a worker kept a copy of another one's lane"
        # The status is written a moment after the epoch.
        product.until(lambda: set(status_of(config).lane_pids) == {0, 1}, "both lanes are known")
        pids = status_of(config).lane_pids
        os.kill(pids[1], signal.SIGKILL)
        feed.more(10, pause_s=0.05)
        product.check(feed, results, follower)
        product.until(lambda: status_of(config).lane_pids[1] != pids[1], "another one has it")
    assert follower.resyncs == 0
