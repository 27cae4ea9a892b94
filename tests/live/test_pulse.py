"""The heartbeat: how far the views are behind the log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aspen.results.engine_status import EngineStatus
from smartcis.live.pulse import status_message

BEGAN_S, AT_S = 1_000.0, 1_030.0
WORKING = EngineStatus(
    state="live", started_s=BEGAN_S, beat_s=AT_S, progress_s=AT_S, position=7, head=7
)


@pytest.mark.parametrize(
    ("status", "lag_s"),
    [
        (WORKING, 0.0),
        (replace(WORKING, head=9, progress_s=AT_S - 3.5), 3.5),
        (replace(WORKING, progress_s=AT_S - 2.0), 0.0),  # all of the log, and nothing new in it
        (replace(WORKING, head=9, progress_s=0.0), AT_S - BEGAN_S),  # not one epoch yet
        (replace(WORKING, head=9, progress_s=AT_S + 2.0), 0.0),  # the engine's clock is ahead
        (EngineStatus(), 0.0),  # never begun: nothing to be behind of
    ],
)
def test_views_lag_by_the_time_since_they_last_had_all_of_the_log(status, lag_s):
    assert status_message(status, AT_S).lag_s == lag_s
