"""People at work: a browser each, which reads now and then and has a socket with the map's views.

Who reads and who listens are two processes: what an epoch brings to all sockets at once takes its
time to be read, and no request's time may hold any of it.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

PAUSE_S = 1.0
TIMEOUT_S = 30.0
MAP = ("room_state", "machine_state", "free_machine", "door_state", "visitors_in_room", "dark_room")
READS = ("status/", "doors/", "queries/limits/", "me/", "rooms/none/reservations/")
QUERY = "SELECT s.mid, s.weight_kg FROM newest_seat s WHERE s.weight_kg > {n}"


@dataclass(slots=True)
class Met:
    """What people met with in some seconds.

    Args:
        waits_ms: of each request; or the age of the newest log entry in each change heard.
        failed: what should not have been.
        late_ms: how much later than it wished the process came to the processor, each time.
    """

    waits_ms: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    late_ms: list[float] = field(default_factory=list)


class People:
    """Some at work, of whom it can be heard what they met with.

    Args:
        url: of the product.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._met = Met()
        self._tasks = [asyncio.create_task(self._look())]

    async def met(self) -> Met:
        """Returns what they met with since this was asked last."""
        met, self._met = self._met, Met()
        return met

    async def _look(self) -> None:
        while True:
            due = time.perf_counter() + PAUSE_S / 50
            await asyncio.sleep(PAUSE_S / 50)
            self._met.late_ms.append((time.perf_counter() - due) * 1e3)

    def _client(self, number: int, cookie: str = "") -> httpx.AsyncClient:
        transport = httpx.AsyncHTTPTransport(local_address=address_of(number), verify=False)
        cookies = {"sessionid": cookie} if cookie else None
        return httpx.AsyncClient(
            base_url=self._url, transport=transport, timeout=TIMEOUT_S, cookies=cookies
        )


def address_of(number: int) -> str:
    """Returns the address of somebody."""
    return f"127.0.1.{1 + number}"


class Listeners(People):
    """People who come, submit a query each, and listen to what changes."""

    async def come(self, people: int) -> list[str]:
        """Lets people come; returns their sessions."""
        return await asyncio.gather(*(self._comes(number) for number in range(people)))

    async def _comes(self, number: int) -> str:
        async with self._client(number) as client:
            await client.get("/")
            made = await client.post("/api/v1/queries/", json={"sql": QUERY.format(n=number)})
            views = (*MAP, made.json()["id"]) if made.is_success else MAP
            if not made.is_success:
                self._met.failed[made.json().get("code", str(made.status_code))] += 1
            session = client.cookies["sessionid"]
        self._tasks.append(asyncio.create_task(self._listen(number, session, views)))
        return session

    async def _listen(self, number: int, session: str, views: Sequence[str]) -> None:
        url = self._url.replace("http", "ws", 1) + "/ws/live/"
        while True:
            try:
                async with connect(
                    url,
                    additional_headers={"Cookie": f"sessionid={session}"},
                    max_size=2**25,
                    local_addr=(address_of(number), 0),
                    open_timeout=TIMEOUT_S,
                ) as socket:
                    for at, view in enumerate(views):
                        ask = {"type": "subscribe", "id": at, "view": view}
                        await socket.send(json.dumps(ask))
                    async for text in socket:
                        message = json.loads(text)
                        if message["type"] == "delta" and message["changes"]:
                            self._met.waits_ms.append((time.time() - message["at_s"]) * 1e3)
            except (OSError, WebSocketException, TimeoutError) as error:
                self._met.failed[f"socket: {type(error).__name__}"] += 1
                await asyncio.sleep(PAUSE_S)


class Readers(People):
    """The same people's pages, which send a request now and then."""

    async def begin(self, sessions: Sequence[str]) -> None:
        """Begins to read, each with a session."""
        for number, session in enumerate(sessions):
            self._tasks.append(asyncio.create_task(self._read(number, session)))

    async def _read(self, number: int, session: str) -> None:
        draw = random.Random(number)
        async with self._client(number, session) as client:
            while True:
                await asyncio.sleep(draw.uniform(0, 2 * PAUSE_S))
                path = f"/api/v1/{draw.choice(READS)}"
                began = time.perf_counter()
                try:
                    answer = await client.get(path)
                    if answer.status_code not in (200, 404):
                        self._met.failed[str(answer.status_code)] += 1
                except httpx.HTTPError as error:
                    self._met.failed[type(error).__name__] += 1
                self._met.waits_ms.append((time.perf_counter() - began) * 1e3)
