"""Connections to Redis: those that outlive a restart of the server, and those that never wait."""

from __future__ import annotations

import math

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

_BASE_S = 0.02
_CAP_S = 0.5
_BLOCK_S = 2.0  # of a call that waits at the server; a reply that takes 5 s counts as lost


def block_ms(wait_s: float) -> int:
    """Returns how long one call may wait at the server, of a wait that may take longer."""
    return max(1, int(min(wait_s, _BLOCK_S) * 1000))


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


def connect_once(url: str, patience_s: float = 2.0) -> redis.Redis:
    """Returns a client whose calls fail at once while the server is away: its user asks again soon.

    Args:
        url: e.g. redis://127.0.0.1:6379/0.
        patience_s: how long a server that is there may take.
    """
    return redis.Redis.from_url(
        url,
        socket_timeout=patience_s,
        socket_connect_timeout=patience_s,
        retry=Retry(NoBackoff(), 0),
    )
