"""Whatever a client sends, it is answered: no frame ends in an exception nobody handles."""

from __future__ import annotations

import asyncio
import gc
import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from live.sockets import opened, story

from smartcis.live import consumers, protocol

pytestmark = pytest.mark.django_db(transaction=True)

CHARACTERS = st.characters(exclude_categories=())  # half characters too
TEXTS = st.text(CHARACTERS, max_size=20) | st.sampled_from(
    ["", "\0", "\ud800", "free_machine", "a" * 121, "type", "__proto__"]
)
NUMBERS = (
    st.integers()
    | st.floats()
    | st.sampled_from([10**400, -(10**4_299), 2**53, 2**53 - 1, 2**64, 1e308, -0.0])
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["id", "view", "since", "at", "type"]) | TEXTS
MESSAGES = st.fixed_dictionaries(
    {"type": st.sampled_from(["subscribe", "unsubscribe", "ping"]) | VALUES},
    optional={"id": VALUES | st.integers(0, 3), "view": TEXTS, "since": VALUES, "at": VALUES},
) | st.dictionaries(FIELDS, VALUES, max_size=5)


@st.composite
def frames(draw) -> str | bytes:
    match draw(st.integers(0, 4)):
        case 0:
            return draw(st.binary(max_size=50))
        case 1:
            return draw(st.text(CHARACTERS, max_size=50))
        case 2:
            deep = draw(st.integers(1, 2_000))
            inner = draw(st.sampled_from(["1", '"\\ud800"', ""]))
            nested = "[" * deep + inner + "]" * deep
            return draw(st.sampled_from([nested, f'{{"type":"ping","at":{nested}}}']))
        case _:
            return json.dumps(draw(MESSAGES), ensure_ascii=draw(st.booleans()))


async def conversation(said: list[str | bytes]) -> None:
    unhandled: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
    socket = await opened()
    for frame in said:
        if isinstance(frame, bytes):
            await socket.send(data=frame)
        else:
            await socket.send(frame)
    await socket.say(type="ping", at=-17.25)
    while (pong := await socket.hear("pong"))["at"] != -17.25:
        pass
    assert pong == {"type": "pong", "at": -17.25}
    await socket.leave()
    gc.collect()  # a task whose exception nobody took says so when it goes
    await asyncio.sleep(0)
    assert unhandled == []


@given(st.lists(frames(), max_size=12))
@example(['{"type":"\\ud800"}'])
@example(['{"type":"subscribe","id":1,"view":"\\ud800"}'])
@example(['{"type":"subscribe","id":1,"view":"a\\u0000b"}'])
@example(['{"type":"subscribe","id":1,"view":"a","\\udfff":1}'])
@example(['{"type":"ping","at":1' + "0" * 400 + "}"])
@example(['{"type":"ping","at":' + "[" * 900 + '"\\ud800"' + "]" * 900 + "}"])
@example(['{"type":' + "[" * 900 + "]" * 900 + "}"])
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_frame_is_answered_and_the_socket_lives(building, said):
    story(conversation)(said)


@given(frames())
@settings(max_examples=400, deadline=None)
def test_a_frame_is_a_message_or_refused_in_words_that_can_be_sent(frame):
    try:
        message = protocol.decode(frame)
    except protocol.BadClientMessage as error:
        sent = protocol.encode(protocol.WireError.of(error, None))
    else:
        assert isinstance(message, protocol.CLIENT_MESSAGES)
        sent = protocol.encode(protocol.Pong(getattr(message, "at", 0.0)))
    assert json.loads(sent.encode())["type"] in ("error", "pong")


@story
async def test_who_asks_and_does_not_listen_is_let_go(building, monkeypatch):
    monkeypatch.setattr(consumers, "REPLIES_WAITING", 10)
    nothing_is_read = lambda _self: asyncio.sleep(0)  # noqa: E731
    monkeypatch.setattr(consumers.LiveConsumer, "_send_what_waits", nothing_is_read)
    socket = await opened()
    for number in range(30):
        await socket.say(type="ping", at=number)
    assert await socket.closed() == consumers.TOO_MUCH
    await socket.leave()
