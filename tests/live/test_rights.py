"""Who a socket belongs to now, and what follows from it while the socket is open."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from live.sockets import opened, story

from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.ingest.relay import relay_now
from smartcis.live import consumers, rights
from smartcis.live.hub import Hub
from smartcis.models import RouteRequest

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
async def test_who_is_staff_no_longer_follows_nothing_private_any_more(deployed, monkeypatch):
    for module, period in ((consumers, "SEEN_EVERY_S"), (rights, "LOOK_S")):
        monkeypatch.setattr(module, period, 3_600.0)  # told, and not found by asking
    _, cookie = await sync_to_async(logged_in)("ada", staff=True)
    _, other = await sync_to_async(logged_in)("bob", staff=True)
    socket, bystander = await following(cookie, PRIVATE), await following(other, PRIVATE)
    user = await sync_to_async(User.objects.get)(username="ada")
    user.first_name = "Ada"  # what changes nothing of what he may see ends nothing
    await sync_to_async(user.save)()
    await lives(socket)
    user.is_staff = False
    await sync_to_async(user.save)()
    async with asyncio.timeout(30):
        assert (await socket.hear("snapshot"))["rows"] == []
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


async def showing_walks(cookie):
    """Returns a socket that shows where somebody walks."""
    socket = await opened(cookie)
    await socket.say(type="subscribe", id=1, view="walking_cost")
    assert (await socket.hear("snapshot"))["rows"]
    return socket


def test_rights_are_looked_at_often_enough_for_two_seconds():
    assert rights.LOOK_S <= 1.0


@pytest.fixture
def walked(deployed, engine):
    RouteRequest.objects.create(browser="b", node=1, goal="free-machine:LaTeX")
    relay_now()
    engine()


def no_staff(**changes) -> None:
    User.objects.filter(username="ada").update(**changes)


def deleted() -> None:
    User.objects.get(username="ada").delete()


@pytest.mark.parametrize("telling", [True, False])
def test_rows_leave_the_page_of_who_is_staff_no_longer_at_the_next_look(walked, telling):
    @story
    async def told():
        _, cookie = await sync_to_async(logged_in)("ada", staff=True)
        socket = await showing_walks(cookie)
        if telling:
            user = await sync_to_async(User.objects.get)(username="ada")
            user.is_staff = False
            await sync_to_async(user.save)()
        else:
            await sync_to_async(no_staff)(is_staff=False)
        assert (await socket.hear("snapshot"))["rows"] == []
        assert (await socket.hear("error"))["code"] == "smartcis.live.forbidden"
        await socket.say(type="subscribe", id=2, view="passable")
        assert (await socket.hear("snapshot"))["id"] == 2  # what is open goes on
        await socket.leave()

    told()


@pytest.mark.parametrize("end", [deleted, partial(no_staff, is_active=False)])
def test_who_is_gone_does_not_go_on_as_a_visitor(walked, end):
    @story
    async def told():
        _, cookie = await sync_to_async(logged_in)("ada", staff=True)
        socket = await showing_walks(cookie)
        await sync_to_async(end)()
        assert (await socket.hear("snapshot"))["rows"] == []
        assert await socket.closed() == consumers.SESSION_OVER

    told()


@story
async def test_a_page_that_comes_back_as_nobody_is_told_to_show_nothing(walked):
    browser, cookie = await sync_to_async(logged_in)("ada", staff=True)
    socket = await showing_walks(cookie)
    await sync_to_async(browser.logout)()
    assert (await socket.hear("snapshot"))["rows"] == []
    assert await socket.closed() == consumers.SESSION_OVER
    again = await opened(cookie)
    await again.say(type="subscribe", id=1, view="walking_cost", since=1)
    assert (await again.hear("snapshot"))["rows"] == []
    assert (await again.hear("error"))["code"] == "smartcis.live.forbidden"
    await again.leave()


@story
async def test_rights_that_change_while_a_subscription_begins_are_seen(walked, monkeypatch):
    held, granted = asyncio.Event(), asyncio.Event()
    subscribe = Hub.subscribe

    async def slow(self, *args, **kwargs):
        if not granted.is_set():
            granted.set()
            await held.wait()
        return await subscribe(self, *args, **kwargs)

    monkeypatch.setattr(Hub, "subscribe", slow)
    _, cookie = await sync_to_async(logged_in)("ada", staff=True)
    socket = await opened(cookie)
    await socket.say(type="subscribe", id=1, view="walking_cost")
    await granted.wait()
    await sync_to_async(no_staff)(is_staff=False)
    assert (await socket.hear("snapshot"))["rows"] == []
    held.set()
    assert (await socket.hear("error"))["code"] == "smartcis.live.forbidden"
    await lives(socket)
    await socket.leave()


@story
async def test_a_visitor_may_not_follow_what_is_private(deployed):
    _, cookie = await sync_to_async(logged_in)("eve", staff=False)
    for headers in ((), (cookie,)):
        socket = await opened(*headers)
        await socket.say(type="subscribe", id=1, view=PRIVATE)
        assert (await socket.hear("error"))["code"] == "smartcis.live.forbidden"
        await socket.leave()
