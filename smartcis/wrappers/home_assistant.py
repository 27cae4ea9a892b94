"""Home Assistant: the states of its entities, over the WebSocket that its own pages use.

    auth_required ──> auth ──> auth_ok ──> subscribe_events, get_states ──> result, event, event …

Law:        no change of state after the subscription is missed: all states are asked for behind
            it, and a state that comes both ways has one key.
Identity:   entity and `last_updated`, which is when it was measured.
Source:     developers.home-assistant.io, "WebSocket API"; own.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from aspen.errors import AspenError
from smartcis.json_text import BadJSON, decoded
from smartcis.outbound import AGENT, connected
from smartcis.wrappers.base import Listener
from smartcis.wrappers.config import ConfigField, address_parts
from smartcis.wrappers.errors import BadBrokerMessage, BadConfig, SourceDown, reason_of
from smartcis.wrappers.payloads.fields import number
from smartcis.wrappers.payloads.home_assistant import quantity_of
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.payloads.times import moment_s
from smartcis.wrappers.protocol import Append, Capability, Measured, Measurements
from smartcis.wrappers.push import READINGS
from smartcis.wrappers.secrets import secret

PORTS = {"ws": 80, "wss": 443}
CONNECT_S = 10.0
ANSWER_S = 15.0  # for each step of the introduction
MESSAGE_BYTES = 16_000_000  # all states of a large house are one message of a few megabytes
PINGS_UNANSWERED = 2
REFUSED_PAUSE_S = 300.0  # it may shut out addresses that knock with a wrong token
SUBSCRIPTION, STATES = 1, 2  # ids of our commands; pings count on
DOMAINS = ("sensor", "binary_sensor")
ON_OFF = {"on": 1.0, "off": 0.0}

logger = structlog.get_logger(__name__)


class TokenRefused(SourceDown, code="smartcis.wrappers.token_refused"):
    """A source that does not know the token it was given; asking again at once does not help."""


class HomeAssistantSocket(Listener):
    """One Home Assistant."""

    key = "home_assistant"
    label = "Home Assistant (WebSocket)"
    fields = (
        ConfigField(
            "url", "text", "ws://host:8123/api/websocket, or wss:// behind TLS", required=True
        ),
        ConfigField(
            "token",
            "text",
            "a long-lived access token of its page Profile, Security; env:SMARTCIS_TOKEN_… reads "
            "it from the environment",
            required=True,
        ),
    )
    period_s = 30.0
    feeds = READINGS
    capabilities = (Capability.PUSH,)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._url = str(config["url"])
        self._token = secret(str(config["token"]))
        self._host, self._port = _address(self._url)

    async def run(self, append: Append) -> None:
        """Stays connected and appends what comes; see the module's head."""
        failures = 0
        while True:
            try:
                async with self._connected() as socket:
                    await self._introduce(socket)
                    failures = 0
                    self.pulse.heard(self._clock())
                    await self._follow(socket, append)
            except TokenRefused as error:
                self._away(error)
                await asyncio.sleep(REFUSED_PAUSE_S)
            except (AspenError, WebSocketException, OSError, TimeoutError, ValueError) as error:
                self._away(error)
                failures += 1
            await self._rest(failures)

    def _away(self, error: Exception) -> None:
        said = error.message if isinstance(error, AspenError) else reason_of(error)
        reason = f"Home Assistant: {said}"
        self.pulse.trouble(reason)
        logger.warning("Home Assistant away", source=self.settings.source, reason=reason)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[ClientConnection]:
        # The address that is checked is the one that is connected to; a redirect is not followed.
        plain = await asyncio.to_thread(connected, self._host, self._port, CONNECT_S)
        try:
            socket = await connect(
                self._url,
                sock=plain,
                ssl=ssl.create_default_context() if self._url.startswith("wss:") else None,
                open_timeout=CONNECT_S,
                max_size=MESSAGE_BYTES,
                user_agent_header=AGENT,
            )
        except BaseException:
            plain.close()
            raise
        async with socket:
            yield socket

    async def _introduce(self, socket: ClientConnection) -> None:
        """Says who we are, and asks for what is measured.

        Raises:
            TokenRefused: it does not know the token.
            SourceDown: it is no Home Assistant.
        """
        await _expected(socket, "auth_required")
        await socket.send(json.dumps({"type": "auth", "access_token": self._token}))
        await _expected(socket, "auth_ok")
        for number_of, command in (
            (SUBSCRIPTION, {"type": "subscribe_events", "event_type": "state_changed"}),
            (STATES, {"type": "get_states"}),
        ):
            await socket.send(json.dumps({"id": number_of, **command}))

    async def _follow(self, socket: ClientConnection, append: Append) -> None:
        """Appends what comes; asks for a sign of life when nothing does.

        Raises:
            SourceDown: it gives none, or will not tell its states.
        """
        last, unanswered = STATES, 0
        while True:
            try:
                # Nothing is lost when this wait ends: the library keeps what it received.
                async with asyncio.timeout(self.settings.period_s):
                    data = await socket.recv()
            except TimeoutError:
                if unanswered >= PINGS_UNANSWERED:
                    raise SourceDown("it has fallen silent") from None
                last, unanswered = last + 1, unanswered + 1
                await socket.send(json.dumps({"id": last, "type": "ping"}))
                continue
            unanswered = 0
            self.pulse.heard(self._clock(), self.pulse.reason)
            for message in await self._messages(data):
                await self._deliver(message, append)

    async def _messages(self, data: str | bytes) -> list[Message]:
        """Returns the states that a message of the socket holds, each as a message.

        Raises:
            SourceDown: it refused a command.
        """
        now_s, raw = self._clock(), data.encode() if isinstance(data, str) else data
        try:
            said = decoded(raw, MESSAGE_BYTES)
            states, kept = _states(said)
        except (BadJSON, BadBrokerMessage) as fault:
            await self._refuse(Message("", raw, now_s), fault)
            return []
        return [_message(one, now_s, kept=kept) for one in states if _measures(one)]

    def _read(self, message: Message) -> Measurements:
        state = message.object()
        at_s = moment_s(state.get("last_updated"))
        found = [] if (one := _measured(message.topic, state, at_s)) is None else [one]
        key = f"{message.topic}@{at_s if at_s is not None else message.at_s!r}"
        return Measurements(key, found, message.at_s, message.retained)


