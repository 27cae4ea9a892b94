"""A crowd in a small building: a real server, an engine one can look into, and many clients."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import secrets
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
import uvicorn
from live.page import Page, Shown
from waiting import until
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from aspen.model.delta import Delta
from aspen.runtime.lane import Lane
from smartcis import composition, models
from smartcis.asgi import application
from smartcis.live import hub
from tests.standing.oracle import Oracle, Rows

PATIENCE_S = 120  # what a busy machine may take; nothing waits so long when all is well
SOFTWARE = ("LaTeX", "R")
ROOMS = 6
WALKS = ("nearest_destination", "route_step")


class Server(threading.Thread):
    """The product's ASGI application behind uvicorn, in this process."""

    def __init__(self):
        super().__init__(daemon=True)
        config = uvicorn.Config(
            application, host="127.0.0.1", port=0, log_level="error", lifespan="off"
        )
        self.inner = uvicorn.Server(config)
        self.hub = None

    def run(self):
        self.inner.run()

    @property
    def address(self):
        """Wait until it listens; give host and port."""
        until(lambda: self.inner.started, "the server listens")
        port = self.inner.servers[0].sockets[0].getsockname()[1]
        return f"127.0.0.1:{port}"

    def stop(self):
        self.inner.should_exit = True
        self.join(PATIENCE_S)
        hub._HUBS.clear()


class LaneDriver(threading.Thread):
    """The engine's work without Spark, with its lane open to be looked into."""

    def __init__(self):
        super().__init__(daemon=True)
        self.lane = Lane()
        self.done = 0  # the last position whose work is over; the lane's own is that it works on
        self.over = threading.Event()
        self.failure: BaseException | None = None

    def run(self):
        generation, batches = secrets.token_hex(4), itertools.count(1)
        log, results = composition.log(), composition.results()
        try:
            while not self.over.wait(0.01):
                entries = log.read(self.lane.position, log.head())
                if entries:
                    changes = self.lane.apply(entries)
                    at_s = entries[-1][1].at_s
                    results.write(generation, next(batches), self.lane.position, at_s, changes, {})
                    self.done = self.lane.position
        except BaseException as error:
            self.failure = error
            raise

    def catch_up(self):
        def done():
            assert self.failure is None, self.failure
            return self.done == composition.log().head()

        until(done, "the lane catches up")

    def stop(self):
        self.over.set()
        self.join(PATIENCE_S)


def build():
    """Six rooms along a corridor, each behind a door and with two machines; a way round."""
    venue = models.Venue.objects.create(
        slug="crowd", name="Crowd", attribution="nobody", origin_lon_deg=0, origin_lat_deg=0
    )
    ring = [[[0.0, 0.0], [60.0, 0.0], [60.0, 9.0], [0.0, 9.0]]]
    level = models.Level.objects.create(
        level_id="L0",
        venue=venue,
        feature_id="l",
        ordinal=0,
        name="0",
        short_name="0",
        outline=[ring],
    )

    def place(number, rid, x_m, y_m):
        unit = models.Unit.objects.filter(pk=rid).first() or models.Unit.objects.create(
            rid=rid,
            level=level,
            name=rid,
            category="walkway" if rid == "hall" else "room",
            polygon=ring,
            label_x_m=x_m,
            label_y_m=y_m,
            area_m2=9.0,
        )
        models.RoutingNode.objects.create(
            node=number, level=level, unit=unit, kind="centre", x_m=x_m, y_m=y_m
        )

    def edge(src, dst, length_mm, door=None, *, step_free=True):
        for one, other in ((src, dst), (dst, src)):
            models.RoutingEdge.objects.create(
                src_id=one, dst_id=other, length_mm=length_mm, door=door, step_free=step_free
            )

    for room in range(ROOMS):
        place(room, "hall", 10.0 * room, 2.0)
        if room:
            edge(room - 1, room, 10_000 + room)
    edge(0, ROOMS - 1, 15_000, step_free=False)
    for room in range(ROOMS):
        rid, node = f"R{room}", 100 + room
        place(node, rid, 10.0 * room, 7.0)
        door = models.Door.objects.create(
            door_id=f"D{room}", level=level, inner_id=rid, outer_id="hall", x_m=0.0, y_m=0.0
        )
        edge(room, node, 3_000 + 10 * room, door)
        for desk in range(2):
            machine = models.Machine.objects.create(
                mid=f"m{room}{desk}", host="h", unit_id=rid, node_id=node, x_m=1.0, y_m=1.0
            )
            software = SOFTWARE[(room + desk) % 2]
            models.SoftwareInstall.objects.create(machine=machine, software=software)
            for kind in ("seat", "cpu"):
                models.Sensor(sid=f"{machine.mid}.{kind}", kind=kind, machine=machine).save()


