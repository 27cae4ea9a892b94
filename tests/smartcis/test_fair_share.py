"""Fair share: who takes more of the processor than his share waits; nobody else does."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpResponse
from django.test import RequestFactory

from smartcis import fair_share
from smartcis.browser import KEY
from smartcis.fair_share import (
    AHEAD_S,
    AT_ONCE,
    HERE_S,
    IN_LINE,
    KEPT_S,
    PATIENCE_S,
    REFUSAL_WEIGHT,
    FairShare,
)

SHARES = {"account": 50, "browser": 10, "address": 30}


class Virtual:
    """An event loop's time that passes when everybody waits, and an application that costs."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.loop.time = lambda: self.now_s
        self.now_s = 1_000.0
        select = self.loop._selector.select

        def passing(timeout):
            if timeout:
                self.now_s += timeout
            return select(0)

        self.loop._selector.select = passing
        self.cost_s, self.lasts_s, self.standing = 0.0, 0.0, ""
        self.status = 200
        self.began: list[tuple[str, float]] = []
        self.at_once = self.most_at_once = 0
        self.share = FairShare(self.app, SHARES, clock=lambda: self.now_s)

    async def app(self, scope, _receive, send):
        price = fair_share._PRICE.get()
        self.began.append((scope["client"][0], self.now_s))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.lasts_s)
        self.at_once -= 1
        price.used_s, price.standing = self.cost_s, self.standing
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask(self, address, cost_s=0.0, cookie="", receive=(), **headers):
        """Returns the answer's status and how long it took."""
        sent, parts = [], iter(receive)

        async def take():
            return next(parts)

        async def send(message):
            sent.append(message)

        self.cost_s = cost_s
        given = [(name.encode(), value.encode()) for name, value in headers.items()]
        given += [(b"cookie", f"a=b; sessionid={cookie}".encode())] if cookie else []
        scope = {"type": "http", "headers": given, "client": (address, 1)}
        began_s = self.now_s
        await self.share(scope, take, send)
        self.last = sent
        return sent[0]["status"], self.now_s - began_s

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)


@pytest.fixture
def virtual():
    made = Virtual()
    yield made
    made.loop.close()


def test_who_is_alone_never_waits(virtual):
    async def heavy():
        return [await virtual.ask("10.0.0.1", 2.0) for _ in range(20)]

    assert all(answer == (200, 0.0) for answer in virtual.run(heavy()))


def test_who_takes_much_waits_for_a_tenth_of_a_core_while_others_are_there(virtual):
    async def both():
        await virtual.ask("10.0.0.2", 0.004)
        first = await virtual.ask("10.0.0.1", 1.0)
        others = [await virtual.ask("10.0.0.2", 0.004) for _ in range(40)]
        second = await virtual.ask("10.0.0.1", 1.0)
        return first, others, second

    first, others, (status, waited_s) = virtual.run(both())
    assert first == (200, 0.0)
    assert all(answer == (200, 0.0) for answer in others)
    assert status == 200
    assert waited_s == pytest.approx(1.0 / 0.1 - AHEAD_S, abs=0.1)


@pytest.mark.parametrize(
    ("status", "weight"),
    [(200, 1), (404, 1), *((code, REFUSAL_WEIGHT) for code in (400, 409, 429))],
)
def test_a_refusal_is_owed_several_times(virtual, status, weight):
    async def both():
        await virtual.ask("10.0.0.2", 0.004)
        virtual.status = status
        await virtual.ask("10.0.0.1", 0.1)
        await virtual.ask("10.0.0.1", 0.1)
        return await virtual.ask("10.0.0.1", 0.1)

    _, waited_s = virtual.run(both())
    # The second was let go as soon as no more than a moment was owed of the first.
    owed_s = 0.1 * weight + min(0.1 * weight, AHEAD_S * SHARES["browser"] / 100)
    assert waited_s == pytest.approx(max(0.0, owed_s / 0.1 - AHEAD_S), abs=0.2)


