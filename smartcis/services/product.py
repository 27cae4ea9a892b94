"""The whole product under one supervisor: Redis, engine, clock, Celery, web, what feeds it.

    supervisor ─┬─ redis-server
                ├─ manage.py clock      ticks, and the outbox in a thread of its own
                ├─ manage.py engine ── Spark's JVM ── Python workers
                ├─ celery worker        everything else that is periodic
                ├─ celery worker        for sources and webhooks, whose processes may be killed
                ├─ celery beat
                ├─ uvicorn
                ├─ manage.py simulate
                └─ manage.py listen     to brokers, whenever somebody adds one

A child that dies, stands still or says nothing any more is started again, and what is down is
named. Should the supervisor itself be killed, the kernel ends its children; the engine waits for
another supervisor to adopt it before it ends itself, and Spark's JVM with it.
"""

from __future__ import annotations

import json
import math
import os
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import redis
from django.conf import settings

from aspen.redis_client import connect_once
from aspen.results.engine_status import EngineStatus, read_status
from smartcis.services.child import Child
from smartcis.services.embedded_redis import EmbeddedRedis
from smartcis.services.engine_supervisor import EngineSupervisor, engine_command
from smartcis.services.processes import (
    ProcessState,
    forget_processes,
    supervisor_of,
    write_processes,
)
from smartcis.services.stopped import Stopped

T = TypeVar("T")
PROCESSES = ("engine", "clock", "celery", "beat", "sources", "web", "simulator", "listener")
WATCH_S = 0.1
TELL_S = 1.0
STOPPED_LOOK_S = 0.5
HOST = socket.gethostname()
MOST_FAILURES = 3  # of the engine, before a start is given up


class NotLive(RuntimeError):
    """The product did not come up in time."""


