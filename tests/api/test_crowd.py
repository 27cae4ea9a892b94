"""A hundred clients at once: each sees exactly its rows, and nothing of them stays behind."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass

import pytest
from api.crowd import (
    MACHINES,
    ROOMS,
    WALKS,
    LaneDriver,
    Question,
    Server,
    Visitor,
    build,
    expected_of,
    question,
    replay,
    until,
)
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client

from aspen.log.entry import Tick
from smartcis import composition
from smartcis.access.owner import SYSTEM
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.issue_token import issue_token
from smartcis.actions.sweep_routes import sweep_routes
from smartcis.actions.unregister_query import unregister_query
from smartcis.ingest.relay import relay_now
from smartcis.live import consumers, hub, interest
from smartcis.models import AccessToken, MaintainedQuery

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]

BROWSERS, PROGRAMS = 86, 10  # and two members of staff, each with a browser and a token
HAPPENINGS = 30
COMPARED = 40  # log positions at which all that was shown is held against the oracle
EVERYBODY = Question(
    "SELECT n.session, n.mid FROM nearest_destination n",
    lambda _, views: dict.fromkeys(((row[0], row[6]) for row in views["nearest_destination"]), 1),
)


@pytest.fixture
def server(building):
    running = Server()
    running.start()
    yield running
    running.stop()


@pytest.fixture
def engine(building):
    running = LaneDriver()
    running.start()
    yield running
    running.stop()


@dataclass
class Member:
    """A member of staff, logged in."""

    user: User
    browser: Client
    cookie: tuple[str, str]

    @classmethod
    def enter(cls, name):
        browser = Client()
        browser.get("/")
        user = User.objects.create_user(name, password="secret", is_staff=True)
        browser.force_login(user)
        cookie = tuple(browser.cookies[key].value for key in ("sessionid", "csrftoken"))
        return cls(user, browser, cookie)


def token_of(user):
    return issue_token("t", scope="account", user=user)[1]


def state_of(lane):
    """What a lane holds on to for others: operators, indexes, parameters, interests, walks."""
    known, sources = lane.circuit._known, lane.circuit.sources
    return {
        "operators": {key for key in known if key[0] != "parameters"},
        "nodes": len(known),
        "windows": sum(1 for _ in lane.circuit.windows()),
        "indexes": sum(len(n.arrangements) for n in (*known.values(), *sources.values())),
        "shapes": len(lane.views.templates),
        "interests": dict(lane.interests.held),
        "walks": dict(sources["route_request"].table),
        "paths": lane.rows("walking_cost"),
    }


async def happen(draw, gate, walkers):
    """Let something happen in the building."""
    kind = draw.choice(["door", "readings", "readings", "walk", "tick"])
    if kind == "door":
        path = f"doors/D{draw.randrange(ROOMS)}/"
        answer = await gate.call("PATCH", path, {"state": draw.choice(["open", "locked"])})
    elif kind == "walk":
        walker = draw.choice(walkers)
        answer = await walker.call(
            "PATCH", f"routes/{walker.walk}/", {"node": draw.randrange(ROOMS)}
        )
    elif kind == "tick":
        await asyncio.to_thread(composition.log().append, [Tick(time.time())])
        return
    else:
        answer = await gate.call("POST", "readings/", readings(draw, draw.sample(MACHINES, 4)))
    assert answer.is_success, answer.text


def readings(draw, machines):
    now_s = time.time()
    return [
        {"sid": f"{mid}.{kind}", "value": draw.choice(values), "unit": unit, "at_s": now_s}
        for mid in machines
        for kind, unit, values in (("seat", "kg", [0, 70]), ("cpu", "%", [3, 3, 99]))
    ]


def judge(visitors, entries, draw):
    """Hold what was shown on the way against the oracle, at a sample of the log's positions."""
    seen = [(one, visitor) for visitor in visitors for one in visitor.shown]
    positions = sorted({one.position for one, _ in seen})
    chosen = draw.sample(positions, min(COMPARED, len(positions)))
    compared = 0
    for position, oracle, views in replay(entries, chosen):
        for one, visitor in seen:
            if one.position == position:
                right = expected_of(visitor, one.view, oracle, views)
                assert one.rows == right, (visitor.number, one.view, position)
                compared += 1
    assert compared > len(visitors) / 2
    assert sum(bool(one.rows) for one, _ in seen) > len(visitors), "somebody saw something"


async def settled(visitors, entries):
    """Wait until everybody sees what there is at the log's end."""
    ((_, oracle, views),) = replay(entries, [entries[-1][0]])
    for visitor in visitors:
        for view in visitor.views:
            right = expected_of(visitor, view, oracle, views)
            await visitor.until(
                lambda v=visitor, n=view, r=right: v.rows.get(n) == r,
                f"{visitor.number} sees {view}",
            )


async def in_turns(jobs, at_once=8):
    """Do many things, a few at a time, as people do."""
    gate = asyncio.Semaphore(at_once)

    async def one(job):
        async with gate:
            return await job

    return await asyncio.gather(*(one(job) for job in jobs))


@dataclass
class Crowd:
    """Everybody, by what they may do."""

    browsers: list[Visitor]
    programs: list[Visitor]
    staff: list[Visitor]
    gates: list[Visitor]
    outsider: Visitor

    @property
    def everybody(self):
        return [*self.browsers, *self.programs, *self.staff, *self.gates, self.outsider]


