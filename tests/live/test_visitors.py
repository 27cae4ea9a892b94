"""A visitor who hides is gone from an open socket with the engine's next epoch."""

from __future__ import annotations

import time

import pytest
from asgiref.sync import sync_to_async
from live.sockets import opened, story

from aspen.log.entry import Change, Tick, Transaction
from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.set_visitor_consent import set_visitor_consent
from smartcis.ingest.relay import relay_now
from smartcis.models import Visitor

pytestmark = pytest.mark.django_db(transaction=True)


def begin() -> Visitor:
    deploy_standing_queries()
    visitor = Visitor.objects.create(tag="real", simulated=False, consent=Visitor.EXACT)
    relay_now()
    at_s = time.time()
    heard = Change("rfid_reading", 1, ("real", "r", 1, -60.0, at_s))
    composition.log().append([Transaction(at_s, (heard,)), Tick(at_s)])
    return visitor


@story
async def test_hide_me_reaches_every_open_map(building, house, engine):
    visitor = await sync_to_async(begin)()
    await sync_to_async(engine)()
    maps = [await opened() for _ in range(2)]
    for socket in maps:
        await socket.say(type="subscribe", id=1, view="visitor_position")
        snapshot = await socket.hear("snapshot")
        (row,) = snapshot["rows"]
        assert row == [visitor.pseudonym, "L0", "hall", 5.0, 5.0, "exact", False]
    await sync_to_async(set_visitor_consent)(visitor.code, Visitor.HIDDEN)
    await sync_to_async(relay_now)()
    await sync_to_async(engine)()
    for socket in maps:
        assert (await socket.hear("delta"))["changes"] == [[-1, *row]]
        await socket.say(type="subscribe", id=2, view="visitor_heard")
        assert (await socket.hear("error"))["code"] == "smartcis.live.forbidden"
        await socket.leave()
