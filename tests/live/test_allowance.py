"""What one socket may: hold, ask, be sent."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest
from asgiref.sync import sync_to_async
from live.sockets import PATIENCE_S, opened, page_of, story

from smartcis.access import limits
from smartcis.access.owner import Owner
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.live import allowance, consumers, protocol
from smartcis.live.allowance import Allowance

pytestmark = pytest.mark.django_db(transaction=True)
REACHED = "smartcis.limits.reached"


@pytest.fixture
def limit(building, settings):
    def give(kind: str, **scopes: int) -> None:
        settings.QUOTAS = settings.QUOTAS | {kind: scopes}
        settings.RATES = settings.RATES | {kind: scopes}

    return give


@pytest.mark.parametrize("scope", ["browser", "address", "all"])
@story
async def test_so_many_sockets_and_the_next_is_told_why(limit, settings, client, scope):
    cookie = await sync_to_async(page_of)(client)
    limit("sockets", **{scope: 2})
    settings.RATES = settings.RATES | {"sockets": {}}
    first, second = await opened(cookie), await opened(cookie)
    for socket in (first, second):
        await socket.hear("welcome")  # it is counted
    third = await opened(cookie)
    error = await third.receive()
    assert (error["type"], error["id"], error["code"]) == ("error", None, REACHED)
    assert error["retry_s"] > 0
    assert error["exists"][0].startswith("up to 2 at once")
    assert await third.closed() == consumers.TOO_MUCH
    await third.leave()
    await first.leave()
    again = await opened(cookie)
    await again.hear("welcome")
    await asyncio.gather(again.leave(), second.leave())


@story
async def test_sockets_are_opened_so_often(limit, settings):
    limit("sockets", address=2)
    settings.QUOTAS = settings.QUOTAS | {"sockets": {}}
    for _ in range(2):
        socket = await opened()
        await socket.hear("welcome")
        await socket.leave()
    refused = await opened()
    assert (await refused.hear("error"))["code"] == REACHED
    await refused.leave()


@story
async def test_so_many_subscriptions_of_all_sockets_of_a_browser(limit, settings, house, engine):
    await sync_to_async(deploy_standing_queries)()
    await sync_to_async(engine)()
    limit("subscriptions", address=3)
    settings.RATES = settings.RATES | {"subscriptions": {}}
    one, other = await opened(), await opened()
    for number in range(2):
        await one.say(type="subscribe", id=number, view="door_state")
        await one.hear("snapshot")
    await other.say(type="subscribe", id=7, view="door_state")
    await other.hear("snapshot")
    await other.say(type="subscribe", id=8, view="door_state")
    error = await other.hear("error")
    assert (error["id"], error["code"]) == (8, REACHED)
    await one.leave()
    await other.say(type="subscribe", id=9, view="door_state")
    assert (await other.hear("snapshot"))["id"] == 9
    await other.leave()


@story
async def test_what_may_be_held_and_what_may_be_begun_in_a_minute_are_two_limits(
    building, settings
):
    settings.RATES = settings.RATES | {"sockets": {"address": 100}}
    settings.QUOTAS = settings.QUOTAS | {"sockets": {"address": 2}}
    held = [await opened() for _ in range(2)]
    for socket in held:
        await socket.hear("welcome")  # it is counted
    refused = await opened()
    error = await refused.hear("error")
    assert (error["code"], error["exists"]) == (REACHED, ["up to 2 at once for your address"])
    for socket in (*held, refused):
        await socket.leave()


@story
async def test_what_is_begun_meanwhile_is_counted_at_once(building, settings, monkeypatch):
    settings.RATES = settings.RATES | {"subscriptions": {"address": 40}}
    monkeypatch.setattr(limits, "PER_S", 1e5)  # what is spent does not come back meanwhile
    counts: list[int] = []
    subscribe, go = Allowance._subscribe, threading.Event()

    def counted(self, held: int, begun: int) -> None:
        go.wait(PATIENCE_S)
        counts.append(begun)
        subscribe(self, held, begun)

    monkeypatch.setattr(Allowance, "_subscribe", counted)

    async def begun(socket, many: int) -> list[str]:
        go.clear()
        for number in range(many):
            await socket.say(type="subscribe", id=number, view="nothing_of_the_kind")
        await socket.say(type="ping", at=1)
        await socket.hear("pong")
        go.set()
        return [(await socket.hear("error"))["code"] for _ in range(many)]

    socket = await opened()
    assert set(await begun(socket, 30)) == {"smartcis.live.unknown_view"}
    assert counts == [1, 29]
    codes = await begun(socket, 30)
    assert codes.count(REACHED) == 20  # ten were left of forty
    await socket.leave()


@story
async def test_a_client_that_says_too_much_is_heard_more_slowly(building, monkeypatch):
    now_s, frame = [0.0], Allowance.frame
    monkeypatch.setattr(allowance, "FRAMES", 5)
    monkeypatch.setattr(Allowance, "frame", lambda self, _now_s: frame(self, now_s[0]))
    socket = await opened()
    for number in range(8):
        await socket.say(type="ping", at=number)
    assert [(await socket.hear("pong"))["at"] for _ in range(5)] == [0, 1, 2, 3, 4]
    error = await socket.hear("error")
    assert (error["id"], error["code"], error["retry_s"]) == (None, REACHED, 1)
    now_s[0] += 0.5
    await socket.say(type="ping", at=99)
    while (await socket.hear("pong"))["at"] != 99:
        pass
    await socket.leave()


@story
async def test_so_many_bytes_and_the_socket_closes(limit, monkeypatch, house, engine):
    await sync_to_async(deploy_standing_queries)()
    await sync_to_async(engine)()
    limit("bytes", address=100)
    monkeypatch.setattr(consumers, "COUNTED_BYTES", 10)
    socket = await opened()
    for number in range(3):
        await socket.say(type="subscribe", id=number, view="door_state")
    assert (await socket.hear("error"))["code"] == REACHED
    assert await socket.closed() == consumers.TOO_MUCH
    await socket.leave()


class Waiting:
    """A subscription that always has something to send."""

    waits = True

    def __init__(self) -> None:
        self.taken = 0

    def take(self) -> list[protocol.ServerMessage]:
        self.taken += 1
        return [protocol.Pong(0.0)]


def test_nothing_is_taken_for_who_does_not_read():
    async def told() -> None:
        consumer = consumers.LiveConsumer()
        consumer.state = consumers.SocketState.OPEN
        consumer.send = lambda **_: asyncio.Event().wait()  # the socket takes no more
        consumer.subscriptions |= {number: Waiting() for number in range(64)}
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(consumer._send_what_waits(), 0.05)
        assert [one.taken for one in consumer.subscriptions.values()] == [1] + [0] * 63

    asyncio.run(told())


def test_what_is_begun_for_an_owner_is_begun_one_after_the_other():
    async def told() -> None:
        hall, other = Owner(address="hall"), Owner("b", address="hall")
        one, two, third = Allowance(hall), Allowance(hall), Allowance(other)
        assert one.turn is two.turn is not third.turn

    asyncio.run(told())


def test_who_begins_many_waits_and_coming_anew_does_not_help(monkeypatch):
    monkeypatch.setattr(allowance, "STARTS", 3)
    monkeypatch.setattr(allowance, "STARTS_PER_S", 1e-3)

    async def begins(owner: Owner) -> bool:
        mine = Allowance(owner)
        try:
            async with asyncio.timeout(0.05), mine.turn:
                return True
        except TimeoutError:
            return False
        finally:
            mine.turn.remember()

    async def told() -> None:
        hall, other = Owner(address="hall"), Owner("b", address="hall")
        began = []
        for _ in range(5):
            began.append(await begins(hall))
            gc.collect()  # nobody holds his turn any more
        assert began == [True, True, True, False, False]
        assert await begins(other)

    asyncio.run(told())
