"""What a product holds: memory, keys, files, descriptors and threads, looked at from outside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import redis

from smartcis.environment import redis_url
from tests.bench.rig import Rig
from tests.bench.victims import OF_SPARK, SUPERVISED, find

Sample = dict[str, float]
MB = 1e6


def look(rig: Rig) -> Sample:
    """Returns what there is now: series → level, sizes in MB."""
    with redis.Redis.from_url(redis_url(rig.var), decode_responses=True) as server:
        return dict(_of_redis(server)) | dict(_of_files(rig.var)) | dict(_of_processes(rig))


def _of_redis(server: redis.Redis) -> Iterator[tuple[str, float]]:
    memory, persistence = server.info("memory"), server.info("persistence")
    yield "redis memory MB", memory["used_memory"] / MB
    yield "redis keys", server.dbsize()
    # The file itself grows between two rewritings to twice what it had after the last, or 64 MB.
    yield "redis file after rewriting MB", persistence["aof_base_size"] / MB


def _of_files(var: Path) -> Iterator[tuple[str, float]]:
    of_redis = size(var / "redis")
    yield "checkpoint MB", size(var / "checkpoint") / MB
    yield "log files MB", sum(size(one) for one in var.rglob("*.log")) / MB
    yield "database MB", sum(size(one) for one in var.glob("*.sqlite3*")) / MB
    yield "folder without redis MB", (size(var) - of_redis) / MB


def size(path: Path) -> int:
    """Returns the bytes of a file, or of all below a folder."""
    found = 0
    for one in [path] if path.is_file() else path.rglob("*"):
        with suppress(OSError):  # it may be gone meanwhile
            found += 0 if one.is_dir() else one.stat().st_size
    return found


def _of_processes(rig: Rig) -> Iterator[tuple[str, float]]:
    for name in ("supervisor", *SUPERVISED, *OF_SPARK):
        named = [psutil.Process(rig.process.pid)] if name == "supervisor" else find(rig, name)
        held: dict[str, float] = defaultdict(float)
        for process in named:
            with suppress(psutil.Error), process.oneshot():
                held["memory MB"] += process.memory_info().rss / MB
                held["descriptors"] += process.num_fds()
                held["threads"] += process.num_threads()
        for what, level in held.items():
            yield f"{name}: {what}", level


def processes(rig: Rig) -> dict[str, float]:
    """Returns the seconds of processor time of every process by name, since it began."""
    found: dict[str, float] = {}
    for name in (*SUPERVISED, *OF_SPARK):
        for process in find(rig, name):
            with suppress(psutil.Error):
                times = process.cpu_times()
                found[name] = found.get(name, 0.0) + times.user + times.system
    return found


def by_key(rig: Rig) -> dict[str, float]:
    """Returns the MB of each of Redis's keys, those of one kind together."""
    found: dict[str, float] = defaultdict(float)
    with redis.Redis.from_url(redis_url(rig.var), decode_responses=True) as server:
        for key in server.scan_iter(count=1_000):
            kind = ":".join(":" if any(map(str.isdigit, w)) else w for w in key.split(":"))
            found[kind] += (server.memory_usage(key) or 0) / MB
    return found