async def arrive(crowd, draw):
    """Let everybody submit a query, set out, and follow both."""

    async def browser(one):
        await one.submit(question(draw))
        await one.set_out(draw)
        await one.follow(one.query, *WALKS)

    async def member(one):
        await one.submit(EVERYBODY)
        await one.follow(one.query)

    jobs = [
        *(browser(one) for one in crowd.browsers),
        *(one.submit(question(draw)) for one in crowd.programs),
        *(member(one) for one in crowd.staff),
    ]
    draw.shuffle(jobs)
    await in_turns(jobs)


async def trespass(crowd):
    """Try to see what is somebody else's."""
    one, other = crowd.browsers[:2]
    for method in ("GET", "PATCH", "DELETE"):
        assert (await one.call(method, f"routes/{other.walk}/", {})).status_code == 404
    private = crowd.staff[0].query
    view = (await crowd.gates[0].call("GET", f"queries/{private}/")).json()["view"]
    await crowd.outsider.follow(private, view)
    await crowd.outsider.until(lambda: len(crowd.outsider.errors) == 2, "both are refused")
    assert set(crowd.outsider.errors.values()) == {"smartcis.live.forbidden"}
    for caller, status in ((crowd.programs[0], 403), (one, 403), (crowd.gates[0], 200)):
        answer = await caller.rows_of(private)
        assert answer.status_code == status, answer.text


async def lose_rights(crowd, members):
    """Log out, lose one's rank, have one's token taken away: it counts at once."""
    anna, ben = crowd.staff
    await sync_to_async(members[0].browser.logout)()
    assert await anna.gone() == consumers.SESSION_OVER
    again = Visitor(anna.address, 190, cookie=members[0].cookie)
    await again.follow(anna.query)
    await again.until(lambda: again.errors, "the old cookie is worth nothing")
    assert again.errors == {anna.query: "smartcis.live.forbidden"}
    await again.leave()
    members[1].user.is_staff = False
    await sync_to_async(members[1].user.save)()
    await ben.until(lambda: ben.errors, "the socket hears of it")
    assert ben.errors == {ben.query: "smartcis.live.forbidden"}
    assert ben.rows == {}
    used = crowd.programs[0]
    assert (await used.rows_of(used.query)).status_code == 200
    await sync_to_async(AccessToken.objects.filter(user__username="program0").delete)()
    assert (await used.rows_of(used.query)).status_code == 401


async def story(crowd, members, engine, draw):
    """Come, look while things happen, try what is not allowed, and go."""
    await arrive(crowd, draw)
    await crowd.gates[0].call("POST", "readings/", readings(draw, MACHINES))
    for number in range(HAPPENINGS):
        await happen(draw, crowd.gates[number % 2], crowd.browsers)
    await in_turns([one.look() for one in crowd.programs])
    await trespass(crowd)
    await asyncio.to_thread(engine.catch_up)
    log = composition.log()
    entries = log.read(0, log.head())
    lookers = [*crowd.browsers, *crowd.programs, *crowd.staff]
    await settled(lookers, entries)
    await asyncio.to_thread(judge, lookers, entries, draw)
    await lose_rights(crowd, members)
    for number, one in enumerate(crowd.everybody):
        await one.leave(plug=number % 2 == 0)
    await in_turns([one.http.aclose() for one in crowd.everybody])


def test_a_hundred_clients_each_see_their_own_and_leave_nothing_behind(
    server, engine, building, settings, monkeypatch
):
    monkeypatch.setattr(consumers, "HEARTBEAT_S", 1.0)
    monkeypatch.setattr(interest, "LINGER_S", 0.2)
    draw = random.Random(11)
    build()
    deploy_standing_queries()
    relay_now(5)
    composition.log().append([Tick(time.time())])
    engine.catch_up()
    views, before = set(engine.lane.views.by_name), state_of(engine.lane)
    members = [Member.enter(name) for name in ("anna", "ben")]
    tokens = [token_of(User.objects.create_user(f"program{n}")) for n in range(PROGRAMS)]
    address = server.address
    crowd = Crowd(
        [Visitor(address, n) for n in range(BROWSERS)],
        [Visitor(address, 100 + n, token=token) for n, token in enumerate(tokens)],
        [Visitor(address, 120 + n, cookie=one.cookie) for n, one in enumerate(members)],
        [Visitor(address, 130 + n, token=token_of(one.user)) for n, one in enumerate(members)],
        Visitor(address, 140),
    )
    asyncio.run(story(crowd, members, engine, draw))
    # The sockets are gone, and with them what was kept for them alone.
    (one,) = hub._HUBS.values()
    until(lambda: not one._connections and not one.views, "the hub lets go")
    assert not one._subscriptions
    until(lambda: not one.interests._told_s, "interests end")
    # The walks end when nobody has said for long enough that he is still there.
    settings.ROUTE_IDLE_S = -1
    assert sweep_routes() == BROWSERS
    relay_now(5)
    for look in engine.lane.interests.held.values():
        assert all(holder.startswith("look-") for holder in look), "a program looked over REST"
    composition.log().append([Tick(time.time() + 3_600)])
    engine.catch_up()
    assert state_of(engine.lane) == before
    # Queries are kept until they are ended, but they cost nothing.
    for query in MaintainedQuery.objects.all():
        unregister_query(query.pk, SYSTEM)
    relay_now(5)
    engine.catch_up()
    assert set(engine.lane.views.by_name) == views
    assert set(composition.results().views()) <= views
