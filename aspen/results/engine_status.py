"""What the engine says about itself, beside its results: a hash that its driver refreshes.

hash  name:engine   state, pid, host, started_s, beat_s, generation, epoch, position, head,
                    lane_pids (JSON: lane → process id of its Python worker), error
string  name:supervisor   there while somebody looks after the engine
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast

import redis

OFFLINE_AFTER_S = 6.0
DELAYED_AFTER_S = 3.0
_SIGN_S = 5
ALONE_AFTER_S = 20.0  # an engine that nobody looked after for so long ends itself


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The newest words of the engine.

    Args:
        state: starting, live, stopping, stopped or failed, as the driver put it last.
        beat_s: wall clock of the driver's last sign of life.
        generation: of the query, empty until Spark is ready and has begun it.
        epoch: newest epoch written, 0 before the first of this run.
        position: log position of that epoch.
        head: the log's head at the last sign of life.
        progress_s: wall clock at which `position` moved last, or was seen equal to `head`.
        lane_pids: process id of the worker that holds each lane.
        error: what ended the last run, empty when nothing did.
    """

    state: str = "stopped"
    pid: int = 0
    host: str = ""
    started_s: float = 0.0
    beat_s: float = 0.0
    generation: str = ""
    epoch: int = 0
    position: int = 0
    head: int = 0
    progress_s: float = 0.0
    lane_pids: Mapping[int, int] = field(default_factory=dict)
    error: str = ""

    def spark_is_ready(self) -> bool:
        """Returns whether this engine's Spark runs its query: all limits count from then on."""
        return bool(self.generation) or self.state == "live"

    def summary(self, now_s: float | None = None) -> str:
        """Returns live, starting, delayed or offline, as pages show it."""
        now_s = time.time() if now_s is None else now_s
        if self.state not in {"starting", "live"} or now_s - self.beat_s > OFFLINE_AFTER_S:
            return "offline"
        if self.state == "starting":
            return "starting"
        return "delayed" if now_s - self.progress_s > DELAYED_AFTER_S else "live"


def status_key(name: str) -> str:
    """Returns the hash's key."""
    return f"{name}:engine"


def encode_status(status: EngineStatus) -> dict[str, str]:
    """Returns the fields of the hash: texts as they are, all else as JSON."""
    found = {one.name: getattr(status, one.name) for one in fields(status)}
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in found.items()
    }


def decode_status(found: Mapping[bytes, bytes]) -> EngineStatus:
    """Read the hash; an engine that never ran is "stopped"."""
    body: dict[str, Any] = {}
    for one in fields(EngineStatus):
        text = found.get(one.name.encode())
        if text is not None:
            body[one.name] = text.decode() if one.type == "str" else json.loads(text)
    pids = {int(lane): pid for lane, pid in body.get("lane_pids", {}).items()}
    return EngineStatus(**{**body, "lane_pids": pids})


def read_status(client: redis.Redis, name: str) -> EngineStatus:
    """Read the engine's status beside the results store `name`."""
    return decode_status(cast("dict[bytes, bytes]", client.hgetall(status_key(name))))


def write_status(client: redis.Redis, name: str, status: EngineStatus) -> None:
    """Replace the engine's status."""
    client.hset(status_key(name), mapping=cast("dict[Any, Any]", encode_status(status)))


def say_supervised(client: redis.Redis, name: str) -> None:
    """Leave a sign for the engine that somebody looks after it."""
    client.set(f"{name}:supervisor", "here", ex=_SIGN_S)


def supervised(client: redis.Redis, name: str) -> bool:
    """Returns whether somebody has looked after the engine lately."""
    return bool(client.exists(f"{name}:supervisor"))
