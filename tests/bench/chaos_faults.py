"""Faults: what can happen to a running product, drawn from a seed."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from tests.bench.comeback import Blow, Comeback
from tests.bench.rig import Rig
from tests.bench.victims import OF_SPARK, SUPERVISED, find_all, strike

AT_ONCE = (8, 20)
LIGHT = 2 / 3  # of the rounds leave Spark's driver and JVM alone, which are away for longest
PAUSE_S = (0.5, 2.0)
GAP_S = (0.0, 1.5)
KINDS = ("kill", "kill", "kill", "stop", "disk", "half open", "hostile")
HEAVY = ("engine", "reader", "jvm")
DISKS = {"redis": ("redis",), "jvm": ("jvm", "worker", "engine"), "web": ("web", "clock", "celery")}
"""Whose disk gets full together, and who has to come back from it."""
FULL_BYTES = 3_000  # what the disk still takes
FULL_S = 3.0
HALF_OPEN = 20
HELD = 5 * HALF_OPEN
HOSTILE: tuple[tuple[str, bytes], ...] = (
    *(
        ("queries/", b'{"sql": "%s"}' % sql)
        for sql in (
            b"ONCE SELECT COUNT(*) AS n FROM routing_edge a, routing_edge b, routing_edge c",
            b"SELECT " + b"(" * 2_000,
            b"ONCE WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT n FROM r",
            b"SELECT m.mid FROM machine m" + b" JOIN machine x ON x.mid = m.mid" * 400,
            b"SELECT mid FROM machine" + b" UNION ALL SELECT mid FROM machine" * 700,
            b"SELECT \\ud800 FROM machine",
        )
    ),
    ("queries/weak-points/", b'{"view": "walking_cost"}'),
    ("readings/", b"[" * 5_000),
    ("readings/", b'[{"sid": "x", "unit": "kg", "at_s": 1, "value": %s}]' % (b"9" * 400)),
    ("readings/", b'[{"sid": "\\ud800", "value": 1e999, "unit": "kg", "at_s": NaN}]'),
    ("readings/", b'[{"sid": "x"}' + b" " * 2_000_000 + b"]"),
    ("feeds/nobody/rows/", b'{"relation": "seat_reading", "rows": [{"\\u0000": {}}]}'),
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that happens.

    Args:
        gap_s: how long after the one before it.
        kind: of KINDS.
        victim: whose process or disk, empty where it is nobody's.
        draw: what else chance decides, 0 to 1.
    """

    gap_s: float
    kind: str
    victim: str
    draw: float

    @property
    def name(self) -> str:
        """What it is called in the report."""
        return f"{self.kind} {self.victim}".strip()


@dataclass(frozen=True, slots=True)
class Round:
    """Faults in quick succession, after which everything is compared.

    Args:
        pause_s: how long all is left alone before it.
        faults: what happens.
    """

    pause_s: float
    faults: tuple[Fault, ...]


def schedule(seed: int) -> Iterator[Round]:
    """Returns the rounds of a seed, without an end."""
    dice = random.Random(seed)
    while True:
        count, heavy = dice.randint(*AT_ONCE), dice.random() >= LIGHT
        faults = tuple(_fault(dice, heavy=heavy) for _ in range(count))
        yield Round(dice.uniform(*PAUSE_S), faults)


def _fault(dice: random.Random, *, heavy: bool) -> Fault:
    kind, gap_s, draw = dice.choice(KINDS), dice.uniform(*GAP_S), dice.random()
    victims = [one for one in (*SUPERVISED, *OF_SPARK) if heavy or one not in HEAVY]
    disks = [one for one in DISKS if heavy or one not in HEAVY]
    victim, disk = dice.choice(victims), dice.choice(disks)
    hurt = victim if kind in {"kill", "stop"} else disk if kind == "disk" else ""
    return Fault(gap_s, kind, hurt, draw)


@dataclass(slots=True)
class Hand:
    """What lets faults happen.

    Args:
        rig: to whom.
        comeback: is told who was hurt.
        answers: how often each hostile input had each status; 0 is none at all.
    """

    rig: Rig
    comeback: Comeback
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    _held: list[socket.socket] = field(default_factory=list)

    def do(self, fault: Fault) -> list[Blow]:
        """Let a fault happen; returns who was hurt, nobody where there was nobody to hurt."""
        match fault.kind:
            case "kill" | "stop":
                number = signal.SIGKILL if fault.kind == "kill" else signal.SIGSTOP
                hit = strike(self.rig, fault.victim, number)
                return [self.comeback.hurt(fault.victim, hit)] if hit else []
            case "disk":
                return self._fill(fault.victim)
            case "half open":
                self._half_open(b"" if fault.draw < 0.5 else _BODY)  # even odds
            case _:
                one = HOSTILE[int(fault.draw * len(HOSTILE))]
                threading.Thread(target=self._send, args=one, daemon=True).start()
        return [self.comeback.hurt("web"), self.comeback.hurt("engine")]

    def _fill(self, victim: str) -> list[Blow]:
        """Let files of some processes grow no further; for a while, and to Redis for good."""
        there = find_all(self.rig)
        names = [name for name in DISKS[victim] if name in there]
        for process in (one for name in names for one in there[name]):
            with suppress(psutil.Error, OSError, ValueError):
                if victim == "redis":  # until it is started again
                    file = self.rig.var / "redis" / "appendonly.aof"
                    room = file.stat().st_size + FULL_BYTES
                    process.rlimit(psutil.RLIMIT_FSIZE, (room, -1))
                else:
                    process.rlimit(psutil.RLIMIT_FSIZE, (FULL_BYTES, -1))
                    threading.Timer(FULL_S, _room_again, [process]).start()
        hit = [process.pid for process in there.get("redis", ())] if victim == "redis" else []
        return [self.comeback.hurt(name, hit) for name in names]

    def _half_open(self, body: bytes) -> None:
        """Open connections that never read, or never end what they say; hold them for a while."""
        host = f"Host: 127.0.0.1:{self.rig.port}\r\nOrigin: {self.rig.url}\r\n"
        head = _REQUEST if body else _SOCKET
        for _ in range(HALF_OPEN):
            with suppress(OSError):
                one = socket.create_connection(("127.0.0.1", self.rig.port), timeout=5)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
                one.sendall(head.replace("HOST", host).encode() + body)
                self._held.append(one)
        for one in self._held[:-HELD]:
            one.close()
        del self._held[:-HELD]

    def _send(self, path: str, body: bytes) -> None:
        request = urllib.request.Request(
            f"{self.rig.url}/api/v1/{path}",
            data=body,
            headers={
                "Authorization": f"Token {self.rig.token}",
                "Content-Type": "application/json",
            },
        )
        what = f"{path} {body[:40].decode(errors='replace')}"
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                self.answers[what, answer.status] += 1
        except urllib.error.HTTPError as error:
            self.answers[what, error.code] += 1
        except (OSError, ValueError):
            self.answers[what, 0] += 1  # whoever was to answer was killed

    def let_go(self) -> None:
        """Close all connections that are held."""
        for one in self._held:
            one.close()
        time.sleep(FULL_S)


def _room_again(process: psutil.Process) -> None:
    with suppress(psutil.Error, OSError, ValueError):
        process.rlimit(psutil.RLIMIT_FSIZE, (-1, -1))


_SOCKET = (
    "GET /ws/live/ HTTP/1.1\r\nHOST"
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
_REQUEST = (
    "POST /api/v1/queries/ HTTP/1.1\r\nHOST"
    "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
)
_BODY = b'{"sql": "SELECT '
