"""The socket, from the handshake on: a browser that walks, asks, misbehaves and comes back."""

from __future__ import annotations

import asyncio
import time

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from live.sockets import Socket, opened, page_of, story

from smartcis.access.owner import SYSTEM
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.push_readings import push_readings
from smartcis.actions.set_door_state import set_door_state
from smartcis.asgi import application
from smartcis.live import consumers, protocol
from smartcis.models import Door

pytestmark = pytest.mark.django_db(transaction=True)


@story
async def test_the_first_word_is_welcome_and_the_heart_beats(building, monkeypatch):
    monkeypatch.setattr(consumers, "HEARTBEAT_S", 0.05)
    socket = await opened()
    assert (await socket.hear("welcome"))["protocol"] == protocol.PROTOCOL
    for _ in range(3):
        assert (await socket.hear("status"))["engine"] == "offline"
    await socket.leave()


@story
async def test_between_heartbeats_a_socket_hears_what_it_asks_for_and_no_more(building):
    socket = await opened()
    await socket.hear("status")
    for number in range(3):
        await socket.say(type="ping", at=number)
        assert await socket.receive() == {"type": "pong", "at": number}
    await socket.leave()


@pytest.mark.parametrize(
    ("origin", "let_in"),
    [
        (b"http://localhost", True),
        (b"http://evil.example", False),
        (b"http://localhost.evil.example", False),
        (b"null", False),
    ],
)
@story
async def test_foreign_pages_are_refused(building, origin, let_in):
    socket = Socket(application, (b"origin", origin))
    connected, code = await socket.connect()
    assert connected is let_in
    if not let_in:
        assert code == consumers.FOREIGN_ORIGIN
    await socket.leave()


@story
async def test_a_foreign_host_is_refused(building):
    socket = Socket(application, host=(b"host", b"evil.example"))
    assert not (await socket.connect())[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "{"),
        ("[" * 3_000, "[" * 40),
        ("17", "int"),
        ('{"type":"shout"}', "shout"),
        ('{"type":["a"]}', "['a']"),
        ('{"type":"subscribe","id":1}', "None"),
        ('{"type":"subscribe","id":1.5,"view":"a"}', "1.5"),
        ('{"type":"subscribe","id":true,"view":"a"}', "True"),
        ('{"type":"subscribe","id":1,"view":"a","colour":1}', "colour"),
        ('{"type":"ping","at":1e999}', "1e999"),
        ('{"type":"ping","at":-9007199254740992}', "-9007199254740992"),
        ("x" * 20_000, "20000 characters"),
    ],
)
@story
async def test_nonsense_is_answered_and_the_socket_lives(building, text, found):
    socket = await opened()
    await socket.send(text)
    error = await socket.hear("error")
    assert (error["id"], error["code"]) == (None, "smartcis.live.bad_message")
    assert error["found"] == found
    await socket.say(type="ping", at=4.5)
    assert (await socket.hear("pong"))["at"] == 4.5
    await socket.leave()


@story
async def test_bytes_are_answered_too(building):
    socket = await opened()
    await socket.send(data=b"\x00\xff")
    error = await socket.hear("error")
    assert (error["code"], error["found"]) == ("smartcis.live.bad_message", "2 bytes")
    await socket.leave()


@story
async def test_an_unknown_view_names_the_nearest(building, house, engine):
    await sync_to_async(deploy_standing_queries)()
    socket = await opened()
    await socket.say(type="subscribe", id=3, view="free_machines")
    error = await socket.hear("error")
    assert (error["id"], error["code"]) == (3, "smartcis.live.unknown_view")
    assert error["exists"][0] == "free_machine"
    await socket.leave()


@story
async def test_a_socket_holds_so_many_subscriptions(building, monkeypatch):
    monkeypatch.setattr(consumers, "SUBSCRIPTIONS", 0)
    socket = await opened()
    await socket.say(type="subscribe", id=3, view="free_machine")
    assert (await socket.hear("error"))["code"] == "smartcis.live.too_many_subscriptions"
    await socket.leave()