def test_requests_that_cost_much_do_not_begin_at_once(virtual):
    async def both():
        await virtual.ask("10.0.0.2", 0.004)
        for _ in range(12):
            await virtual.ask("10.0.0.1", 0.2)
            await virtual.ask("10.0.0.2", 0.004)
        await asyncio.sleep(HERE_S + 5)  # nothing is owed any more
        await virtual.ask("10.0.0.2", 0.004)
        virtual.most_at_once, virtual.lasts_s = 0, 1.0
        await asyncio.gather(*(virtual.ask("10.0.0.1", 0.2) for _ in range(AT_ONCE)))
        return virtual.most_at_once

    assert virtual.run(both()) == 2  # the first owes less than a moment, the second more


def test_a_share_binds_no_more_when_the_others_have_gone(virtual):
    async def both():
        await virtual.ask("10.0.0.2")
        await virtual.ask("10.0.0.1", 1.4)
        await asyncio.sleep(HERE_S + 2)
        return [await virtual.ask("10.0.0.1", 1.0) for _ in range(5)]

    assert all(answer == (200, 0.0) for answer in virtual.run(both()))


def test_who_only_listens_is_there(virtual):
    async def listen(scope, receive, send):
        if scope["type"] == "websocket":
            await asyncio.sleep(100)
        else:
            await virtual.app(scope, receive, send)

    async def both():
        virtual.share.app = listen
        scope = {"type": "websocket", "headers": [], "client": ("10.0.0.2", 1)}
        listening = asyncio.create_task(virtual.share(scope, None, None))
        await asyncio.sleep(60)
        await virtual.ask("10.0.0.1", 1.0)
        beside = await virtual.ask("10.0.0.1", 1.0)
        await listening
        await asyncio.sleep(HERE_S + 2)
        return beside, [await virtual.ask("10.0.0.1", 1.0) for _ in range(4)]

    (_, waited_s), alone = virtual.run(both())
    assert waited_s > 5.0
    assert all(answer == (200, 0.0) for answer in alone)


def test_who_would_wait_too_long_is_told_when_to_come_back(virtual):
    async def both():
        await virtual.ask("10.0.0.2")
        await virtual.ask("10.0.0.1", 5.0)
        return await virtual.ask("10.0.0.1")

    status, waited_s = virtual.run(both())
    assert status == 429
    assert waited_s >= PATIENCE_S
    fields = json.loads(virtual.last[1]["body"])
    assert fields["code"] == "smartcis.fair_share.beyond"
    assert fields["retry_s"] == pytest.approx(5.0 / 0.1 - AHEAD_S - waited_s, abs=2)
    assert (b"retry-after", str(fields["retry_s"]).encode()) in virtual.last[0]["headers"]
    assert fields["exists"] == [
        "10% of a core for one browser",
        "30% of a core for one address",
    ]


def test_of_one_person_so_many_are_answered_at_once_and_so_many_wait(virtual):
    async def many():
        return await asyncio.gather(
            *(virtual.ask("10.0.0.1") for _ in range(AT_ONCE + IN_LINE + 3))
        )

    virtual.lasts_s = 0.1
    answers = virtual.run(many())
    assert virtual.most_at_once == AT_ONCE
    assert sum(status == 429 for status, _ in answers) == 3
    assert min(took_s for status, took_s in answers if status == 429) >= fair_share.HOLD_BACK_S


def test_browsers_of_one_address_wait_for_themselves_once_they_are_known(virtual):
    async def hall():
        await virtual.ask("10.0.0.9")
        virtual.standing = "browser"
        for cookie in "ab":
            await virtual.ask("10.0.0.1", cookie=cookie)
        await virtual.ask("10.0.0.1", 0.5, cookie="a")
        return await virtual.ask("10.0.0.1", cookie="b"), await virtual.ask("10.0.0.1", cookie="a")

    (_, quick_s), (_, slow_s) = virtual.run(hall())
    assert quick_s == 0.0
    assert slow_s > 2.0


def test_cookies_that_nobody_gave_are_one_browser(virtual):
    async def forged():
        await virtual.ask("10.0.0.9")
        await virtual.ask("10.0.0.1", 0.5, cookie="made up")
        return await virtual.ask("10.0.0.1", cookie="another")

    _, waited_s = virtual.run(forged())
    assert waited_s > 2.0


