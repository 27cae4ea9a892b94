"""Each message of the socket, by who sends it and whose view it names: as `policy.toml` says."""

from __future__ import annotations

import pytest
from api.test_api import relay, running
from api.test_matrix import ROLES, SOCKET, VIEWS, House, by_thing
from api.test_why import now_s, visitor  # noqa: F401 - fixtures
from asgiref.sync import sync_to_async
from live.sockets import opened, story

from smartcis.live.protocol import CLIENT_MESSAGES, tag_of

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = {"smartcis.live.forbidden": "no", "smartcis.live.unknown_view": "none"}


def headers_of(house: House, role: str) -> list[tuple[bytes, bytes]]:
    caller = house.callers[role]
    cookie = caller.client.cookies.get("sessionid")
    found = [(b"cookie", f"sessionid={cookie.value}".encode())] if cookie else []
    token = caller.client.headers.get("authorization") if caller.client.headers else None
    return found + ([(b"authorization", token.encode())] if token else [])


async def word_of(socket, number: int) -> tuple[str, list]:
    while (message := await socket.receive()).get("id") != number:
        assert message["type"] in ("welcome", "status"), message
    if message["type"] == "error":
        return WORDS.get(message["code"], message["code"]), []
    return "yes", message["rows"]


@pytest.fixture
def at_home(visitor, now_s, engine) -> House:  # noqa: F811
    made = House()
    relay()
    engine()
    return made


def test_every_message_has_its_line():
    assert sorted(SOCKET) == sorted(tag_of(message) for message in CLIENT_MESSAGES)


def test_views_are_followed_by_whom_they_should(at_home, engine):
    wanted = by_thing(SOCKET["subscribe"])

    @story
    async def told():
        seen = {thing: [] for thing in wanted}
        own = {}
        for role in ROLES:
            socket = await opened(*await sync_to_async(headers_of)(at_home, role))
            for number, thing in enumerate(wanted):
                view = VIEWS.get(thing) or at_home.ids.get(thing, thing)
                await socket.say(type="subscribe", id=number, view=view)
                word, rows = await word_of(socket, number)
                seen[thing].append(word)
                own[role, thing] = rows
                await socket.say(type="unsubscribe", id=number)
            await socket.say(type="ping", at=1)
            assert (await socket.hear("pong"))["at"] == 1
            await socket.leave()
        assert seen == wanted
        walks = {role for role in ROLES if own[role, "own_view"]}
        assert walks == {"browser"}, "the rows of a walk are its browser's"

    with running(engine):
        told()
