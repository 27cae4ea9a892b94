"""Where concrete classes meet: the log and the result store this process uses."""

from __future__ import annotations

from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from aspen.log.redis_log import RedisLog
from aspen.results import AsyncResults, RedisResults


@cache
def log() -> RedisLog:
    """Returns the building's log."""
    return RedisLog(settings.REDIS_URL, settings.LOG_NAME)


@cache
def results() -> RedisResults:
    """Returns the snapshot store, for code that may block."""
    return RedisResults(settings.REDIS_URL, settings.RESULTS_NAME)


def async_results() -> AsyncResults:
    """Opens the snapshot store for one event loop; its connections belong to that loop."""
    return AsyncResults(settings.REDIS_URL, settings.RESULTS_NAME)


@cache
def server() -> redis.Redis:
    """Returns the Redis server itself, for locks and status.

    It fails at once when the server is away: people wait for the answer, and a sweep comes later.
    """
    return redis.Redis.from_url(
        settings.REDIS_URL,
        health_check_interval=30,
        socket_connect_timeout=2,
        retry=Retry(NoBackoff(), 1),
    )
