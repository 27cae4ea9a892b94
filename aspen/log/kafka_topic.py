"""One partition of a Kafka topic: the few calls the log needs, over librdkafka.

offset   0   1   2   3        a record is there whole or not at all, and never moves
record   key value time       the broker's order is everybody's order
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from aspen.errors import AspenError

PARTITION = 0
_POLL_S = 0.1


class KafkaAway(AspenError):
    """The broker did not answer in time."""

    code = "aspen.log.kafka_away"


@dataclass(frozen=True, slots=True)
class Record:
    """One record.

    Args:
        at_ms: the broker's or the producer's clock, as the topic is configured.
    """

    offset: int
    key: bytes
    value: bytes
    at_ms: int


class KafkaTopic:
    """A topic used as one sequence of records.

    Args:
        servers: host:port, comma-separated.
        name: the topic's.
        settings: of the topic, for when it is made.
        patience_s: how long a call waits for the broker.
    """

    def __init__(
        self, servers: str, name: str, settings: dict[str, str], patience_s: float
    ) -> None:
        self.name = name
        self._servers = servers
        self._settings = settings
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 0,
                "message.max.bytes": 100_000_000,
                "delivery.timeout.ms": int(patience_s * 1000),
            }
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": f"{name}-reader",  # never committed to: places belong to checkpoints
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 50,
                "fetch.message.max.bytes": 16_000_000,
            }
        )
        self._next = -1
        self._made = False

    def append(self, key: bytes, value: bytes) -> int:
        """Append a record and give its offset, once every replica in charge has it.

        Raises:
            KafkaAway: it may or may not be there; the same key may be appended again.
        """
        self._make()
        done: list[tuple[KafkaError | None, Message]] = []
        self._producer.produce(
            self.name,
            value,
            key=key,
            partition=PARTITION,
            on_delivery=lambda error, message: done.append((error, message)),
        )
        self._producer.flush(self._patience_s + 1)
        if not done or done[0][0] is not None:
            raise self._away("the append", done[0][0] if done else None)
        offset: int | None = done[0][1].offset()
        assert offset is not None
        return offset

    def ends(self) -> tuple[int, int]:
        """Returns the offset of the first record that is kept, and the next one's."""
        self._make()
        try:
            first, after = self._consumer.get_watermark_offsets(
                TopicPartition(self.name, PARTITION), timeout=self._patience_s
            )
        except KafkaException as error:
            raise self._away("a look at its ends", error.args[0]) from error
        return first, after

    def read(self, first: int, after: int) -> Iterator[Record]:
        """Returns the records at offsets `first <= offset < after`, in order.

        Raises:
            KafkaAway: they did not all come in time.
        """
        with self._lock:
            if first >= after:
                return
            if self._next != first:
                self._consumer.assign([TopicPartition(self.name, PARTITION, first)])
            self._next = -1  # whoever stops half-way leaves it anywhere
            at = first
            deadline = time.monotonic() + self._patience_s
            while at < after:
                message = self._consumer.poll(_POLL_S)
                if message is None or _at_end(message):
                    if time.monotonic() > deadline:
                        raise self._away("a read", None)
                    continue
                if message.error() is not None:
                    raise self._away("a read", message.error())
                record = _record(message)
                at = record.offset + 1
                if record.offset < after:
                    yield record
                deadline = time.monotonic() + self._patience_s
            self._next = at

    def trim(self, before: int) -> bool:
        """Drop the records before an offset; whether the broker can."""
        admin = AdminClient({"bootstrap.servers": self._servers})
        place = TopicPartition(self.name, PARTITION, before)
        try:
            admin.delete_records([place])[place].result(self._patience_s)
        except (KafkaException, TimeoutError):
            return False
        return True

    def close(self) -> None:
        """Returns the connections back."""
        self._consumer.close()
        self._producer.close()

    def _make(self) -> None:
        """Make the topic at its first use; brokers may also make it by themselves."""
        if self._made:
            return
        known = self._producer.list_topics(self.name, timeout=self._patience_s)
        topic = known.topics.get(self.name)
        if topic is None or topic.error is not None or not topic.partitions:
            admin = AdminClient({"bootstrap.servers": self._servers})
            wanted = NewTopic(self.name, num_partitions=1, config=self._settings)
            try:
                admin.create_topics([wanted])[self.name].result(self._patience_s)
            except (KafkaException, TimeoutError) as error:
                known = self._producer.list_topics(self.name, timeout=self._patience_s)
                if not known.topics[self.name].partitions:
                    raise self._away("making it", None) from error
        self._made = True

    def _away(self, what: str, error: object) -> KafkaAway:
        return KafkaAway(
            f"Kafka topic {self.name}: {what} failed",
            found=str(error or f"no answer in {self._patience_s} s"),
            attempt="see that the broker runs, and try again under the same key",
        )


def _at_end(message: Message) -> bool:
    error = message.error()
    return error is not None and error.code() == KafkaError._PARTITION_EOF  # noqa: SLF001 - librdkafka's own spelling


def _record(message: Message) -> Record:
    kind, at_ms = message.timestamp()
    offset, key, value = message.offset(), message.key(), message.value()
    assert offset is not None
    return Record(
        offset,
        _bytes(key),
        _bytes(value),
        0 if kind == TIMESTAMP_NOT_AVAILABLE else at_ms,
    )


def _bytes(value: str | bytes | None) -> bytes:
    return value.encode() if isinstance(value, str) else value or b""
