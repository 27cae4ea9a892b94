"""Which processes of the product are up: what its supervisors say, beside everything else in Redis.

    hash NAME:supervised    SUPERVISOR:PROCESS → JSON: when it was said, and how the process is

A supervisor is known by its folder: two on one host do not mix, and a host may change its name.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import redis

STALE_S = 10.0  # a supervisor says it every second
GONE_S = 86_400.0  # one that was silent for longer runs no more; nobody waits for it


@dataclass(frozen=True, slots=True)
class ProcessState:
    """How one process is.

    Args:
        name: as in messages and log files.
        host: where it runs.
        pid: its process id, 0 while it is down.
        starts: how often it was started since its supervisor was.
        said: what happened to it last, empty when nothing did.
    """

    name: str
    host: str
    pid: int
    starts: int
    said: str = ""

    @property
    def up(self) -> bool:
        """Whether it runs."""
        return self.pid > 0


def supervisor_of(var: Path) -> str:
    """Returns what the supervisor of a folder is known by, made when it is first asked for."""
    with (var / "supervisor").open("a+") as kept:
        kept.seek(0)
        known = kept.read()
        if not known:
            known = secrets.token_hex(8)
            kept.write(known)
    return known


def write_processes(
    client: redis.Redis, name: str, supervisor: str, states: Iterable[ProcessState]
) -> None:
    """Says how a supervisor's processes are."""
    at_s = time.time()
    said: dict[Any, Any] = {
        f"{supervisor}:{one.name}": json.dumps([at_s, asdict(one)]) for one in states
    }
    if said:
        client.hset(f"{name}:supervised", mapping=said)


def forget_processes(client: redis.Redis, name: str, supervisor: str) -> None:
    """Forgets a supervisor that ends in order or begins anew, and those silent for a day."""
    past = [
        field
        for field, silent_s, _ in _said(client, name)
        if silent_s > GONE_S or field.startswith(f"{supervisor}:")
    ]
    if past:
        client.hdel(f"{name}:supervised", *past)


def read_processes(client: redis.Redis, name: str) -> list[ProcessState]:
    """Returns all processes of all hosts; where the supervisor is silent, all are down."""
    states = []
    for _, silent_s, state in _said(client, name):
        if silent_s > GONE_S:
            continue
        told = f"its supervisor has been silent for {silent_s:.0f} s"
        states.append(state if silent_s <= STALE_S else replace(state, pid=0, said=told))
    return sorted(states, key=lambda state: (state.host, state.name))


def _said(client: redis.Redis, name: str) -> Iterator[tuple[str, float, ProcessState]]:
    found = cast("dict[bytes, bytes]", client.hgetall(f"{name}:supervised"))
    for field, text in found.items():
        at_s, body = json.loads(text)
        yield field.decode(), time.time() - at_s, ProcessState(**body)