MACHINES = [f"m{room}{desk}" for room in range(ROOMS) for desk in range(2)]
NODES = [*range(ROOMS), *(100 + room for room in range(ROOMS))]


@dataclass(frozen=True)
class Question:
    """A query with a parameter, and what it must give."""

    sql: str
    answer: Callable[[Oracle, dict[str, Rows]], Delta]


def question(draw: random.Random) -> Question:
    """Ask one of five things about something at random."""
    mid, room, software = draw.choice(MACHINES), draw.randrange(ROOMS), draw.choice(SOFTWARE)
    return draw.choice(
        [
            Question(
                "SELECT s.mid, s.weight_kg FROM seat_reading [PARTITION BY mid ROWS 1] s "
                f"WHERE s.mid = '{mid}'",
                lambda oracle, _: Counter(
                    (row[0], row[2])
                    for _at, row in oracle.newest["seat_reading"].values()
                    if row[0] == mid
                ),
            ),
            Question(
                f"SELECT f.mid, f.node FROM free_machine f WHERE f.rid = 'R{room}'",
                lambda _, views: Counter(
                    (m, node) for m, rid, node in views["free_machine"] if rid == f"R{room}"
                ),
            ),
            Question(
                f"SELECT f.rid, COUNT(*) AS n FROM free_machine f WHERE f.node > {100 + room} "
                "GROUP BY f.rid",
                lambda _, views: Counter(
                    Counter(
                        rid for _m, rid, node in views["free_machine"] if node > 100 + room
                    ).items()
                ),
            ),
            Question(
                "SELECT d.state, COUNT(*) AS n FROM door d GROUP BY d.state",
                lambda oracle, _: Counter(Counter(row[1] for row in oracle.tables["door"]).items()),
            ),
            Question(
                "SELECT f.mid FROM free_machine f JOIN machine_software s ON s.mid = f.mid "
                f"WHERE s.software = '{software}' AND f.rid = 'R{room}'",
                lambda oracle, views: Counter(
                    (m,)
                    for m, rid, _n in views["free_machine"]
                    if rid == f"R{room}" and (m, software) in oracle.tables["machine_software"]
                ),
            ),
        ]
    )