def test_many_browsers_of_one_address_have_its_share_together(virtual):
    async def minted():
        await virtual.ask("10.0.0.9")
        virtual.standing = "browser"
        for number in range(10):
            await virtual.ask("10.0.0.1", cookie=str(number))
        began_s = virtual.now_s
        for number in range(10):
            await virtual.ask("10.0.0.1", 0.2, cookie=str(number))
        await virtual.ask("10.0.0.1", cookie="0")
        return virtual.now_s - began_s

    assert virtual.run(minted()) == pytest.approx(2.0 / 0.3 - AHEAD_S, abs=0.3)


def test_an_account_has_a_share_of_its_own_wherever_it_is(virtual):
    async def gateway():
        await virtual.ask("10.0.0.9")
        virtual.standing = "account"
        await virtual.ask("10.0.0.1", authorization="Bearer good")
        await virtual.ask("10.0.0.1", 2.0, authorization="Bearer good")
        return await virtual.ask("10.0.0.1", authorization="Bearer good")

    _, waited_s = virtual.run(gateway())
    assert waited_s == pytest.approx(2.0 / 0.5 - AHEAD_S, abs=0.1)


def test_a_large_body_is_paid_for_even_where_it_is_refused(virtual):
    async def swallow(_scope, receive, send):
        while (await receive())["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 413, "headers": []})

    async def send_much():
        await virtual.ask("10.0.0.9")
        virtual.share.app = swallow
        parts = [{"body": b"x" * 1_000_000, "more_body": more} for more in [True] * 9 + [False]]
        await virtual.ask("10.0.0.1", receive=parts)
        virtual.share.app = virtual.app
        return await virtual.ask("10.0.0.1")

    _, waited_s = virtual.run(send_much())
    owed_s = 10e6 * fair_share.BYTE_S * REFUSAL_WEIGHT
    assert waited_s == pytest.approx(owed_s / 0.1 - AHEAD_S, abs=0.1)


def test_who_is_gone_and_owes_nothing_is_forgotten(virtual):
    async def pass_by():
        for number in range(50):
            await virtual.ask(f"10.0.1.{number}")
        await asyncio.sleep(KEPT_S + 5)
        await virtual.ask("10.0.0.1")

    virtual.run(pass_by())
    assert len(virtual.share._debtors) == 2


def test_a_request_that_fails_is_paid_for_and_gives_its_slot_back(virtual):
    async def failing(*_):
        fair_share._PRICE.get().used_s = 1.0
        raise RuntimeError("broken")

    async def both():
        await virtual.ask("10.0.0.9")
        virtual.share.app = failing
        for _ in range(2 * AT_ONCE):
            with pytest.raises(RuntimeError):
                await virtual.ask("10.0.0.9")
            await asyncio.sleep(60)
        virtual.share.app = virtual.app
        await virtual.ask("10.0.0.1")
        return await virtual.ask("10.0.0.9")

    status, _ = virtual.run(both())
    assert status == 200


def _request(session, **fields):
    request = RequestFactory().get("/")
    request.session, request.user = session, AnonymousUser()
    for name, value in fields.items():
        setattr(request, name, value)
    return request


@pytest.mark.parametrize(
    ("data", "auth", "standing"),
    [
        ({}, None, ""),
        ({KEY: "t"}, None, "browser"),
        ({KEY: "t", "_auth_user_id": "1"}, None, "account"),
        ({}, "a token", "account"),
    ],
)
def test_the_price_and_who_it_was_are_noted(data, auth, standing):
    session = SessionBase()
    session._session_cache = data
    session.get("anything")
    price = fair_share.Price()
    token = fair_share._PRICE.set(price)
    closed = []

    def django(environ, start_response):
        fair_share.Standing(lambda _request: HttpResponse())(_request(session, auth=auth))
        sum(range(2_000_000))
        answer = HttpResponse(b"whole")
        answer.close = lambda: closed.append(True)
        return answer

    try:
        parts = list(fair_share.metered(django)({}, lambda *_: None))
    finally:
        fair_share._PRICE.reset(token)
    assert (parts, closed) == ([b"whole"], [True])
    assert price.standing == standing
    assert price.used_s > 0.001
