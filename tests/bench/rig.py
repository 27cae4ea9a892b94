"""A whole product of its own for a bench or a browser test: free port, fresh folder, real parts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aspen.results.redis_results import RedisResults
from smartcis.environment import redis_url
from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
START_LIMIT_S = 300
NAME = "smartcis"
"""Of the product's log and results in its Redis."""
STANDBYS = "SMARTCIS_ENGINE_STANDBYS"


class RigFailed(RuntimeError):
    """The product did not come up; the message ends with its last lines."""


@dataclass(frozen=True, slots=True)
class Rig:
    """A running product.

    Args:
        var: its folder for everything it writes.
        port: where it serves on 127.0.0.1.
        process: the supervisor.
        token: a staff token for the API.
        staff: name and password of the account that may lock doors.
        started_s: wall clock when its engine was live.
    """

    var: Path
    port: int
    process: subprocess.Popen[bytes]
    token: str
    staff: tuple[str, str]
    started_s: float

    @property
    def url(self) -> str:
        """Its address, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> Any:
        """Read a JSON document below /api/v1/."""
        return self.call("GET", path)

    def call(
        self, method: str, path: str, body: object = None, more: Mapping[str, str] | None = None
    ) -> Any:
        """Call the API as staff.

        Raises:
            urllib.error.HTTPError: the API refused.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.url}/api/v1/{path}",
            data=data,
            method=method,
            headers={
                "Authorization": f"Token {self.token}",
                "Content-Type": "application/json",
                **(more or {}),
            },
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    @property
    def results(self) -> RedisResults:
        """What its engine wrote."""
        return RedisResults(redis_url(self.var), NAME)

    def rows(self, view: str) -> Mapping[tuple[Any, ...], int]:
        """Returns a view's rows as the engine last gave them, each with how often it is there."""
        held = self.results.snapshot(view)
        return {} if held is None else held.rows

    def items(self, path: str) -> Iterator[dict[str, Any]]:
        """Walk a paginated listing."""
        page = self.get(path)
        while True:
            yield from page["results"]
            if not page["next"]:
                return
            page = self.get(page["next"].split("/api/v1/", 1)[1])


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and make it end after half a minute."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def manage(environment: Mapping[str, str], *arguments: str) -> str:
    """Run a management command and give what it printed."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env=dict(environment),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@contextmanager
def running(*options: str, settings: Mapping[str, str] | None = None) -> Iterator[Rig]:
    """Start a product in a temporary folder, give it once its engine is live, and stop it.

    Args:
        options: further options of `manage.py demo`.
        settings: environment variables on top of the present ones.

    Raises:
        RigFailed: it did not become live in time.
    """
    with tempfile.TemporaryDirectory(prefix="smartcis-") as folder:
        var, port = Path(folder), free_port()
        # What stands by takes memory and its start processor time beside what is measured.
        environment = {STANDBYS: "0", **os.environ, "SMARTCIS_VAR": folder, **(settings or {})}
        # Its own Redis on its own port, whatever the caller's points at.
        environment.pop("REDIS_URL", None)
        environment.pop("DATABASE_URL", None)
        with (var / "demo.out").open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "demo", "--port", str(port), *options],
                env=environment,
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait_until_live(process, port, var)
            token = manage(environment, "issue_token", "bench", "--account", "bench")
            name, password = manage(environment, "staff_account").split()
            yield Rig(var, port, process, token, (name, password), time.time())
        finally:
            end(process)


def _wait_until_live(process: subprocess.Popen[bytes], port: int, var: Path) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RigFailed(f"it stopped with status {process.returncode}\n{_tail(var)}")
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{port}/api/v1/status/", timeout=5
            ) as answer:
                if json.loads(answer.read())["engine"] == "live":
                    return
        except (urllib.error.URLError, OSError, ValueError):
            pass  # not listening yet
        time.sleep(0.5)
    raise RigFailed(f"not live after {START_LIMIT_S} s\n{_tail(var)}")


def _tail(var: Path) -> str:
    return "\n".join((var / "demo.out").read_text(errors="replace").splitlines()[-30:])
