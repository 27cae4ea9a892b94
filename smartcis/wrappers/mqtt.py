"""MQTT: readings published to a broker, at least once on the wire and once in the log.

    broker ──PUBLISH──> wrapper ──append──> log
    broker <──PUBACK─── wrapper <──position─┘        no PUBACK before the position

Law:        a message the broker handed over and has not been acknowledged is handed over again,
            after whatever crash; its key makes the second append nothing.
Algorithm:  a session that outlives connections (stable client id, clean_session off, QoS 1),
            manual acknowledgement, a subscription on every connect (a broker that lost its
            sessions has forgotten the old one), back-off with jitter.
Identity:   topic and payload, where they say when it was measured: equal bytes are then the same
            reading, whether broker or publisher repeated it. Otherwise the arrival belongs to it,
            and a message that is handed over again after a crash is a second, equal reading.
Source:     MQTT 3.1.1 section 4.3.2; own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import SplitResult, unquote

import aiomqtt
import structlog
from django.conf import settings

from smartcis.outbound import AddressRefused, connected
from smartcis.wrappers.base import Listener
from smartcis.wrappers.config import ConfigField, address_parts, zone
from smartcis.wrappers.errors import BadConfig, reason_of
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.payloads.reader import PayloadReader
from smartcis.wrappers.protocol import Append, Batch, Capability
from smartcis.wrappers.push import READINGS

PORT, TLS_PORT = 1883, 8883
KEEPALIVE_S = 15
CONNECT_S = 10.0
WAITING = 1_000  # messages without acknowledgement that came faster than they can be taken

logger = structlog.get_logger(__name__)


class MqttBroker(Listener):
    """One broker, and how the messages of its topics are read."""

    key = "mqtt"
    label = "MQTT broker"
    fields = (
        ConfigField(
            "topic",
            "text",
            "topic filter, e.g. building/#; empty for the topics of its mappings, and without "
            "mappings for where Zigbee2MQTT, Tasmota, LoRaWAN servers, Sparkplug and what "
            "announces itself to Home Assistant publish",
        ),
        ConfigField("url", "text", "mqtt://[user:password@]host[:port]; empty for MQTT_URL"),
        ConfigField("zone", "zone", "of devices that send local time, e.g. Europe/Berlin"),
    )
    feeds = READINGS
    capabilities = (Capability.PUSH,)
    longest_pause_s = 15.0

    def _set_up(self, config: Mapping[str, Any]) -> None:
        clocks = zone(config["zone"]) if config["zone"] else None
        self._reader = PayloadReader(self.settings.mappings, str(config["topic"]), clocks)
        try:
            self._filters = [aiomqtt.Wildcard(one) for one in self._reader.filters]
        except ValueError as fault:
            raise BadConfig("no topic filter", found=str(config["topic"])[:60]) from fault
        self._address = broker_address(str(config["url"]))
        self._followed: set[str] = set()

    async def run(self, append: Append) -> None:
        """Stays connected and appends what comes; see the module's head."""
        failures = 0
        while True:
            try:
                async with self._client() as client:
                    await self._subscribe(client)
                    failures = 0
                    self.pulse.trouble("")  # connected: whatever was wrong before has passed
                    async for message in client.messages:
                        await self._take(message, append)
                        await self._follow(client)
                        # Only now may the broker forget it. aiomqtt passes on no way to say so.
                        client._client.ack(message.mid, message.qos)  # noqa: SLF001
            except (aiomqtt.MqttError, AddressRefused) as error:
                failures += 1
                self.pulse.trouble(f"broker: {reason_of(error)}")
                logger.warning("broker away", source=self.settings.source, reason=str(error))
            await self._rest(failures)

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

    async def _subscribe(self, client: aiomqtt.Client) -> None:
        """Asks for the topics; refuses to wait for messages that a broker will never send."""
        wanted = self._reader.filters
        granted = await client.subscribe([(one, 1) for one in wanted])
        codes = [getattr(code, "value", code) for code in granted]
        refused = [one for one, code in zip(wanted, codes, strict=True) if code != 1]
        if refused and (self._reader.asked or len(refused) == len(wanted)):
            raise aiomqtt.MqttError(f"subscription to {', '.join(refused)} refused ({codes})")
        logger.info("subscribed", source=self.settings.source, topics=wanted)
        self._followed = set()
        await self._follow(client)

    async def _follow(self, client: aiomqtt.Client) -> None:
        """Asks for the topics that devices have named meanwhile."""
        for topic in self._reader.follows - self._followed:
            self._followed.add(topic)
            if not self._wanted(topic):
                await client.subscribe(topic, qos=1)

    def _wanted(self, topic: str) -> bool:
        """Returns whether a topic is asked for; a broker remembers what was asked for earlier."""
        return any(aiomqtt.Topic(topic).matches(one) for one in self._filters)

    async def _take(self, message: aiomqtt.Message, append: Append) -> None:
        """Appends one message, however long the log is away; names one that cannot be used."""
        topic, data = str(message.topic), message.payload
        heard = Message(
            topic, data if isinstance(data, bytes) else b"", self._clock(), bool(message.retain)
        )
        if not self._wanted(topic) and topic not in self._reader.follows:
            return
        self.settings.heard(heard)
        await self._deliver(heard, append)

    def _read(self, message: Message) -> Batch:
        return self._reader.read(message)


def broker_address(url: str) -> SplitResult:
    """Takes a broker's address apart.

    Raises:
        BadConfig: neither mqtt:// nor mqtts://, no host, or no port that there is.
    """
    parts = address_parts(url, ("mqtt", "mqtts"))
    if parts is None:
        raise BadConfig(
            "a broker's address is mqtt:// or mqtts://, a host and a port up to 65535",
            found=url.rpartition("@")[2] or "nothing",
            attempt="mqtt://localhost:1883, as the source's url or as MQTT_URL",
        )
    return parts
