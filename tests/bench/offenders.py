"""Does anybody notice? Fifty people work while one after the other somebody asks for too much.

    people     ──read──read──read──…  each a socket with the map's views and a query of his own
    offender      │ quiet │ cross join │ quiet │ growing recursion │ quiet │ …
    compared      └── p95 of both, side by side ──┘

Everybody comes from an address of his own, the offender too. Memory is that of all processes of
the product together, what they share counted once.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tests.bench.offences import OFFENCES, Offender
from tests.bench.report import Target, percentile, report, spread
from tests.bench.rig import Rig, RigFailed, running

PEOPLE, QUICK_PEOPLE = 50, 10
SLICE_S, QUICK_SLICE_S = 20.0, 4.0
MOST_RATIO, MOST_GROWTH_MB = 1.25, 300.0
PAUSE_S = 1.0
TIMEOUT_S = 30.0
SETTLE_S = 120
MAP = ("room_state", "machine_state", "free_machine", "door_state", "visitors_in_room", "dark_room")
READS = ("status/", "doors/", "queries/limits/", "me/", "rooms/none/reservations/")
QUERY = "SELECT s.mid, s.weight_kg FROM newest_seat s WHERE s.weight_kg > {n}"


@dataclass(slots=True)
class Slice:
    """What people met with in some seconds.

    Args:
        read_ms: of each request.
        heard_ms: age of the newest log entry in each change that a socket brought.
        failed: what should not have been.
    """

    read_ms: list[float] = field(default_factory=list)
    heard_ms: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)


class Crowd:
    """People at work.

    Args:
        rig: where.
    """

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self.now = Slice()

    async def settled(self, people: int) -> None:
        """Waits until all have come and changes reach them.

        Raises:
            RigFailed: they do not.
        """
        for _ in range(SETTLE_S):
            await asyncio.sleep(1)
            if len(self.now.heard_ms) > people * len(MAP) and self.now.read_ms:
                return
        raise RigFailed(f"no changes reached {people} people in {SETTLE_S} s: {self.now.failed}")

    async def person(self, number: int) -> None:
        """Comes, asks a query, and goes on reading and listening."""
        address = f"127.0.1.{1 + number}"
        transport = httpx.AsyncHTTPTransport(local_address=address, verify=False)
        url = self._rig.url
        async with httpx.AsyncClient(
            base_url=url, transport=transport, timeout=TIMEOUT_S
        ) as client:
            await client.get("/")
            made = await client.post("/api/v1/queries/", json={"sql": QUERY.format(n=number)})
            views = (*MAP, made.json()["id"]) if made.is_success else MAP
            if not made.is_success:
                self.now.failed[made.json().get("code", str(made.status_code))] += 1
            cookie = f"sessionid={client.cookies.get('sessionid', '')}"
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._listen(views, cookie, address))
                tasks.create_task(self._read(client, number))

    async def _read(self, client: httpx.AsyncClient, number: int) -> None:
        draw = random.Random(number)
        while True:
            await asyncio.sleep(draw.uniform(0, 2 * PAUSE_S))
            began = time.perf_counter()
            try:
                answer = await client.get(f"/api/v1/{draw.choice(READS)}")
                if answer.status_code not in (200, 404):
                    self.now.failed[str(answer.status_code)] += 1
            except httpx.HTTPError as error:
                self.now.failed[type(error).__name__] += 1
            self.now.read_ms.append((time.perf_counter() - began) * 1e3)

    async def _listen(self, views: tuple[str, ...], cookie: str, address: str) -> None:
        url = self._rig.url.replace("http", "ws", 1) + "/ws/live/"
        while True:
            try:
                async with connect(
                    url,
                    additional_headers={"Cookie": cookie},
                    max_size=2**25,
                    local_addr=(address, 0),
                    open_timeout=TIMEOUT_S,
                ) as socket:
                    for number, view in enumerate(views):
                        ask = {"type": "subscribe", "id": number, "view": view}
                        await socket.send(json.dumps(ask))
                    async for text in socket:
                        message = json.loads(text)
                        if message["type"] == "delta" and message["changes"]:
                            self.now.heard_ms.append((time.time() - message["at_s"]) * 1e3)
            except (OSError, WebSocketException, TimeoutError) as error:
                self.now.failed[f"socket: {type(error).__name__}"] += 1
                await asyncio.sleep(PAUSE_S)


def run(*, quick: bool, say: Callable[[str], Any], figure: str | None = None) -> dict[str, Any]:
    """Lets one offender after the other try, and gives the bench's JSON object.

    Args:
        figure: only this offence.
    """
    wanted = {name: one for name, one in OFFENCES.items() if figure in (None, name)}
    with running() as rig:
        figures = asyncio.run(_measure(rig, wanted, quick=quick, say=say))
    targets = [
        target
        for name, found in figures["offences"].items()
        for target in (
            Target(f"{name}: reads' p95, with to without", found["read_ratio"], MOST_RATIO, ""),
            Target(f"{name}: changes' p95, with to without", found["heard_ratio"], MOST_RATIO, ""),
            Target(f"{name}: memory", found["growth_mb"], MOST_GROWTH_MB, "MB"),
            Target(f"{name}: words for the offender", len(found["told"]), 1, "", at_most=False),
        )
    ]
    return report("offenders", figures, targets)


async def _measure(
    rig: Rig, wanted: dict[str, Any], *, quick: bool, say: Callable[[str], Any]
) -> dict[str, Any]:
    people, slice_s = (QUICK_PEOPLE, QUICK_SLICE_S) if quick else (PEOPLE, SLICE_S)
    crowd = Crowd(rig)
    found: dict[str, Any] = {}
    async with at_work(crowd, people):
        await crowd.settled(people)
        for name, offence in wanted.items():
            before = await _slice(crowd, slice_s)
            memory = Memory(rig)
            offender = Offender(rig)
            async with memory.watched(), offender.trying(offence):
                with_it = await _slice(crowd, slice_s)
            await asyncio.sleep(2 * PAUSE_S)  # what still runs ends
            after = await _slice(crowd, slice_s)
            found[name] = _compared(before, with_it, after) | {
                "growth_mb": round(memory.growth_mb, 1),
                "attempts": offender.attempts,
                "told": dict(offender.told.most_common(5)),
            }
            say(f"{name}: {json.dumps(found[name], ensure_ascii=False)}")
    return {"people": people, "slice_s": slice_s, "offences": found}


@asynccontextmanager
async def at_work(crowd: Crowd, people: int) -> AsyncIterator[None]:
    """Lets people come, and go at the end."""
    tasks = [asyncio.create_task(crowd.person(number)) for number in range(people)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _slice(crowd: Crowd, slice_s: float) -> Slice:
    crowd.now = Slice()
    await asyncio.sleep(slice_s)
    return crowd.now


def _compared(before: Slice, with_it: Slice, after: Slice) -> dict[str, Any]:
    """Returns how much longer people waited with the offender than without, before and after.

    Where nothing came at all, there is nothing to compare, and the target is missed.
    """
    found: dict[str, Any] = {"failed": dict(with_it.failed)}
    for name in ("read", "heard"):
        waits_ms = {
            "without": getattr(before, f"{name}_ms") + getattr(after, f"{name}_ms"),
            "with": getattr(with_it, f"{name}_ms"),
        }
        found[f"{name}_ms"] = {how: spread(ms) if ms else None for how, ms in waits_ms.items()}
        found[f"{name}_ratio"] = None
        if all(waits_ms.values()):
            quiet, loud = (percentile(ms, 0.95) for ms in waits_ms.values())
            found[f"{name}_ratio"] = round(loud / quiet, 2)
    return found


class Memory:
    """How much the product's processes hold, and how much more while somebody tries something.

    Args:
        rig: the product.
    """

    def __init__(self, rig: Rig) -> None:
        self._root = psutil.Process(rig.process.pid)
        self._before = self._held()
        self._most = self._before

    @property
    def growth_mb(self) -> float:
        """The most there was above what was there at first, MB."""
        return (self._most - self._before) / 1e6

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Looks twice a second."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            self._most = max(self._most, self._held())

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(PAUSE_S / 2)
            self._most = max(self._most, self._held())

    def _held(self) -> int:
        held = 0
        for process in (self._root, *self._root.children(recursive=True)):
            try:
                held += process.memory_full_info().pss
            except psutil.NoSuchProcess:
                continue  # it ended meanwhile
        return held
