"""Home Assistant by its WebSocket: a real server that plays the protocol, well and badly."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import pytest
from django.db import connections
from websockets.asyncio.server import serve
from wrappers.conftest import in_log, settings_of
from wrappers.test_listen import until

from smartcis import composition
from smartcis.ingest.relay import relay
from smartcis.models import RefusedMessage, SeenDevice, Sensor, Source
from smartcis.sources.sink import SourceSink
from smartcis.wrappers import home_assistant
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.home_assistant import HomeAssistantSocket

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "let-me-in"
KITCHEN = "sensor.kitchen_temperature"


def iso(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat()


def state(entity: str, value: object, at_s: float, **attributes) -> dict:
    return {
        "entity_id": entity,
        "state": value,
        "attributes": attributes,
        "last_changed": iso(at_s),
        "last_updated": iso(at_s),
    }


def warm(value: object, at_s: float) -> dict:
    return state(KITCHEN, value, at_s, device_class="temperature", unit_of_measurement="°F")


class Assistant:
    """A server that plays the protocol; `states` is what it knows, `frames` what it sends then."""

    def __init__(self) -> None:
        self.states: list[object] = []
        self.frames: list[str | bytes] = []
        self.sockets: list = []
        self.commands: list[dict] = []
        self.silent = False
        self.greeting = json.dumps({"type": "auth_required", "ha_version": "2026.11"})
        self.port = 0

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/api/websocket"

    async def __call__(self, socket) -> None:
        self.sockets.append(socket)
        await socket.send(self.greeting)
        said = json.loads(await socket.recv())
        if said != {"type": "auth", "access_token": TOKEN}:
            await socket.send(json.dumps({"type": "auth_invalid", "message": "Invalid password"}))
            return
        await socket.send(json.dumps({"type": "auth_ok", "ha_version": "2026.11"}))
        async for text in socket:
            command = json.loads(text)
            self.commands.append(command)
            await self._answer(socket, command)

    async def _answer(self, socket, command: dict) -> None:
        done = {"id": command["id"], "type": "result", "success": True, "result": None}
        match command["type"]:
            case "subscribe_events":
                self.subscription = command["id"]
                await socket.send(json.dumps(done))
            case "get_states":
                await socket.send(json.dumps(done | {"result": self.states}))
                for frame in self.frames:
                    await socket.send(frame)
            case "ping" if not self.silent:
                await socket.send(json.dumps({"id": command["id"], "type": "pong"}))

    async def change(self, new: object) -> None:
        data = {"entity_id": KITCHEN, "old_state": None, "new_state": new}
        event = {"event_type": "state_changed", "data": data, "origin": "LOCAL"}
        said = {"id": self.subscription, "type": "event", "event": event}
        await self.sockets[-1].send(json.dumps(said))


@asynccontextmanager
async def served(assistant: Assistant):
    async with serve(assistant, "127.0.0.1", assistant.port) as server:
        assistant.port = server.sockets[0].getsockname()[1]
        yield


@asynccontextmanager
async def listened(assistant: Assistant, token: str = TOKEN, period_s: float = 100.0):
    config = {"url": assistant.url, "token": token}
    await asyncio.to_thread(Source.objects.get_or_create, source="ha", kind="home_assistant")
    sink = SourceSink("ha", composition.log())

    def append(batch):
        try:
            return sink(batch)
        finally:
            connections.close_all()  # this thread's own

    def refuse(refusal):
        try:
            sink.refuse(refusal)
        finally:
            connections.close_all()

    settings = settings_of("home_assistant", config, source="ha", period_s=period_s, refuse=refuse)
    wrapper = HomeAssistantSocket(settings)
    wrapper.longest_pause_s = 0.1
    task = asyncio.create_task(wrapper.run(append))
    try:
        yield wrapper
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def celsius() -> list[float]:
    return [row[2] for _, row in in_log("temperature_reading")]


@pytest.fixture
def kitchen(building, house, monkeypatch) -> Sensor:
    """A sensor that was placed for the entity."""
    Source.objects.create(source="ha", kind="home_assistant")
    sensor = Sensor(
        sid=f"ha:{KITCHEN}:temperature", kind="temperature", unit_id="A", simulated=False
    )
    sensor.clean()
    sensor.save()
    relay(composition.log())
    return sensor


def now_s() -> float:
    return round(datetime.now(UTC).timestamp(), 3) - 5.0


@pytest.mark.asyncio
async def test_states_and_their_changes_are_readings_of_a_placed_sensor(kitchen):
    began_s, assistant = now_s(), Assistant()
    assistant.states = [
        warm("212", began_s),
        state("light.desk", "on", began_s),
        state("sensor.attic_temperature", "20.5", began_s, device_class="temperature"),
        state("binary_sensor.front", "on", began_s, device_class="door", friendly_name="Front"),
        state("binary_sensor.cell", "on", began_s, device_class="battery"),
        state("sensor.clock", "12:00", began_s, device_class="timestamp"),
    ]
    async with served(assistant), listened(assistant):
        await until(lambda: celsius() == [100.0], "the state")
        for value in ("unavailable", "unknown", None, "32"):
            await assistant.change(warm(value, began_s + 1.0))
        await assistant.change(None)
        await until(lambda: celsius() == [100.0, 0.0], "the change")
        commands = [one["type"] for one in assistant.commands]
    assert commands == ["subscribe_events", "get_states"]
    assert [row for _, row in in_log("temperature_reading")] == [
        (kitchen.sid, "A", 100.0, began_s),
        (kitchen.sid, "A", 0.0, began_s + 1.0),
    ]
    seen = {one.device: one for one in await asyncio.to_thread(lambda: [*SeenDevice.objects.all()])}
    # The attic's were kept and may be of any age; what says when is listed all the same.
    assert sorted(seen) == ["binary_sensor.front", "sensor.attic_temperature"]
    assert seen["binary_sensor.front"].name == "Front"
    assert seen["binary_sensor.front"].quantities["door"]["value"] == 1.0


@pytest.mark.asyncio
async def test_a_broken_connection_is_made_again_and_nothing_comes_twice(kitchen):
    began_s, assistant = now_s(), Assistant()
    assistant.states = [warm("50", began_s)]
    async with served(assistant), listened(assistant) as wrapper:
        await until(lambda: celsius() == [10.0], "the state")
        await assistant.sockets[0].close()
        await until(lambda: len(assistant.commands) == 4, "the second introduction")
        await assistant.change(warm("68", began_s + 1.0))
        await until(lambda: celsius() == [10.0, 20.0], "a change behind it")
        assert wrapper.pulse.reason == ""
    assistant.states = [warm("68", began_s + 1.0), warm("86", began_s + 2.0)]
    async with served(assistant), listened(assistant):  # another process
        await until(lambda: celsius()[2:] == [30.0], "what is new")
    assert celsius() == [10.0, 20.0, 30.0]


@pytest.mark.asyncio
async def test_a_wrong_token_is_named_and_not_tried_again_at_once(building, house):
    assistant = Assistant()
    async with served(assistant), listened(assistant, "guess") as wrapper:
        await until(lambda: "token" in wrapper.pulse.reason, "the complaint")
        await asyncio.sleep(0.5)
        assert len(assistant.sockets) == 1
        assert "guess" not in wrapper.pulse.reason
        assert wrapper.pulse.never


HOSTILE = [
    "",
    "hello?",
    b"\xff\xfe\x00",
    "[" * 50_000,
    '{"id": 1, "id": 2}',
    json.dumps([1, 2]),
    json.dumps({"id": 1, "type": "event", "event": 7}),
    json.dumps({"id": 1, "type": "event", "event": {"data": []}}),
    json.dumps({"id": 2, "type": "result", "success": True, "result": "all"}),
]
USELESS = [
    json.dumps({"id": 1, "type": "event", "event": {"data": {"new_state": new}}})
    for new in (
        7,
        {},
        {"entity_id": 5},
        {"entity_id": KITCHEN},
        {"entity_id": KITCHEN, "state": ["1"], "attributes": "none"},
        warm("1e999", 0.0),
        warm("nan", 0.0),
        {"entity_id": KITCHEN + "\u2028" * 3_000, "state": "1", "last_updated": "soon"},
    )
] + [json.dumps({"id": 9, "type": "event"}), json.dumps({"type": 5})]


@pytest.mark.asyncio
async def test_hostile_frames_are_kept_and_hold_nobody_up(kitchen):
    began_s, assistant = now_s(), Assistant()
    far = {"id": 1, "type": "event", "event": {"data": {"new_state": warm("1", began_s + 1e6)}}}
    assistant.frames = [*HOSTILE, *USELESS, json.dumps(far)]
    async with served(assistant), listened(assistant) as wrapper:
        await until(lambda: wrapper.refused > len(HOSTILE), "them to be kept")
        await assistant.change(warm("68", began_s))
        await until(lambda: celsius() == [20.0], "the good one behind them")
        assert wrapper.refused == len(HOSTILE) + 1
    kept = await asyncio.to_thread(lambda: {one.code for one in RefusedMessage.objects.all()})
    assert "smartcis.bad_json" in kept
    assert "smartcis.wrappers.bad_message" in kept


@pytest.mark.asyncio
async def test_a_frame_beyond_all_measure_ends_the_connection_alone(kitchen, monkeypatch):
    monkeypatch.setattr(home_assistant, "MESSAGE_BYTES", 2_000)
    began_s, assistant = now_s(), Assistant()
    assistant.frames = ['"' + "x" * 3_000 + '"']
    async with served(assistant), listened(assistant) as wrapper:
        # Each new introduction takes the reason back, and the frame behind it gives it again.
        await until(lambda: "Home Assistant" in wrapper.pulse.reason, "the complaint")
        await until(lambda: len(assistant.sockets) > 2, "it to try again")
        assistant.frames, assistant.states = [], [warm("68", began_s)]
        await until(lambda: celsius() == [20.0], "the state")


@pytest.mark.parametrize(
    "greeting", ["hello", "{}", '{"type": "auth_ok"}', "[" * 9_000], ids=range(4)
)
@pytest.mark.asyncio
async def test_something_else_at_the_address_is_down(building, house, greeting):
    assistant = Assistant()
    assistant.greeting = greeting
    async with served(assistant), listened(assistant) as wrapper:
        await until(lambda: "something else" in wrapper.pulse.reason, "the complaint")
        await until(lambda: len(assistant.sockets) > 1, "the next attempt")
        assert wrapper.pulse.never


@pytest.mark.asyncio
async def test_silence_is_asked_about_and_ends_the_connection_when_it_lasts(building, house):
    assistant = Assistant()
    async with served(assistant), listened(assistant, period_s=0.05) as wrapper:
        await until(lambda: "ping" in [one["type"] for one in assistant.commands], "a ping")
        assistant.silent = True
        await until(lambda: "silent" in wrapper.pulse.reason, "the complaint")
        await until(lambda: len(assistant.sockets) > 1, "a new connection")


@pytest.mark.asyncio
async def test_an_address_inside_is_not_called_unless_listed(building, house, settings):
    settings.NETWORKS = []
    assistant = Assistant()
    async with served(assistant), listened(assistant) as wrapper:
        await until(lambda: "private network" in wrapper.pulse.reason, "the refusal")
        assert assistant.sockets == []


@pytest.mark.parametrize(
    "url",
    [
        *("http://a/api", "ws://", "ws://a:99999/", "ws://a:0/", "ws://a:x/", "ws://[a/", "a"),
        "ws://a/#b",
    ],
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(BadConfig, match="ws://"):
        HomeAssistantSocket(settings_of("home_assistant", {"url": url, "token": "t"}))


def test_a_token_may_stand_in_the_environment_and_nothing_else_is_read_there(monkeypatch):
    def token(said: str) -> str:
        config = {"url": "ws://a", "token": said}
        return HomeAssistantSocket(settings_of("home_assistant", config))._token

    monkeypatch.setenv("SMARTCIS_TOKEN_HOME", TOKEN)
    monkeypatch.setenv("SMARTCIS_SECRET_KEY", "ours")
    assert token("env:SMARTCIS_TOKEN_HOME") == TOKEN
    assert token("plain") == "plain"
    for name in ("SMARTCIS_SECRET_KEY", "SMARTCIS_TOKEN_NONE", "PATH"):
        with pytest.raises(BadConfig, match="environment"):
            token(f"env:{name}")
