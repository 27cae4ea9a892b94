"""One Spark session for all Spark tests, and a fresh engine's surroundings for each."""

from __future__ import annotations

import logging
import secrets

import pytest
from spark import product

from aspen.log import RedisLog
from aspen.results import RedisResults
from aspen.spark.config import EngineConfig
from aspen.spark.session import start_session


@pytest.fixture(scope="session")
def session(tmp_path_factory):
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it logs at exit, when nobody listens
    started = start_session("local[2,4]", 1, tmp_path_factory.mktemp("spark"))
    yield started
    started.stop()


@pytest.fixture
def config(redis_url, tmp_path):
    name = f"test-{secrets.token_hex(6)}"
    return EngineConfig(redis_url, name, redis_url, name, tmp_path / "checkpoint", patience_s=20)


@pytest.fixture
def feed(config):
    log = RedisLog(config.log_url, config.log_name, patience_s=20)
    made = product.Feed(log)
    made.begin()
    return made


@pytest.fixture
def results(config):
    return RedisResults(config.results_url, config.results_name, patience_s=20)


@pytest.fixture
def follower(config):
    reader = RedisResults(config.results_url, config.results_name, patience_s=20)
    following = product.Follower(reader)
    yield following
    following.over.set()
    following.join(10)
