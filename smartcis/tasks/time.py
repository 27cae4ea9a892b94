"""Write the passing of time into the log."""

from __future__ import annotations

import time

from celery import shared_task

from aspen.log.entry import Tick
from smartcis.composition import log

TICK_S = 1.0


@shared_task(name="smartcis.tick")
def tick() -> bool:
    """Appends a tick, unless the log's last one is younger than most of a second.

    Returns:
        Whether a tick was appended.
    """
    now_s = time.time()
    last_s = log().last_tick_s()
    if last_s is not None and now_s - last_s < TICK_S * 0.8:
        return False
    log().append([Tick(now_s)])
    return True
