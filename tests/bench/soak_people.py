"""People who come every day: they look, ask, walk, submit queries and end them, for hours.

person    ├ a socket with the map's views, now and then a new one
          └ read │ query …then its end │ ONCE │ why │ walk, moved, then its end │ read …
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tests.bench.people import MAP, READS, TIMEOUT_S
from tests.bench.rig import Rig

PAUSE_S = 6.0
"""Between two deeds, on average."""
SOCKET_S = 120.0
SHAPES = (
    "SELECT s.mid, s.weight_kg FROM newest_seat s WHERE s.weight_kg > {n}",
    "SELECT f.rid, COUNT(*) AS free FROM free_machine f GROUP BY f.rid",
    "SELECT d.door_id FROM door_state d WHERE d.state = 'locked'",
    "SELECT r.rid, r.name, f.mid FROM free_machine f JOIN room r ON r.rid = f.rid",
)
ONCE = "ONCE SELECT COUNT(*) AS n FROM free_machine f"
WHY = "free_machine"
WALK_VIEWS = ("nearest_destination", "route_step")


class Person:
    """One browser at work.

    Args:
        rig: where.
        number: tells people apart; decides all that chance decides.
        nodes: where a walk may begin.
        done: counts deeds by what came of them.
    """

    def __init__(self, rig: Rig, number: int, nodes: Sequence[int], done: Counter[str]) -> None:
        self._url = rig.url
        self._draw = random.Random(number)
        self._address = f"127.0.3.{1 + number}"
        self._nodes = nodes
        self._done = done
        self._query = ""
        self._walk = ""
        self._shown: list[Any] = []

    async def work(self) -> None:
        """Comes, and goes on for good."""
        transport = httpx.AsyncHTTPTransport(local_address=self._address, verify=False)
        async with httpx.AsyncClient(
            base_url=self._url, transport=transport, timeout=TIMEOUT_S
        ) as client:
            await self._call(client, "come", "GET", "/")
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._listen(client))
                tasks.create_task(self._act(client))

    async def _act(self, client: httpx.AsyncClient) -> None:
        deeds = (self._read, self._read, self._read, self._ask, self._once, self._why, self._go)
        while True:
            await asyncio.sleep(self._draw.uniform(0, 2 * PAUSE_S))
            await self._draw.choice(deeds)(client)

    async def _read(self, client: httpx.AsyncClient) -> None:
        await self._call(client, "read", "GET", f"/api/v1/{self._draw.choice(READS)}")

    async def _ask(self, client: httpx.AsyncClient) -> None:
        """Submits a query, or ends the one before."""
        if self._query:
            await self._call(client, "end query", "DELETE", f"/api/v1/queries/{self._query}/")
            self._query = ""
            return
        sql = self._draw.choice(SHAPES).format(n=self._draw.randrange(50))
        made = await self._call(client, "query", "POST", "/api/v1/queries/", {"sql": sql})
        self._query = made.get("id", "")

    async def _once(self, client: httpx.AsyncClient) -> None:
        await self._call(client, "once", "POST", "/api/v1/queries/", {"sql": ONCE})

    async def _why(self, client: httpx.AsyncClient) -> None:
        """Asks why the first machine that the page showed is free, which it may be no longer."""
        body = {"view": WHY, "row": self._shown}
        await self._call(client, "why", "POST", "/api/v1/queries/why/", body)

    async def _go(self, client: httpx.AsyncClient) -> None:
        """Asks the way, moves on, or arrives."""
        node = self._draw.choice(self._nodes)
        if not self._walk:
            body = {"node": node, "goal": "free-machine:LaTeX"}
            made = await self._call(client, "walk", "POST", "/api/v1/routes/", body)
            self._walk = made.get("session", "")
        elif self._draw.random() < 0.5:
            path = f"/api/v1/routes/{self._walk}/"
            await self._call(client, "move", "PATCH", path, {"node": node})
        else:
            await self._call(client, "arrive", "DELETE", f"/api/v1/routes/{self._walk}/")
            self._walk = ""

    async def _call(
        self, client: httpx.AsyncClient, deed: str, method: str, path: str, body: object = None
    ) -> dict[str, Any]:
        """Calls the API and counts what came of it; returns an object, empty after a failure."""
        try:
            answer = await client.request(method, path, json=body)
        except httpx.HTTPError as error:
            self._done[f"{deed}: {type(error).__name__}"] += 1
            return {}
        self._done[f"{deed}: {answer.status_code}"] += 1
        told = answer.headers.get("content-type", "").endswith("json") and answer.is_success
        found = answer.json() if told else {}
        return found if isinstance(found, dict) else {}

    async def _listen(self, client: httpx.AsyncClient) -> None:
        url = self._url.replace("http", "ws", 1) + "/ws/live/"
        while True:
            cookie = f"sessionid={client.cookies.get('sessionid', '')}"
            try:
                async with (
                    asyncio.timeout(self._draw.uniform(0, 2 * SOCKET_S)),
                    connect(
                        url,
                        additional_headers={"Cookie": cookie},
                        max_size=2**25,
                        local_addr=(self._address, 0),
                    ) as socket,
                ):
                    views = (*MAP, *WALK_VIEWS, *filter(None, [self._query]))
                    for number, view in enumerate(views):
                        ask = {"type": "subscribe", "id": number, "view": view}
                        await socket.send(json.dumps(ask))
                    async for text in socket:
                        self._hear(json.loads(text))
            except TimeoutError:
                self._done["socket: closed and opened again"] += 1
            except (OSError, WebSocketException) as error:
                self._done[f"socket: {type(error).__name__}"] += 1
                await asyncio.sleep(PAUSE_S)

    def _hear(self, message: dict[str, Any]) -> None:
        self._done[f"frame: {message['type']}"] += 1
        if message["type"] == "snapshot" and message["view"] == WHY and message["rows"]:
            self._shown = message["rows"][0]
