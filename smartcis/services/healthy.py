"""Healthy: `python -m smartcis.services.healthy NAME …`, whether this host's processes are up.

Their supervisor says so beside everything else in Redis (`processes.py`). Without Django, which
takes seconds of processor time: a container is asked every few seconds.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence

import redis

from aspen.redis_client import connect_once
from aspen.results.engine_status import read_status
from smartcis.services.processes import read_processes

PATIENCE_S = 5.0


def faults(client: redis.Redis, name: str, wanted: Sequence[str], host: str) -> list[str]:
    """Returns what speaks against a host's health, a sentence each.

    Args:
        client: the Redis server of the product.
        name: the product's name there.
        wanted: names of processes, as `manage.py supervise` takes them.
        host: where they run.
    """
    there = {one.name: one for one in read_processes(client, name) if one.host == host}
    found = [f"{one} is not looked after on {host}" for one in wanted if one not in there]
    found += [
        f"{one} is down: {there[one].said}" for one in wanted if one in there and not there[one].up
    ]
    if "engine" in wanted and not found:
        status = read_status(client, name)
        if status.summary() == "offline":
            found.append(f"the engine is offline: {status.error or 'it has not begun'}")
    return found


def main(wanted: Sequence[str]) -> int:
    """Prints what is wrong; returns the status to end with."""
    try:
        with connect_once(os.environ["REDIS_URL"], PATIENCE_S) as client:
            name = os.environ.get("SMARTCIS_NAME", "smartcis")
            found = faults(client, name, wanted, socket.gethostname())
    except KeyError:
        found = ["REDIS_URL is not set"]
    except redis.RedisError as error:
        found = [f"the Redis server of REDIS_URL does not answer: {error}"]
    for line in found:
        sys.stderr.write(f"{line}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
