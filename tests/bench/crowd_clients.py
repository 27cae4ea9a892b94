"""A thousand sockets in one process: frames are counted and their epochs checked, few are read.

socket    ──► head of each frame: continues the epoch before?   all of them
          └─► rows folded                                       a sample
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from tests.bench.client import Client, Heard

BACK_S = (0.5, 2.0)
_KIND = re.compile(rb'\{"type":"(\w+)"')
_DELTA = re.compile(
    rb'\{"type":"delta","id":(\d+),"prev":(\d+),"epoch":(\d+),"position":\d+,"at_s":([\d.]+)'
)


@dataclass(slots=True)
class Tally:
    """What all sockets together met with.

    Args:
        frames: by type.
        gaps: deltas that did not continue where the message before ended.
        jumps: snapshots that came in the place of deltas: what was missed was forgotten already.
        closed: connections that ended, by code.
        heard_ms: age of the newest log entry in each change, of the sample.
    """

    frames: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    gaps: list[str] = field(default_factory=list)
    jumps: int = 0
    closed: Counter[str] = field(default_factory=Counter)
    heard_ms: list[float] = field(default_factory=list)

    def forget_counts(self) -> None:
        """Counts and times anew; what went wrong stays."""
        self.frames.clear()
        self.heard_ms.clear()
        self.bytes = 0


class Light(asyncio.Protocol):
    """One socket, as long as it lasts.

    Args:
        url: of the socket.
        cookie: whose browser it is.
        follower: hears that it is open, and gets the bytes of each message.
    """

    def __init__(self, url: str, cookie: str, follower: Follower) -> None:
        self._client = ClientProtocol(parse_uri(url), max_size=2**25)
        self._cookie = cookie
        self._follower = follower
        self._open = False
        self.over: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        request = self._client.connect()
        request.headers["Cookie"] = self._cookie
        self._client.send_request(request)
        self._write()

    def data_received(self, data: bytes) -> None:
        self._client.receive_data(data)
        for event in self._client.events_received():
            if isinstance(event, Response):
                if self._client.state is State.OPEN:
                    self._follower.begin(self)
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                self._follower.take(bytes(event.data))
        self._write()  # answers to pings

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message."""
        self._client.send_text(json.dumps(message).encode())
        self._write()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.over.done():
            close = self._client.close_rcvd
            self.over.set_result(str(close.code) if close else type(exc).__name__)

    def _write(self) -> None:
        for data in self._client.data_to_send():
            if data:
                self.transport.write(data)
            else:
                self.transport.close()


class Follower:
    """One browser that follows views for good, and resumes where it was.

    Args:
        url: e.g. http://127.0.0.1:8000.
        address: where it comes from.
        cookie: whose it is.
        views: subscription i is the i-th.
        tally: where it counts.
        folds: whether rows are folded.
    """

    def __init__(
        self,
        url: str,
        address: str,
        cookie: str,
        views: Sequence[str],
        tally: Tally,
        *,
        folds: bool,
    ) -> None:
        self._url = url.replace("http", "ws", 1) + "/ws/live/"
        self._port = int(url.rsplit(":", 1)[1])
        self._address = address
        self._cookie = cookie
        self.views = tuple(views)
        self._tally = tally
        self.epochs: dict[int, int] = {}
        self.heard = {number: Heard() for number in range(len(views) if folds else 0)}

    async def follow(self) -> None:
        """Connects, and again whenever the connection ends."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                _, light = await loop.create_connection(
                    lambda: Light(self._url, self._cookie, self),
                    "127.0.0.1",
                    self._port,
                    local_addr=(self._address, 0),
                )
                try:
                    self._tally.closed[await light.over] += 1
                finally:
                    light.transport.close()
            except OSError as error:
                self._tally.closed[type(error).__name__] += 1
            await asyncio.sleep(random.uniform(*BACK_S))

    def begin(self, light: Light) -> None:
        """Subscribes."""
        for number, view in enumerate(self.views):
            ask = {"type": "subscribe", "id": number, "view": view}
            if number in self.epochs:
                ask["since"] = self.epochs[number]
            light.send(ask)

    def take(self, data: bytes) -> None:
        """Counts a message, and looks whether it continues the one before."""
        tally = self._tally
        tally.bytes += len(data)
        found = _KIND.match(data)
        if found is None:
            tally.gaps.append(f"no message: {data[:80]!r}")
            return
        tally.frames[found[1].decode()] += 1
        match found[1]:
            case b"delta":
                self._delta(data)
            case b"snapshot":
                self._snapshot(json.loads(data))
            case b"error":
                tally.frames[f"error: {json.loads(data)['code']}"] += 1

    def _delta(self, data: bytes) -> None:
        found = _DELTA.match(data)
        if found is None:
            self._tally.gaps.append(f"no delta: {data[:80]!r}")
            return
        number, prev, epoch = map(int, found.groups()[:3])
        last = self.epochs.get(number)
        if prev != last:
            self._tally.gaps.append(f"{self.views[number]}: {epoch} continues {prev}, not {last}")
        self.epochs[number] = epoch
        if number in self.heard:
            Client.delta(self.heard[number], json.loads(data))
            self._tally.heard_ms.append((time.time() - float(found[4])) * 1e3)

    def _snapshot(self, message: dict[str, Any]) -> None:
        number = message["id"]
        self._tally.jumps += number in self.epochs
        self.epochs[number] = message["epoch"]
        if number in self.heard:
            heard = self.heard[number]
            heard.rows.clear()
            for row in message["rows"]:
                heard.rows[tuple(row)] += 1
            heard.epoch = message["epoch"]
            heard.snapshots.append(heard.epoch)