@dataclass
class Visitor(Page):
    """A browser or a program, at an address of its own, as through the network.

    Args:
        number: makes its address, and with it its share of what the API allows per minute.
        cookie: of a session that exists already, and the value of its CSRF cookie.
        token: of an API user; it has no browser then.
    """

    address: str
    number: int
    cookie: tuple[str, str] = ("", "")
    token: str = ""
    ask: Question | None = None
    query: str = ""
    walk: str = ""
    views: tuple[str, ...] = ()
    errors: dict[str, str] = field(default_factory=dict)
    code: int = 0

    def __post_init__(self):
        self.own = f"127.0.{1 + self.number // 200}.{1 + self.number % 200}"
        session, csrf = self.cookie
        headers = {"Authorization": f"Token {self.token}"} if self.token else {}
        cookies = {}
        if session:
            cookies = {"sessionid": session, "csrftoken": csrf}
            headers["X-CSRFToken"] = csrf
        self.http = httpx.AsyncClient(
            base_url=f"http://{self.address}/api/v1/",
            transport=httpx.AsyncHTTPTransport(local_address=self.own, verify=False),
            headers=headers,
            cookies=cookies,
            timeout=PATIENCE_S,
        )
        self.socket = None
        self._listening: asyncio.Task | None = None

    async def call(self, method, path, body=None):
        return await self.http.request(method, path, json=body)

    async def submit(self, asked: Question):
        answer = await self.call("POST", "queries/", {"sql": asked.sql})
        assert answer.status_code == 201, answer.text
        self.ask, self.query = asked, answer.json()["id"]

    async def set_out(self, draw):
        body = {
            "node": draw.choice(NODES),
            "goal": f"free-machine:{draw.choice(SOFTWARE)}",
            "step_free": draw.random() < 0.3,
        }
        answer = await self.call("POST", "routes/", body)
        assert answer.status_code == 201, answer.text
        self.walk = answer.json()["session"]

    async def follow(self, *views):
        """Open a socket and subscribe."""
        self.views = views
        cookie = self.http.cookies.get("sessionid")
        headers = {"Cookie": f"sessionid={cookie}"} if cookie else {}
        self.socket = await connect(
            f"ws://{self.address}/ws/live/",
            additional_headers=headers,
            open_timeout=PATIENCE_S,
            ping_interval=None,
            local_addr=(self.own, 0),
        )
        for number, view in enumerate(views):
            await self.socket.send(json.dumps({"type": "subscribe", "id": number, "view": view}))
        self._listening = asyncio.create_task(self._listen(views))

    async def rows_of(self, query):
        """Ask for a query's rows over REST; again while the engine has not taken it up."""
        async with asyncio.timeout(PATIENCE_S):
            answer = await self.call("GET", f"queries/{query}/rows/")
            while answer.status_code == 404:
                answer = await self.call("GET", f"queries/{query}/rows/")
        return answer

    async def look(self):
        """Read the query's rows over REST, as a program does."""
        answer = await self.rows_of(self.query)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        rows = dict(Counter(map(tuple, body["rows"])))
        self.shown.append(Shown(self.query, body["position"], rows))

    async def _listen(self, views):
        try:
            async for text in self.socket:
                message = json.loads(text)
                view = views[message["id"]] if message.get("id") is not None else ""
                self._take(view, message)
        except ConnectionClosed:
            pass  # somebody pulled the plug
        self.code = self.socket.close_code or 0

    def _take(self, view, message):
        match message["type"]:
            case "snapshot" | "delta":
                self.fold(view, message)
            case "closed":
                self.rows.pop(view, None)
            case "error":
                self.errors[view] = message["code"]

    async def until(self, holds, what):
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                assert self._listening is None or not self._listening.done() or holds(), what
                await asyncio.sleep(0.02)

    async def gone(self):
        """Wait until the server has closed the socket; give its code."""
        async with asyncio.timeout(PATIENCE_S):
            await self._listening
        return self.code

    async def leave(self, *, plug=False):
        """Close the socket, or pull the plug."""
        if self.socket is not None:
            if plug:
                self.socket.transport.abort()
            else:
                await self.socket.close()
            await self._listening
            self.socket = None


def replay(entries, positions):
    """Returns (position, oracle, views) for some positions of a log, in order."""
    oracle, done = Oracle(), 0
    for position in sorted(positions):
        while done < len(entries) and entries[done][0] <= position:
            oracle.feed(entries[done][1])
            done += 1
        yield position, oracle, oracle.expected()


def expected_of(visitor: Visitor, view: str, oracle: Oracle, views: dict[str, Rows]) -> Delta:
    """Returns what a visitor must see of a view."""
    if view in WALKS:
        return dict.fromkeys((row for row in views[view] if row[0] == visitor.walk), 1)
    assert visitor.ask is not None
    return dict(visitor.ask.answer(oracle, views))
