"""Whom to hurt: the processes of a running product, by what they are called."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import psutil

from tests.bench.rig import Rig

STANDBY = "standby"
READY = "standby-ready"
"""What a standby calls itself when it could begin."""
SUPERVISED = (
    *("redis", "engine", STANDBY, "clock", "celery", "beat", "sources", "web", "simulator"),
)
OF_SPARK = ("worker", "reader", "jvm")
ENGINES = ("engine", *OF_SPARK)
"""Those whose death the engine has to recover from."""
_WORDS = {
    "redis": ("redis-server",),
    "engine": ("manage.py", "engine"),
    "jvm": ("java", "org.apache.spark"),
    "clock": ("manage.py", "clock"),
    "celery": ("smartcis.celery", "worker", "threads"),
    "beat": ("smartcis.celery", "beat"),
    "sources": ("smartcis.celery", "worker", "autoscale"),
    "web": ("uvicorn",),
    "simulator": ("manage.py", "simulate"),
    "reader": ("python_streaming_source_runner",),
}
_DAEMON = "pyspark.daemon"


def find(rig: Rig, name: str) -> list[psutil.Process]:
    """Returns the processes of a name; none while it is down."""
    return find_all(rig).get(name, [])


def find_all(rig: Rig) -> dict[str, list[psutil.Process]]:
    """Returns the processes of all names that are up."""
    found: dict[str, list[psutil.Process]] = {}
    daemons: set[int] = set()
    standbys: set[int] = set()
    for process in psutil.Process(rig.process.pid).children(recursive=True):
        with suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            line = " ".join(process.cmdline())
            if _DAEMON in line:
                daemons.add(process.pid)
                if process.ppid() in daemons:  # it was forked to work
                    found.setdefault("worker", []).append(process)
                continue
            for name, words in _WORDS.items():
                if all(word in line for word in words):
                    # One that has taken over calls itself so; a standby's JVM is hurt with it.
                    waits = "--standby" in line and process.name() != "engine"
                    waits = waits or process.ppid() in standbys
                    if waits and name == "engine":
                        standbys.add(process.pid)
                    found.setdefault(STANDBY if waits else name, []).append(process)
    return found


def strike(rig: Rig, name: str, number: signal.Signals) -> list[int]:
    """Send a signal to every process of a name; returns who was hit."""
    hit = []
    for victim in find(rig, name):
        with suppress(ProcessLookupError):
            os.kill(victim.pid, number)
            hit.append(victim.pid)
    return hit