def _address(url: str) -> tuple[str, int]:
    """Returns host and port.

    Raises:
        BadConfig: neither ws:// nor wss://, or no host.
    """
    parts = address_parts(url, PORTS)
    if parts is None or parts.fragment:
        raise BadConfig(
            "Home Assistant's address begins with ws:// or wss://",
            found=url.rpartition("@")[2][:80],
            attempt="ws://homeassistant.local:8123/api/websocket",
        )
    return str(parts.hostname), parts.port or PORTS[parts.scheme]


async def _expected(socket: ClientConnection, step: str) -> None:
    """Waits for a step of the introduction.

    Raises:
        TokenRefused: it is the answer to a wrong token.
        SourceDown: it is something else.
    """
    async with asyncio.timeout(ANSWER_S):
        data = await socket.recv()
    try:
        said = decoded(data, MESSAGE_BYTES)
    except AspenError:
        said = None
    found = said.get("type") if isinstance(said, dict) else None
    if found == "auth_invalid":
        raise TokenRefused("it refused the access token")
    if found != step:
        raise SourceDown("something else answers there", found=str(found)[:40])


def _states(said: Any) -> tuple[list[Any], bool]:
    """Returns the states that a message holds, and whether they are of any age.

    Raises:
        BadBrokerMessage: it should hold some and does not.
        SourceDown: it refuses a command.
    """
    if not isinstance(said, dict):
        raise BadBrokerMessage("the message is no JSON object", found=type(said).__name__)
    if said.get("type") == "result" and said.get("success") is not True:
        fault = said.get("error")
        words = fault.get("message") if isinstance(fault, dict) else fault
        raise SourceDown(f"it refused: {str(words)[:100]}")
    if said.get("type") == "result" and said.get("id") == STATES:
        result = said.get("result")
        if not isinstance(result, list):
            raise BadBrokerMessage("the states are no list", found=type(result).__name__)
        return result, True
    if said.get("type") == "event" and said.get("id") == SUBSCRIPTION:
        event = said.get("event")
        data = event.get("data") if isinstance(event, dict) else None
        if not isinstance(data, dict):
            raise BadBrokerMessage("the event holds no state", found=str(event)[:40])
        return [data.get("new_state")], False  # null for an entity that was removed
    return [], False


def _measures(state: Any) -> bool:
    """Returns whether a state is that of a sensor, whatever it says."""
    entity = state.get("entity_id") if isinstance(state, dict) else None
    return isinstance(entity, str) and entity.partition(".")[0] in DOMAINS


def _message(state: Mapping[str, Any], now_s: float, *, kept: bool) -> Message:
    return Message(str(state["entity_id"]), json.dumps(state).encode(), now_s, kept)


def _measured(entity: str, state: Mapping[str, Any], at_s: float | None) -> Measured | None:
    """Returns what an entity measured; None for what is no measurement, or not available."""
    attributes = state.get("attributes")
    said: Mapping[str, Any] = attributes if isinstance(attributes, dict) else {}
    quantity = quantity_of(said.get("device_class"), (entity.rpartition("_")[2],))
    binary = entity.startswith("binary_sensor.")
    if not quantity or (binary and quantity == "battery"):  # which says low, not how much
        return None
    word = state.get("state")
    value = ON_OFF.get(str(word)) if binary else number(word)
    if value is None:
        return None
    unit, name = said.get("unit_of_measurement"), said.get("friendly_name")
    return Measured(
        entity,
        quantity,
        value,
        unit if isinstance(unit, str) else "",
        at_s,
        name if isinstance(name, str) else "",
    )
