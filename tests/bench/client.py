"""A connected client that keeps everything it was told, for counting what was lost or doubled."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin

Row = tuple[Any, ...]
RECEIVE_LIMIT_S = 1.0
SILENCE_LIMIT_S = 12.0  # two missed heartbeats


@dataclass
class Heard:
    """What one subscription was told.

    Args:
        rows: the fold of everything so far: row → multiplicity.
        epoch: the last message's epoch.
        deltas: (previous epoch, epoch, changes) as they came; a resume merges several epochs.
        snapshots: epochs at which a whole snapshot replaced the fold.
        jumps: (epoch before, epoch) of every such snapshot but the first.
        faults: deltas that did not continue where the last message ended.
    """

    rows: dict[Row, int] = field(default_factory=lambda: defaultdict(int))
    epoch: int = 0
    deltas: list[tuple[int, int, dict[Row, int]]] = field(default_factory=list)
    snapshots: list[int] = field(default_factory=list)
    jumps: list[tuple[int, int]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Client(threading.Thread):
    """Follows views over the live socket, reconnecting and resuming like the page does.

    Args:
        url: e.g. http://127.0.0.1:8000.
        views: to subscribe to; subscription i is the i-th.
        cookie: the browser session's, for views that belong to a visitor.
    """

    def __init__(self, url: str, views: tuple[str, ...], cookie: str = "") -> None:
        super().__init__(daemon=True)
        self.socket_url = url.replace("http", "ws", 1) + "/ws/live/"
        self.origin = Origin(url)
        self.views = views
        self.cookie = cookie
        self.heard = {view: Heard() for view in views}
        self.reconnects = 0
        self.connected = False
        self.told = ""
        self.epoch = 0
        self.lock = threading.Lock()
        self._stopping = threading.Event()

    def run(self) -> None:
        """Stay connected until stopped."""
        while not self._stopping.is_set():
            try:
                self._follow()
            except (OSError, WebSocketException, TimeoutError) as error:
                self.connected = False
                self.reconnects += 1
                self.told = f"{type(error).__name__}: {error}"
                time.sleep(0.3)

    def stop(self) -> None:
        """Disconnect for good."""
        self._stopping.set()
        self.join(10)

    def _follow(self) -> None:
        headers = {"Cookie": self.cookie} if self.cookie else {}
        with connect(
            self.socket_url, origin=self.origin, additional_headers=headers, max_size=2**25
        ) as socket:
            for number, view in enumerate(self.views):
                ask = {"type": "subscribe", "id": number, "view": view}
                if self.heard[view].snapshots:
                    ask["since"] = self.heard[view].epoch
                socket.send(json.dumps(ask))
            self.connected = True
            heard_at = time.monotonic()
            while not self._stopping.is_set():
                try:
                    text = socket.recv(timeout=RECEIVE_LIMIT_S)
                except TimeoutError:
                    if time.monotonic() - heard_at > SILENCE_LIMIT_S:
                        raise
                    continue
                heard_at = time.monotonic()
                with self.lock:
                    self._take(json.loads(text))

    def _take(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "snapshot":
                heard = self.heard[self.views[message["id"]]]
                heard.rows = defaultdict(int)
                for row in message["rows"]:
                    heard.rows[tuple(row)] += 1
                if heard.snapshots:
                    heard.jumps.append((heard.epoch, message["epoch"]))
                heard.epoch = message["epoch"]
                heard.snapshots.append(message["epoch"])
            case "delta":
                self.delta(self.heard[self.views[message["id"]]], message)
            case "status":
                self.epoch = max(self.epoch, message["epoch"])
            case "error":
                raise OSError(message["message"])
            case _:
                pass

    @staticmethod
    def delta(heard: Heard, message: dict[str, Any]) -> None:
        """Folds a delta in."""
        epoch = message["epoch"]
        if message["prev"] != heard.epoch:
            heard.faults.append(f"epoch {epoch} continues {message['prev']}, not {heard.epoch}")
        delta: dict[Row, int] = defaultdict(int)
        for weight, *row in message["changes"]:
            delta[tuple(row)] += weight
            heard.rows[tuple(row)] += weight
            if not heard.rows[tuple(row)]:
                del heard.rows[tuple(row)]
        heard.deltas.append((message["prev"], epoch, {r: w for r, w in delta.items() if w}))
        heard.epoch = epoch
