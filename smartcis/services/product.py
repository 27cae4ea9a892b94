"""The whole product under one supervisor: Redis, web, Celery (with the engine), what feeds it.

    supervisor ─┬─ redis-server
                ├─ celery worker + beat ── manage.py engine ── Spark's JVM ── Python workers
                ├─ uvicorn
                ├─ manage.py simulate
                └─ manage.py listen     (where a broker or another talking source is set up)

A child that dies is started again. Nobody outlives the supervisor, even when it is killed: the
kernel ends its children, the engine watches Celery, Spark's JVM watches the engine.
"""

from __future__ import annotations

import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from aspen.results.engine_status import read_status
from smartcis.environment import REDIS_PORT_FILE
from smartcis.services.child import Child
from smartcis.services.embedded_redis import EmbeddedRedis

WATCH_S = 0.2
LIVE_LIMIT_S = 240.0
MOST_FAILURES = 3  # of the engine, before a start is given up


class NotLive(RuntimeError):
    """The product did not come up in time."""


class Steps:
    """Prints the steps of a start, with the seconds since the beginning and its own.

    Args:
        write: prints one line.
    """

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
        self.steps = Steps(say)
        self._environment = dict(os.environ)
        self._environment["SMARTCIS_VAR"] = str(var)
        self._children: list[Child] = []
        self._stopping = False
        self._failed: set[int] = set()

    def start_redis(self) -> str:
        """Starts the embedded Redis server, unless REDIS_URL names another.

        Returns:
            The URL that all children use.
        """
        given = self._environment.get("REDIS_URL")
        if given:
            return given
        server = EmbeddedRedis(self._var / "redis", self._var / REDIS_PORT_FILE)
        server.start()
        if server.process is not None:  # otherwise it runs already, and is somebody else's
            self._children.append(server)
        self._environment["REDIS_URL"] = server.url
        return server.url

    def start(self, *names: str) -> None:
        """Starts children by name: celery, web, simulator, listener."""
        for name in names:
            child = self._child(name)
            child.start()
            self._children.append(child)

    def _child(self, name: str) -> Child:
        python = sys.executable
        commands = {
            "celery": [
                *(python, "-m", "celery", "-A", "smartcis.celery", "worker", "--beat"),
                *("--pool", "threads", "--concurrency", "4", "--loglevel", "WARNING"),
                *("--schedule", str(self._var / "celery-beat"), "--without-gossip"),
                *("--without-mingle", "--hostname", f"smartcis-{self._port}@%h"),
            ],
            "web": [
                *(python, "-m", "uvicorn", "smartcis.asgi:application", "--host", "127.0.0.1"),
                *("--port", str(self._port), "--log-level", "warning"),
                *("--timeout-graceful-shutdown", "3"),
            ],
            "simulator": [python, str(self._manage), "simulate"],
            "listener": [python, str(self._manage), "listen"],
        }
        patience_s = 30.0 if name == "celery" else 10.0  # Celery ends the engine first
        return Child(name, commands[name], self._environment, self._var / "logs", patience_s)

    def wait_until_live(self) -> None:
        """Waits until pages are served and the engine has written its first epoch.

        Raises:
            NotLive: it took longer than four minutes, or the engine failed several times.
        """
        began = time.monotonic()
        with self.steps.step("web server"):
            self._until(self._web_answers, began, "the web server")
        with self.steps.step("engine (Spark)") as tell:
            self._until(self._engine_is_live, began, "the engine")
            with redis.Redis.from_url(self._environment["REDIS_URL"]) as client:
                status = read_status(client, self._results_name)
            tell(f"epoch {status.epoch}, log position {status.position}")

    def _until(self, holds: Callable[[], bool], began: float, what: str) -> None:
        while not holds():
            if self._stopping:
                raise NotLive("stopped while starting")
            if time.monotonic() - began > LIVE_LIMIT_S:
                raise NotLive(f"{what} did not come up; see {self._var / 'logs'}")
            self.watch()
            time.sleep(WATCH_S)

    def _web_answers(self) -> bool:
        try:
            url = f"http://127.0.0.1:{self._port}/api/v1/status/"
            with urllib.request.urlopen(url, timeout=10):  # our own address
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False

    def _engine_is_live(self) -> bool:
        with redis.Redis.from_url(self._environment["REDIS_URL"]) as client:
            status = read_status(client, self._results_name)
        if status.state == "failed" and status.pid not in self._failed:
            self._failed.add(status.pid)
            self.steps.say(f"the engine failed: {status.error}")
            if len(self._failed) >= MOST_FAILURES:
                log = self._var / "logs" / "engine.log"
                raise NotLive(f"the engine fails each time: {status.error}; see {log}")
        return status.summary() in {"live", "delayed"}

    def watch(self) -> None:
        """Starts again whatever has died, Redis first."""
        for child in self._children:
            happened = child.watch()
            if happened:
                self.steps.say(f"{child.name} {happened}")

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
        for child in reversed(self._children):
            child.stop()
