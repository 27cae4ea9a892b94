"""Connections to Redis that outlive a restart of the server."""

from __future__ import annotations

import math

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

_BASE_S = 0.02
_CAP_S = 0.5


def connect(url: str, patience_s: float) -> redis.Redis:
    """Returns a client whose every call is tried again while the server is away.

    Whatever is called must be idempotent: the server may have done it and the reply be lost.

    Args:
        url: e.g. redis://127.0.0.1:6379/0.
        patience_s: about how long a call keeps trying.
    """
    doubling = math.ceil(math.log2(_CAP_S / _BASE_S))
    retries = doubling + math.ceil(patience_s / _CAP_S)
    return redis.Redis.from_url(
        url,
        retry=Retry(ExponentialBackoff(cap=_CAP_S, base=_BASE_S), retries),
        retry_on_error=[redis.ConnectionError, redis.TimeoutError],
        health_check_interval=30,
    )
