"""A thousand people on the whole product: REST, outbox, log, Spark, results, hub, sockets.

    person    POST queries/ ──► 201 ── subscribe ──► first rows ──► one delta per reading …
    timed     └──────────── first answer ────────────────┘    └ measured → heard ┘

Each has a browser of its own, comes from one of many addresses, and asks whether one machine is
busier than a bound of his own: the same shape with other constants. All standing queries of the
building are maintained meanwhile. 500 readings a second are appended to the log as a gateway does.
Once all are there, some more come with questions of shapes nobody has asked yet.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from aspen.log.entry import Change, Transaction
from aspen.log.redis_log import RedisLog
from aspen.results.redis_results import RedisResults
from smartcis.environment import redis_url
from tests.bench.report import spread
from tests.bench.rig import Rig, running

ADDRESSES = 100
"""People come from so many addresses: the API takes a query a second from each."""
READINGS_PER_S, SLICE_S = 500, 0.1
ANSWER_LIMIT_S = 30.0
HUNDRED = 100
QUERY = (
    "SELECT c.mid, c.cpu_pct, c.at_s FROM cpu_reading [PARTITION BY mid ROWS 1] c "
    "WHERE c.mid = '{mid}' AND c.cpu_pct >= {least}"
)
NEW_PER_S = 2
NEW = (
    "SELECT c.mid, c.cpu_pct + {n} AS more FROM cpu_reading [PARTITION BY mid ROWS 1] c "
    "WHERE c.mid = '{mid}'"
)
NAME = "smartcis"


@dataclass(slots=True)
class Heard:
    """What happened to everybody, in the order it happened.

    Args:
        submit_ms: submit to the answer that the query is registered.
        first_ms: (people there by then, submit to first rows).
        fresh_ms: (people there by then, reading measured to delta heard).
        failed: what went wrong, by person.
    """

    submit_ms: list[float] = field(default_factory=list)
    first_ms: list[tuple[int, float]] = field(default_factory=list)
    fresh_ms: list[tuple[int, float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def there(self) -> int:
        """How many people have an answer."""
        return len(self.first_ms)


class Readings(threading.Thread):
    """Appends readings of random machines until it is told to stop."""

    def __init__(self, log: RedisLog, machines: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self._log = log
        self._machines = machines

    def run(self) -> None:
        """Append a slice of readings ten times a second."""
        draw, began, turn = random.Random(7), time.monotonic(), 0
        while not self.over.is_set():
            now_s = time.time()
            mids = draw.choices(self._machines, k=round(READINGS_PER_S * SLICE_S))
            rows = tuple(
                Change("cpu_reading", 1, (mid, f"{mid}.cpu", round(draw.uniform(0, 100), 1), now_s))
                for mid in mids
            )
            self._log.append([Transaction(now_s, rows)])
            turn += 1
            self.over.wait(max(0.0, began + turn * SLICE_S - time.monotonic()))


class Person:
    """One browser: asks one question and looks at its answer."""

    def __init__(self, rig: Rig, heard: Heard) -> None:
        self._rig, self._heard = rig, heard
        self._epoch, self._there = -1, False

    async def come(self, transport: httpx.AsyncHTTPTransport, sql: str) -> None:
        """Submit, subscribe, and listen for good.

        Args:
            transport: connections from the person's address.
        """
        began_s = time.time()
        try:
            query, cookie = await self._submit(transport, sql)
            self._heard.submit_ms.append((time.time() - began_s) * 1e3)
            async with connect(
                self._rig.url.replace("http", "ws", 1) + "/ws/live/",
                additional_headers={"Cookie": cookie},
                open_timeout=ANSWER_LIMIT_S,
            ) as socket:
                await socket.send(json.dumps({"type": "subscribe", "id": 1, "view": query}))
                await self._listen(socket, began_s)
        except (OSError, WebSocketException, httpx.HTTPError, TimeoutError) as error:
            self._heard.failed.append(f"{type(error).__name__}: {error}"[:200])

    async def _submit(self, transport: httpx.AsyncHTTPTransport, sql: str) -> tuple[str, str]:
        """Submit a query; give its id and the session cookie that came back."""
        # No client object: it would share cookies among all people of its address.
        request = httpx.Request(
            "POST",
            f"{self._rig.url}/api/v1/queries/",
            json={"sql": sql},
            extensions={"timeout": httpx.Timeout(ANSWER_LIMIT_S).as_dict()},
        )
        answer = await transport.handle_async_request(request)
        body = json.loads(await answer.aread())
        if answer.status_code != httpx.codes.CREATED:
            raise OSError(f"{answer.status_code} {body.get('message', '')}")
        cookies = answer.headers.get_list("set-cookie")
        session = next(one for one in cookies if one.startswith("sessionid="))
        return body["id"], session.split(";", 1)[0]

    async def _listen(self, socket: ClientConnection, began_s: float) -> None:
        async for text in socket:
            now_s, message = time.time(), json.loads(text)
            match message["type"]:
                case "snapshot":
                    self._epoch = message["epoch"]
                    if not self._there:
                        self._there = True
                        self._heard.first_ms.append((self._heard.there, (now_s - began_s) * 1e3))
                case "delta":
                    if message["prev"] != self._epoch:
                        raise OSError("a change was lost")
                    self._epoch = message["epoch"]
                    ages = [now_s - row[3] for row in message["changes"] if row[0] > 0]
                    self._heard.fresh_ms += [(self._heard.there, age * 1e3) for age in ages]
                case "error":
                    raise OSError(message["message"])


def measure(clients: int, per_s: int, shapes: int, say: Callable[[str], Any]) -> dict[str, Any]:
    """Lets people come to a whole product; returns what they waited for.

    Args:
        shapes: people who come at the end with questions of new shapes.
    """
    with running("--no-simulator") as rig:
        machines = [one["mid"] for one in rig.items("machines/")]
        url = redis_url(rig.var)
        readings = Readings(RedisLog(url, NAME, patience_s=20), machines)
        readings.start()
        results = RedisResults(url, NAME, patience_s=20)
        first_epoch = results.head()[0]
        heard, anew = Heard(), Heard()
        try:
            there = asyncio.run(_people(rig, machines, clients, per_s, shapes, heard, anew))
        finally:
            readings.over.set()
            readings.join(5)
        epochs = [epoch.timing_ms["total"] for epoch in results.epochs_since(first_epoch, 0)]
        failed = heard.failed + anew.failed
        say(f"product: {there} people, {len(failed)} failed")
        return {
            "people": there,
            "failed": failed[:3],
            "machines": len(machines),
            "epoch_ms": spread(epochs),
            "submit_ms": spread(heard.submit_ms),
            "first_ms": spread([ms for _, ms in heard.first_ms]),
            "fresh_ms": spread([ms for _, ms in heard.fresh_ms]),
            "new_shape_ms": spread([ms for _, ms in anew.first_ms]),
            "by_hundred": by_hundred(heard),
        }


def hundred_of(people: int) -> int:
    """Returns the hundred that so many people fill or begin."""
    return HUNDRED * max(1, math.ceil(people / HUNDRED))


def by_hundred(heard: Heard) -> dict[int, dict[str, float]]:
    """Returns the medians for each further hundred people, by how many there were."""
    found: dict[int, dict[str, float]] = {}
    for name, values in (("first_ms", heard.first_ms), ("fresh_ms", heard.fresh_ms)):
        parts: dict[int, list[float]] = {}
        for people, ms in values:
            parts.setdefault(hundred_of(people), []).append(ms)
        for upto, those in sorted(parts.items()):
            found.setdefault(upto, {})[name] = spread(those)["p50"]
    return found


async def _people(
    rig: Rig,
    machines: Sequence[str],
    clients: int,
    per_s: int,
    shapes: int,
    heard: Heard,
    anew: Heard,
) -> int:
    """Let everybody come and stay; give how many look at an answer at the end."""
    transports = [
        httpx.AsyncHTTPTransport(local_address=f"127.0.1.{1 + number}", verify=False)
        for number in range(ADDRESSES)
    ]
    crowd = _Crowd(rig, transports)
    # Nobody asks quite the same: each answer is a parameter row of its own.
    asked = [
        QUERY.format(mid=machines[number % len(machines)], least=95 + number / 250)
        for number in range(clients)
    ]
    await crowd.come(asked, per_s, heard)
    there = min(crowd.staying, heard.there)
    other = [NEW.format(n=1 + n, mid=machines[n % len(machines)]) for n in range(shapes)]
    await crowd.come(other, NEW_PER_S, anew)
    await crowd.leave()
    return there


class _Crowd:
    """People who came and stay.

    Args:
        transports: connections, one per address people come from.
    """

    def __init__(self, rig: Rig, transports: Sequence[httpx.AsyncHTTPTransport]) -> None:
        self._rig, self._transports = rig, transports
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def staying(self) -> int:
        """How many have not given up."""
        return sum(not task.done() for task in self._tasks)

    async def come(self, asked: Sequence[str], per_s: float, heard: Heard) -> None:
        """Let one person come for each question, until all have an answer or gave up."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number, sql in enumerate(asked):
            transport = self._transports[number % len(self._transports)]
            person = Person(self._rig, heard)
            self._tasks.append(asyncio.create_task(person.come(transport, sql)))
            await asyncio.sleep(max(0.0, began + (number + 1) / per_s - loop.time()))
        for _ in range(round(ANSWER_LIMIT_S / SLICE_S)):
            if heard.there + len(heard.failed) >= len(asked):
                break
            await asyncio.sleep(SLICE_S)  # the last ones wait for their first answer

    async def leave(self) -> None:
        """Close all sockets and connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for transport in self._transports:
            await transport.aclose()