class StartSteps:
    """Prints the steps of a start, with the seconds since the beginning and its own."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._began = time.monotonic()

    @contextmanager
    def step(self, what: str) -> Iterator[Callable[[str], None]]:
        """Announces a step and, at its end, how long it took.

        Yields:
            A function that takes what came of it.
        """
        results: list[str] = []
        began = time.monotonic()
        self.say(f"{what} …")
        yield results.append
        took_s = time.monotonic() - began
        result = f": {results[-1]}" if results else ""
        self.say(f"{what} done in {took_s:.1f} s{result}")

    def say(self, line: str) -> None:
        """Prints a line with the seconds since the start."""
        self._write(f"{time.monotonic() - self._began:6.1f} s  {line}")


class Product:
    """The processes of one product.

    Args:
        manage: path of manage.py.
        var: folder for everything it writes.
        port: where the web server listens on 127.0.0.1.
        results_name: name of the results store, beside which the engine tells how it is.
        say: prints a line.
    """

    def __init__(
        self, manage: Path, var: Path, port: int, results_name: str, say: Callable[[str], object]
    ) -> None:
        self._manage = manage
        self._var = var
        self._port = port
        self._results_name = results_name
        self.steps = StartSteps(say)
        self._environment = dict(os.environ)
        self._environment["SMARTCIS_VAR"] = str(var)
        self._children: list[Child | EngineSupervisor] = []
        self._server = connect_once(settings.REDIS_URL)
        self._supervisor = supervisor_of(var)
        self._said: dict[str, str] = {}
        self._stopped = Stopped()
        self._told_at = self._looked_at = 0.0
        self._stopping = False
        self._failed: set[int] = set()

    def start_redis(self) -> str:
        """Starts the embedded Redis server, unless REDIS_URL names another.

        Returns:
            The URL that all children use.
        """
        given = self._environment.get("REDIS_URL")
        if given:
            return self.use_redis(given)
        server = EmbeddedRedis(self._var / "redis")
        server.start()
        if server.lost:
            self.steps.say(f"the append-only file of Redis was repaired: {server.lost}")
        if server.process is not None:  # otherwise it runs already, and is somebody else's
            self._children.append(server)
        return self.use_redis(server.url)

    def use_redis(self, url: str) -> str:
        """Lets all children use a server; returns its URL."""
        self._environment["REDIS_URL"] = url
        self._server = connect_once(url)
        # What is said here of processes that run no more is of an earlier supervisor.
        with suppress(redis.RedisError):
            forget_processes(self._server, settings.NAME, self._supervisor)
        return url

    def start(self, *names: str) -> None:
        """Starts children by name; `PROCESSES` has the names."""
        for name in names:
            child = self._child(name)
            child.start()
            self._children.append(child)

    def _child(self, name: str) -> Child | EngineSupervisor:
        python = sys.executable
        logs = self._var / "logs"
        if name == "engine":
            # On a cluster a standby would hold cores that the engine needs.
            alone = settings.ENGINE_MASTER.startswith("local[")
            return EngineSupervisor(
                self._environment["REDIS_URL"],
                self._results_name,
                engine_command(self._manage),
                logs / "engine.log",
                self._environment,
                settings.ENGINE_STANDBYS if alone else 0,
                starting_s=settings.STARTING_S,
                silent_s=settings.ENGINE_SILENT_S,
            )
        celery = (python, "-m", "celery", "-A", "smartcis.celery")
        commands = {
            "clock": [python, str(self._manage), "clock"],
            "celery": [
                *(*celery, "worker", "--pool", "threads", "--concurrency", "4"),
                *("--loglevel", "WARNING", "--without-gossip", "--without-mingle"),
                *("--hostname", f"smartcis-{self._port}@%h"),
            ],
            "sources": [
                *(*celery, "worker", "--queues", settings.SOURCES_QUEUE, "--autoscale", "4,1"),
                *("--loglevel", "WARNING", "--without-gossip", "--without-mingle"),
                *("--hostname", f"smartcis-sources-{self._port}@%h"),
            ],
            "beat": [*celery, "beat", "--loglevel", "WARNING", "--pidfile", ""],
            "web": [
                *(python, "-m", "uvicorn", "smartcis.asgi:application", "--host", "127.0.0.1"),
                *("--port", str(self._port), "--log-level", "warning"),
                *("--timeout-graceful-shutdown", "3", "--no-proxy-headers", "--http", "h11"),
                *("--ws", "smartcis.live.slow_reader:SocketProtocol", "--ws-max-size", "65536"),
            ],
            "simulator": [python, str(self._manage), "simulate"],
            "listener": [python, str(self._manage), "listen"],
        }
        starting_s = settings.STARTING_S
        return Child(
            name, commands[name], self._environment, logs, beats=True, starting_s=starting_s
        )

    def wait_until_live(self) -> None:
        """Waits until pages are served and the engine has written its first epoch.

        The engine's own limits and its supervisor's say how long an engine may take.

        Raises:
            NotLive: no page was served in time, or one engine after another failed.
        """
        with self.steps.step("web server"):
            self._until(self._web_answers, time.monotonic() + settings.STARTING_S)
        with self.steps.step("engine (Spark)") as tell:
            status = self._until(self._live_engine, math.inf)
            tell(f"epoch {status.epoch}, log position {status.position}")

    def _until(self, look: Callable[[], T | None], ends: float) -> T:
        """Returns what `look` finds in the end; a server that is late is asked again."""
        while True:
            with suppress(redis.RedisError):
                if (found := look()) is not None:
                    return found
            if self._stopping:
                raise NotLive("stopped while starting")
            if time.monotonic() > ends:
                raise NotLive(
                    f"no page within {settings.STARTING_S} s; see {self._var / 'logs'}, and raise "
                    "SMARTCIS_STARTING_S on a slow machine"
                )
            self.watch()
            time.sleep(WATCH_S)

    def _web_answers(self) -> int | None:
        """Returns the process that answers, if it is our own and not whoever had the port."""
        web = next(child for child in self._children if child.name == "web")
        try:
            url = f"http://127.0.0.1:{self._port}/healthz"
            with urllib.request.urlopen(url, timeout=10) as answer:  # our own address
                pid = json.load(answer).get("pid")
        except (OSError, ValueError, AttributeError):
            return None
        return web.pid if pid == web.pid else None

    def _live_engine(self) -> EngineStatus | None:
        status = read_status(self._server, self._results_name)
        if status.state == "failed" and status.pid not in self._failed:
            self._failed.add(status.pid)
            self.steps.say(f"the engine failed: {status.error}")
            if len(self._failed) >= MOST_FAILURES:
                log = self._var / "logs" / "engine.log"
                raise NotLive(f"the engine fails each time: {status.error}; see {log}")
        return status if status.summary() in {"live", "delayed"} else None

    def watch(self) -> None:
        """Starts again whatever has died, Redis first, and names what is down."""
        for child in self._children:
            happened = child.watch()
            if happened:
                self._said[child.name] = happened
                self.steps.say(f"{child.name} {happened}")
        if time.monotonic() >= self._looked_at + STOPPED_LOOK_S:
            self._looked_at = time.monotonic()
            for happened in self._stopped.end(child.pid for child in self._children if child.pid):
                self.steps.say(happened)
        if time.monotonic() >= self._told_at + TELL_S:
            self._told_at = time.monotonic()
            with suppress(redis.RedisError):
                write_processes(self._server, settings.NAME, self._supervisor, self._states())

    def _states(self) -> list[ProcessState]:
        return [
            ProcessState(one.name, HOST, one.pid, one.starts, self._said.get(one.name, ""))
            for one in self._children
        ]

    def run(self) -> None:
        """Watches until `request_stop`."""
        while not self._stopping:
            self.watch()
            time.sleep(WATCH_S)

    def request_stop(self) -> None:
        """Ends `run`; safe in a signal handler."""
        self._stopping = True

    def stop(self) -> None:
        """Ends all children, Redis last."""
        with suppress(redis.RedisError):
            forget_processes(self._server, settings.NAME, self._supervisor)
        for child in reversed(self._children):
            child.stop()
