"""Backoff: how long to wait before the next attempt, doubling, with a cap and by lot."""

from __future__ import annotations

import random

FIRST_S = 0.5
CAP_S = 15.0
DOUBLINGS = 10


def wait_s(attempt: int) -> float:
    """Returns seconds to wait, so that a thousand clients do not come back in step.

    Args:
        attempt: attempts that failed before this one.
    """
    ceiling_s: float = min(CAP_S, FIRST_S * 2 ** min(attempt, DOUBLINGS))
    return ceiling_s / 2 + random.random() * ceiling_s / 2