@story
async def test_a_door_is_locked_and_every_socket_hears_it(building, house, engine):
    await sync_to_async(deploy_standing_queries)()
    await sync_to_async(engine)()
    one, other = await opened(), await opened()
    for socket in (one, other):
        await socket.say(type="subscribe", id=1, view="door_state")
    first = await one.hear("snapshot")
    assert [row[:2] for row in first["rows"]] == [["A.d1", "open"]]
    await other.hear("snapshot")
    await sync_to_async(set_door_state)("A.d1", Door.LOCKED, SYSTEM)
    await sync_to_async(engine)()
    for socket in (one, other):
        delta = await socket.hear("delta")
        assert delta["prev"] == first["epoch"]
        changes = [change[:3] for change in sorted(delta["changes"])]
        assert changes == [[-1, "A.d1", "open"], [1, "A.d1", "locked"]]
    # One leaves, misses a change, and comes back where it was.
    await one.leave()
    await sync_to_async(set_door_state)("A.d1", Door.OPEN, SYSTEM)
    await sync_to_async(engine)()
    await other.hear("delta")
    again = await opened()
    await again.say(type="subscribe", id=9, view="door_state", since=delta["epoch"])
    missed = await again.hear("delta")
    assert missed["prev"] == delta["epoch"]
    changes = [change[:3] for change in sorted(missed["changes"])]
    assert changes == [[-1, "A.d1", "locked"], [1, "A.d1", "open"]]
    await asyncio.gather(other.leave(), again.leave())


def readings(**kg) -> None:
    given = []
    for mid in ("m1", "m2"):
        given.append({"sid": f"{mid}.seat", "value": kg.get(mid, 0), "unit": "kg"})
        given.append({"sid": f"{mid}.cpu", "value": 3, "unit": "%"})
    now = time.time()
    push_readings([{**one, "at_s": now} for one in given], SYSTEM)


@story
async def test_two_browsers_each_see_their_own_walk(building, house, engine):
    await sync_to_async(deploy_standing_queries)()
    await sync_to_async(readings)()
    await sync_to_async(engine)()
    browsers = [Client(), Client()]
    cookies = [await sync_to_async(page_of)(browser) for browser in browsers]
    sockets = [await opened(cookie) for cookie in cookies]
    for socket in sockets:
        await socket.say(type="subscribe", id=1, view="nearest_destination")
        assert (await socket.hear("snapshot"))["rows"] == []
    # The second route is asked for after the sockets opened: they learn of it by themselves.
    walks = []
    for browser, node in zip(browsers, (1, 3), strict=True):
        body = {"node": node, "goal": "free-machine:LaTeX", "step_free": False}
        answer = await sync_to_async(browser.post)(
            "/api/v1/routes/", body, content_type="application/json"
        )
        assert answer.status_code == 201
        walks.append(answer.json()["session"])
    await sync_to_async(engine)()
    for socket, walk, mid in zip(sockets, walks, ("m1", "m2"), strict=True):
        rows: list = []
        while not rows:
            message = await socket.receive()
            rows = message.get("rows") or [row[1:] for row in message.get("changes", ())]
        assert [(row[0], row[4]) for row in rows] == [(walk, mid)]
    # Somebody sits down at m1: the first walk turns to m2, the second browser hears nothing.
    await sync_to_async(readings)(m1=70)
    await sync_to_async(engine)()
    delta = await sockets[0].hear("delta")
    assert {(row[0], row[1], row[5]) for row in delta["changes"]} == {
        (-1, walks[0], "m1"),
        (1, walks[0], "m2"),
    }
    # The walk ends: its rows are deleted at its own browser.
    await sync_to_async(browsers[0].delete)(f"/api/v1/routes/{walks[0]}/")
    await sync_to_async(engine)()
    delta = await sockets[0].hear("delta")
    assert [(row[0], row[1]) for row in delta["changes"]] == [(-1, walks[0])]
    await sockets[1].say(type="ping", at=1)
    while (message := await sockets[1].receive())["type"] != "pong":
        assert message["type"] == "status"
    for socket in sockets:
        await socket.leave()


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ((), "there is no view 'nowhere'"),
        (((b"accept-language", b"de-DE"),), "es gibt keine Sicht 'nowhere'"),
        (((b"cookie", b"django_language=de"),), "es gibt keine Sicht 'nowhere'"),
    ],
)
@story
async def test_an_error_is_told_in_the_language_of_the_handshake(building, header, said):
    socket = await opened(*header)
    await socket.say(type="subscribe", id=1, view="nowhere")
    error = await socket.hear("error")
    assert (error["code"], error["message"]) == ("smartcis.live.unknown_view", said)
    await socket.leave()
