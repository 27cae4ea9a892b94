"""What one person can ask too much of; each goes on trying until it is stopped."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

ADDRESS = "127.0.2.1"
TIMEOUT_S = 120.0
BREATH_S = 0.05
AT_ONCE = 10
SILENT_SOCKETS, SUBSCRIPTIONS = 20, 64
SILENCE_S, HEARD_S = 60.0, 2.0
JOINS = 500
LARGE = ("near_sensor", "room_state", "machine_state", "passable", "free_machine", "walking_cost")
DEEP = ("walking_cost", "near_sensor", "reachable_destination")
CROSS = "ONCE SELECT COUNT(*) AS n FROM routing_edge a, routing_edge b"
GROWING = (
    "WITH RECURSIVE hop(node, n) AS (SELECT node, 0 FROM routing_node UNION "
    "SELECT e.dst, h.n + 1 FROM hop h JOIN routing_edge e ON e.src = h.node "
    "WHERE h.n < 1000000) SELECT h.node, h.n FROM hop h"
)
JOINED = "SELECT m0.mid FROM machine m0" + "".join(
    f" JOIN machine m{n} ON m{n}.mid = m{n - 1}.mid" for n in range(1, JOINS)
)
ENDLESS = "SELECT m.mid FROM machine m WHERE " + " OR ".join(
    f"m.mid = 'm{n}'" for n in range(60_000)
)


class Offender:
    """Somebody who tries one thing again and again.

    Args:
        url: of the product.
        name: of the offence.
    """

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.attempts = 0
        self.told: Counter[str] = Counter()
        self._offence = OFFENCES[name]
        self.tries = False
        self._task: asyncio.Task[None] | None = None
        transport = httpx.AsyncHTTPTransport(local_address=ADDRESS, verify=False)
        self._client = httpx.AsyncClient(
            base_url=f"{url}/api/v1/", transport=transport, timeout=TIMEOUT_S
        )

    async def begin(self) -> None:
        """Begins to try."""
        self.tries = True
        self._task = asyncio.create_task(self._offence(self))

    async def rest(self) -> None:
        """Stops trying, and ends what is his."""
        self.tries = False
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for query in (await self._client.get("queries/?mine=1")).json().get("results", ()):
            await self._client.delete(f"queries/{query['id']}/")

    async def said(self) -> tuple[int, dict[str, int]]:
        """Returns how often he tried, and what he was told most often."""
        return self.attempts, dict(self.told.most_common(5))

    async def post(self, path: str, body: object, *, forget: bool = False) -> None:
        """Sends something, and notes what it is told.

        Args:
            forget: leave the cookie away, as if it were somebody new.
        """
        self.attempts += 1
        if forget:
            self._client.cookies.clear()
        try:
            answer = await self._client.post(path, json=body)
        except httpx.HTTPError as error:
            self.told[type(error).__name__] += 1
            return
        try:
            said = answer.json()
        except ValueError:
            said = {}
        if "code" in said:
            self.hears(f"{answer.status_code} {said['code']}: {said['message']}")
        elif said.get("error"):
            self.hears(f"{said['error']['code']}: {said['error']['message']}")
        if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
            await asyncio.sleep(BREATH_S)

    def hears(self, text: str) -> None:
        """Notes what the offender is told."""
        self.told[text[:200]] += 1


Offence = Callable[[Offender], Coroutine[object, object, None]]


async def _again(offender: Offender, *sent: tuple[str, object], forget: bool = False) -> None:
    """Sends requests for ever, ten at once."""

    async def one(number: int) -> None:
        while True:
            path, body = sent[number % len(sent)]
            await offender.post(path, body, forget=forget)
            number += AT_ONCE

    await asyncio.gather(*(one(number) for number in range(AT_ONCE)))


async def cross_join(offender: Offender) -> None:
    """Asks once for all pairs of edges."""
    await _again(offender, ("queries/", {"sql": CROSS}))


async def growing_recursion(offender: Offender) -> None:
    """Asks for walks of any length: once, and for good."""
    once = ("queries/", {"sql": f"ONCE {GROWING}"})
    await _again(offender, once, ("queries/", {"sql": GROWING}))


async def many_joins(offender: Offender) -> None:
    """Sends a text of 500 joins wherever texts go."""
    await _again(offender, *((path, {"sql": JOINED}) for path in _TEXTS))


async def megabyte(offender: Offender) -> None:
    """Sends a text of a megabyte wherever texts go."""
    await _again(offender, *((path, {"sql": ENDLESS}) for path in _TEXTS))


async def expensive_questions(offender: Offender) -> None:
    """Asks what all walks hang on, and why there is one."""
    asked: list[tuple[str, object]] = []
    for view in DEEP:
        asked += [
            ("queries/weak-points/", {"view": view}),
            ("queries/why-not/", {"view": view, "row": {}}),
            ("queries/what-if/", {"view": view, "updates": "DELETE FROM routing_edge"}),
        ]
    await _again(offender, *asked)


async def thousand_queries(offender: Offender) -> None:
    """Submits a thousand queries of as many shapes, each without a cookie."""
    shapes = [
        ("queries/", {"sql": f"SELECT m.mid, {n} AS c{n} FROM machine m"}) for n in range(1_000)
    ]
    await _again(offender, *shapes, forget=True)


async def silent_sockets(offender: Offender) -> None:
    """Opens sockets that follow all they may and never read, again and again."""
    await asyncio.gather(*(_silent(offender, number) for number in range(SILENT_SOCKETS)))


async def _silent(offender: Offender, number: int) -> None:
    url = offender.url.replace("http", "ws", 1) + "/ws/live/"
    while offender.tries:  # a socket that breaks as it is closed must not begin another
        offender.attempts += 1
        try:
            async with connect(url, local_addr=(ADDRESS, 0), max_size=None, max_queue=1) as socket:
                await _subscribe(socket, number)
                socket.transport.pause_reading()
                try:
                    await asyncio.sleep(SILENCE_S)
                finally:
                    socket.transport.resume_reading()  # to see what he was told meanwhile
                    await _hear(offender, socket)
        except (OSError, WebSocketException, TimeoutError) as error:
            offender.hears(f"{type(error).__name__}: {error}")
            await asyncio.sleep(BREATH_S)


async def _hear(offender: Offender, socket: ClientConnection) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(HEARD_S):
            async for text in socket:
                message = json.loads(text)
                if message["type"] == "error":
                    offender.hears(f"{message['code']}: {message['message']}")
    if socket.close_code is not None:
        offender.hears(f"closed: {socket.close_code} {socket.close_reason}")


async def _subscribe(socket: ClientConnection, number: int) -> None:
    for at in range(SUBSCRIPTIONS):
        view = LARGE[(at + number) % len(LARGE)]
        await socket.send(json.dumps({"type": "subscribe", "id": at, "view": view}))


_TEXTS = ("queries/check/", "queries/explain/", "queries/")
OFFENCES: Mapping[str, Offence] = {
    "cross_join": cross_join,
    "growing_recursion": growing_recursion,
    "many_joins": many_joins,
    "megabyte": megabyte,
    "expensive_questions": expensive_questions,
    "thousand_queries": thousand_queries,
    "silent_sockets": silent_sockets,
}
