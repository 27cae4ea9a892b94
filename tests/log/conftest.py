"""A Kafka broker: the one at KAFKA_URL, else the one that librdkafka brings for tests.

The latter speaks Kafka's protocol over TCP but keeps everything in memory, makes topics by itself
and deletes no records. Where the extra `kafka` is not installed, these tests are left out.
"""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session")
def kafka_url():
    given = os.environ.get("KAFKA_URL")
    if given:
        yield given
        return
    library = pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")
    broker = library.Producer({"test.mock.num.brokers": 1, "log_level": 2})
    found = broker.list_topics(timeout=30).brokers.values()
    yield ",".join(f"{one.host}:{one.port}" for one in found)
    del broker
