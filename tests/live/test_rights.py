"""Who a socket belongs to now, and what follows from it while the socket is open."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from live.sockets import opened, story

from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.live import consumers

pytestmark = pytest.mark.django_db(transaction=True)
PRIVATE = "visitor_heard"


def logged_in(name: str, *, staff: bool) -> tuple[Client, tuple[bytes, bytes]]:
    """Returns a browser in which somebody has logged in, and its cookie header."""
    user, _ = User.objects.get_or_create(username=name, defaults={"is_staff": staff})
    client = Client()
    client.force_login(user)
    return client, (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode())


def end_of(browser: Client) -> None:
    """Delete a session as a shell would: nobody is told."""
    browser.session.delete()


async def following(cookie, view):
    socket = await opened(cookie)
    await socket.say(type="subscribe", id=1, view=view)
    assert (await socket.hear("snapshot"))["view"] == view
    return socket


async def lives(socket) -> None:
    """See that a socket answers, and has been told of no end of its subscription."""
    await socket.say(type="ping", at=1)
    while (message := await socket.receive())["type"] != "pong":
        assert message["type"] not in ("closed", "error", "snapshot"), message


@pytest.fixture
def deployed(building, house, engine):
    deploy_standing_queries()
    engine()


@story
async def test_a_logout_closes_the_sockets_of_its_session_and_no_others(deployed):
    browser, cookie = await sync_to_async(logged_in)("ada", staff=True)
    _, elsewhere = await sync_to_async(logged_in)("ada", staff=True)
    here = [await following(cookie, PRIVATE) for _ in range(2)]
    there = await following(elsewhere, PRIVATE)
    await sync_to_async(browser.logout)()
    for socket in here:
        assert await socket.closed() == consumers.SESSION_OVER
    await lives(there)
    await there.leave()


@story
async def test_who_is_staff_no_longer_follows_nothing_private_any_more(deployed):
    _, cookie = await sync_to_async(logged_in)("ada", staff=True)
    _, other = await sync_to_async(logged_in)("bob", staff=True)
    socket, bystander = await following(cookie, PRIVATE), await following(other, PRIVATE)
    user = await sync_to_async(User.objects.get)(username="ada")
    user.first_name = "Ada"  # what changes nothing of what he may see ends nothing
    await sync_to_async(user.save)()
    await lives(socket)
    user.is_staff = False
    await sync_to_async(user.save)()
    assert (await socket.hear("closed"))["id"] == 1
    assert (await socket.hear("error"))["code"] == "smartcis.live.forbidden"
    await lives(bystander)
    for one in (socket, bystander):
        await one.leave()


@story
async def test_a_change_that_nobody_announced_is_found_by_asking(deployed, monkeypatch):
    monkeypatch.setattr(consumers, "SEEN_EVERY_S", 0.1)
    monkeypatch.setattr(consumers, "HEARTBEAT_S", 0.1)
    browser, cookie = await sync_to_async(logged_in)("ada", staff=True)
    socket = await following(cookie, PRIVATE)
    # An update of the table tells no signal, as another program would not.
    await sync_to_async(User.objects.filter(username="ada").update)(is_staff=False)
    assert (await socket.hear("closed"))["id"] == 1
    assert (await socket.hear("error"))["code"] == "smartcis.live.forbidden"
    await sync_to_async(end_of)(browser)
    assert await socket.closed() == consumers.SESSION_OVER


@story
async def test_a_visitor_may_not_follow_what_is_private(deployed):
    _, cookie = await sync_to_async(logged_in)("eve", staff=False)
    for headers in ((), (cookie,)):
        socket = await opened(*headers)
        await socket.say(type="subscribe", id=1, view=PRIVATE)
        assert (await socket.hear("error"))["code"] == "smartcis.live.forbidden"
        await socket.leave()
