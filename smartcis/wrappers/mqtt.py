"""MQTT: readings published to a broker, at least once on the wire and once in the log.

    broker ──PUBLISH──> wrapper ──append──> log
    broker <──PUBACK─── wrapper <──position─┘        no PUBACK before the position

Law:        a message the broker handed over and has not been acknowledged is handed over again,
            after whatever crash; its key makes the second append nothing.
Algorithm:  a session that outlives connections (stable client id, clean_session off, QoS 1),
            manual acknowledgement, a subscription on every connect (a broker that lost its
            sessions has forgotten the old one), back-off with jitter.
Identity:   topic and payload. A reading carries the time it was measured, so equal bytes are the
            same reading, whether broker or publisher repeated it.
Source:     MQTT 3.1.1 section 4.3.2; own.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar
from urllib.parse import SplitResult, unquote, urlsplit

import aiomqtt
import structlog
from django.conf import settings

from aspen.errors import AspenError
from smartcis.json_text import decoded
from smartcis.outbound import AddressRefused, connected
from smartcis.readings.times import measured_s
from smartcis.wrappers.base import Listener, pause_s
from smartcis.wrappers.config import ConfigField
from smartcis.wrappers.errors import BadBrokerMessage, BadConfig, LogAway, reason_of
from smartcis.wrappers.protocol import Append, Capability, MessageRefusal, Readings
from smartcis.wrappers.push import READINGS

PORT, TLS_PORT = 1883, 8883
KEEPALIVE_S = 15
CONNECT_S = 10.0
PAYLOAD_BYTES = 1_000_000
WAITING = 1_000  # messages without acknowledgement that came faster than they can be taken

logger = structlog.get_logger(__name__)


class MqttBroker(Listener):
    """A topic filter of one broker."""

    key = "mqtt"
    label = "MQTT broker"
    fields = (
        ConfigField("topic", "text", "topic filter, e.g. building/+/readings", required=True),
        ConfigField("url", "text", "mqtt://[user:password@]host[:port]; empty for MQTT_URL"),
    )
    feeds = READINGS
    capabilities = (Capability.PUSH,)
    longest_pause_s: ClassVar[float] = 15.0

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._topic = str(config["topic"])
        self._address = broker_address(str(config["url"]))
        self._random = random.Random()
        self.appended = self.refused = 0

    async def run(self, append: Append) -> None:
        """Stays connected and appends what comes; see the module's head."""
        failures = 0
        while True:
            try:
                async with self._client() as client:
                    granted = await client.subscribe(self._topic, qos=1)
                    self._check(granted)
                    logger.info("subscribed", source=self.settings.source, topic=self._topic)
                    failures = 0
                    self.pulse.trouble("")  # connected: whatever was wrong before has passed
                    async for message in client.messages:
                        await self._take(message, append)
                        # Only now may the broker forget it. aiomqtt passes on no way to say so.
                        client._client.ack(message.mid, message.qos)  # noqa: SLF001
            except (aiomqtt.MqttError, AddressRefused) as error:
                failures += 1
                self.pulse.trouble(f"broker: {reason_of(error)}")
                logger.warning("broker away", source=self.settings.source, reason=str(error))
            await asyncio.sleep(pause_s(failures, self._random, self.longest_pause_s))

    def _client(self) -> aiomqtt.Client:
        host = str(self._address.hostname)
        port = self._address.port or (TLS_PORT if self._address.scheme == "mqtts" else PORT)
        client = aiomqtt.Client(
            host,
            port,
            username=unquote(self._address.username) if self._address.username else None,
            password=unquote(self._address.password) if self._address.password else None,
            identifier=self.settings.client_id,
            clean_session=False,
            protocol=aiomqtt.ProtocolVersion.V311,
            tls_params=aiomqtt.TLSParameters() if self._address.scheme == "mqtts" else None,
            keepalive=KEEPALIVE_S,
            timeout=CONNECT_S,
            max_queued_incoming_messages=WAITING,
        )
        # The operator's own broker may be anywhere; of one that somebody entered it is asked. paho
        # takes no addresses, and would ask for the name a second time.
        listed = None if self.settings.config["url"] == settings.MQTT_URL else ()
        connect = partial(connected, host, port, CONNECT_S, listed)
        setattr(client._client, "_create_socket_connection", connect)  # noqa: SLF001, B010
        # Before connecting: a session's old messages arrive right after the connection.
        client._client.manual_ack_set(True)  # noqa: SLF001  # aiomqtt has no option for it
        return client

    def _check(self, granted: Any) -> None:
        """Refuses to wait for messages that a broker will never send."""
        code = granted[0]
        if getattr(code, "value", code) != 1:
            raise aiomqtt.MqttError(f"subscription to {self._topic} refused ({code})")

    async def _take(self, message: aiomqtt.Message, append: Append) -> None:
        """Appends one message, however long the log is away; names one that cannot be used."""
        topic = str(message.topic)
        failures = 0
        while True:
            try:
                await self._try(topic, message.payload, append)
            except LogAway as away:
                self.pulse.trouble(away.message)
                await asyncio.sleep(pause_s(failures, self._random, self.longest_pause_s))
                failures += 1
            else:
                return

    async def _try(self, topic: str, payload: Any, append: Append) -> None:
        try:
            batch = readings_of(topic, payload)
            await asyncio.to_thread(append, batch)
            newest_s = max(measured_s(one) for one in batch.readings)
        except LogAway:
            raise
        except AspenError as fault:
            await self._refuse(topic, payload, fault)
        except Exception as error:  # unacknowledged, it would come for ever and hold up the others
            logger.exception("message broke its reader", topic=topic)
            broke = BadBrokerMessage(f"it broke its reader: {type(error).__name__}: {error}")
            await self._refuse(topic, payload, broke)
        else:
            self.appended += 1
            # By when it was measured: what the broker kept for hours is no sign of life.
            self.pulse.heard(min(newest_s, self._clock()))

    async def _refuse(self, topic: str, payload: Any, fault: AspenError) -> None:
        """Keeps a message for somebody to look at, and may then forget it."""
        await asyncio.to_thread(self.settings.refuse, MessageRefusal(topic, payload, fault))
        self.refused += 1
        self.pulse.trouble(f"message on {topic} refused: {fault.code}: {fault.message}")
        logger.warning("message refused", topic=topic, **_fields(fault))


def readings_of(topic: str, payload: Any) -> Readings:
    """Reads a message: one reading, or a list of them, as JSON.

    Raises:
        BadJSON: it is no such thing.
    """
    data = payload if isinstance(payload, bytes) else b""
    said = decoded(data, PAYLOAD_BYTES)
    readings = said if isinstance(said, list) else [said]
    return Readings(hashlib.sha256(topic.encode() + b"\0" + data).hexdigest()[:40], readings)


def broker_address(url: str) -> SplitResult:
    """Takes a broker's address apart.

    Raises:
        BadConfig: neither mqtt:// nor mqtts://, or no host.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"mqtt", "mqtts"} or not parts.hostname:
        raise BadConfig(
            "a broker's address begins with mqtt:// or mqtts://",
            found=url.rpartition("@")[2] or "nothing",
            attempt="mqtt://localhost:1883, as the source's url or as MQTT_URL",
        )
    return parts


def _fields(fault: AspenError) -> dict[str, str]:
    return {"code": fault.code, "reason": fault.message, "found": fault.found}
