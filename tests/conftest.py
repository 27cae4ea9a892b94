"""Fixtures that several packages share."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from aspen.log.embedded import EmbeddedRedis


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory) -> Iterator[str]:
    """A real Redis server for this test run."""
    server = EmbeddedRedis(tmp_path_factory.mktemp("redis"))
    try:
        yield server.start()
    finally:
        server.stop()


@pytest.fixture
def building(redis_url, settings) -> Iterator[str]:
    """A fresh log and result store, wired into Django; gives their name in Redis."""
    composition = pytest.importorskip("smartcis.composition")
    name = f"test-{secrets.token_hex(4)}"
    settings.REDIS_URL = redis_url
    settings.NAME = settings.LOG_NAME = settings.RESULTS_NAME = name
    made = (composition.log, composition.results, composition.server)
    for factory in made:
        factory.cache_clear()
    yield name
    for factory in made:
        factory.cache_clear()
