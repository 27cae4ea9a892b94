"""What the engine says about itself, beside its results: a hash that its driver refreshes.

hash  name:engine   state, pid, host, started_s, beat_s, generation, epoch, position, head,
                    lane_pids (JSON: lane → process id of its Python worker), error
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import redis

OFFLINE_AFTER_S = 6.0
DELAYED_AFTER_S = 3.0


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The newest words of the engine.

    Args:
        state: starting, live, stopping, stopped or failed, as the driver put it last.
        beat_s: wall clock of the driver's last sign of life.
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
    """Returns the fields of the hash."""
    return {
        "state": status.state,
        "pid": str(status.pid),
        "host": status.host,
        "started_s": repr(status.started_s),
        "beat_s": repr(status.beat_s),
        "generation": status.generation,
        "epoch": str(status.epoch),
        "position": str(status.position),
        "head": str(status.head),
        "progress_s": repr(status.progress_s),
        "lane_pids": json.dumps(status.lane_pids),
        "error": status.error,
    }


def decode_status(fields: Mapping[bytes, bytes]) -> EngineStatus:
    """Read the hash; an engine that never ran is "stopped"."""
    text = {key.decode(): value.decode() for key, value in fields.items()}
    if not text:
        return EngineStatus()
    return EngineStatus(
        state=text["state"],
        pid=int(text["pid"]),
        host=text["host"],
        started_s=float(text["started_s"]),
        beat_s=float(text["beat_s"]),
        generation=text["generation"],
        epoch=int(text["epoch"]),
        position=int(text["position"]),
        head=int(text["head"]),
        progress_s=float(text["progress_s"]),
        lane_pids={int(lane): pid for lane, pid in json.loads(text["lane_pids"]).items()},
        error=text["error"],
    )


def read_status(client: redis.Redis, name: str) -> EngineStatus:
    """Read the engine's status beside the results store `name`."""
    return decode_status(cast("dict[bytes, bytes]", client.hgetall(status_key(name))))


def write_status(client: redis.Redis, name: str, status: EngineStatus) -> None:
    """Replace the engine's status."""
    client.hset(status_key(name), mapping=cast("dict[Any, Any]", encode_status(status)))
