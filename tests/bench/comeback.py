"""Coming back: since when each of those who were hurt does its work again.

Being there is not enough; each is known by what it does:

    redis        answers                        clock      a tick that is younger than the blow
    engine, jvm, an epoch with something        celery,    answers a ping
    reader,      appended after the blow        sources
    worker
    web          answers /healthz               simulator  a reading appended after the blow
    beat         is there                       standby    calls itself ready
"""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

import kombu.exceptions
import psutil
import redis
from celery import Celery
from django.conf import settings

from aspen.errors import AspenError
from aspen.log.redis_log import RedisLog
from aspen.results.engine_status import read_status
from aspen.results.redis_results import RedisResults
from smartcis.environment import broker_url, redis_url
from tests.bench.rig import Rig
from tests.bench.victims import ENGINES, READY, STANDBY, SUPERVISED, find_all

BACK_LIMIT_S = 600.0
LOOK_S = 0.1
AT_ONCE = 8
SIMULATED = b'"cpu_reading"'  # nobody but the simulator sends these
_PING_S = 0.5
_AWAY = (
    redis.RedisError,
    kombu.exceptions.OperationalError,
    OSError,
    ValueError,
    KeyError,
    AspenError,
    psutil.Error,
)


@dataclass(slots=True)
class Blow:
    """Somebody was hurt.

    Args:
        name: who.
        pids: the processes that have to be replaced; empty where the same ones go on.
        at: on this process's steady clock.
        at_s: seconds since the epoch.
        head: of the log after the blow, None while that cannot be asked.
        back_s: after how long the victim did its work again, None while it does not.
        again: whether the same part was hurt once more before it was back: the last blow counts.
    """

    name: str
    pids: Sequence[int] = ()
    at: float = field(default_factory=time.monotonic)
    at_s: float = field(default_factory=time.time)
    head: int | None = None
    back_s: float | None = None
    again: bool = False


def _is_ready(there: Mapping[str, Sequence[psutil.Process]]) -> bool:
    """Whether an engine stands by that could begin at once, and none that could not."""
    try:
        return {one.name() for one in there.get(STANDBY, ())} - {"java"} == {READY}
    except psutil.NoSuchProcess:
        return False


def _part(name: str) -> str:
    return ENGINES[0] if name in ENGINES else name


class Comeback:
    """Watches those who were hurt.

    Args:
        rig: the product.
    """

    def __init__(self, rig: Rig) -> None:
        url = redis_url(rig.var)
        self._rig = rig
        self._client = redis.Redis.from_url(url, socket_timeout=1)
        self.log = RedisLog(url, settings.LOG_NAME, patience_s=0.1)
        self.results = RedisResults(url, settings.RESULTS_NAME, patience_s=0.1)
        self._celery = Celery("bench", broker=broker_url(url))
        self._celery.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
        self._celery.conf.broker_connection_retry = False
        self._blows: list[Blow] = []
        self._pinging = threading.Lock()
        self._watching: threading.Thread | None = None

    def hurt(self, name: str, pids: Sequence[int] = ()) -> Blow:
        """Note that somebody was hurt just now."""
        blow = Blow(name, pids)
        for other in self._blows:
            if other.back_s is None and _part(other.name) == _part(name):
                other.again = True
        self._ask_head(blow)
        self._blows.append(blow)
        self._begin_watching()
        return blow

    def _begin_watching(self) -> None:
        if self._watching is None or not self._watching.is_alive():
            self._watching = threading.Thread(target=self._watch, name="comeback", daemon=True)
            self._watching.start()

    def _watch(self) -> None:
        """Note who is back, as long as anybody is not; faults may go on meanwhile."""
        with ThreadPoolExecutor(AT_ONCE) as pool:  # who is away answers late, and after others
            while waiting := [blow for blow in self._blows if blow.back_s is None]:
                try:
                    there = find_all(self._rig)
                except psutil.NoSuchProcess:
                    return  # the product itself has ended
                pids = [[one.pid for one in there.get(blow.name, ())] for blow in waiting]
                for blow, back in zip(waiting, pool.map(self._is_back, waiting, pids), strict=True):
                    if back:
                        blow.back_s = time.monotonic() - blow.at
                time.sleep(LOOK_S)

    def wait(self) -> None:
        """Wait until everybody is back, nobody stands still, and the engine is live.

        Raises:
            TimeoutError: somebody is not, after minutes; says who.
        """
        ends = time.monotonic() + BACK_LIMIT_S
        while time.monotonic() < ends:
            self._begin_watching()  # it may have ended just before the last blow
            told = self._look()
            if not told:
                self._blows.clear()
                return
            time.sleep(LOOK_S)
        raise TimeoutError(f"not back {BACK_LIMIT_S:g} s after the last fault: {told}")

    def _look(self) -> str:
        """Returns what is still missing."""
        there = find_all(self._rig)
        missing = sorted({blow.name for blow in self._blows if blow.back_s is None})
        missing += [name for name in SUPERVISED if name not in there]
        if not _is_ready(there):
            missing.append("standby is not ready")
        for name, processes in there.items():
            for process in processes:
                with suppress(psutil.Error):
                    if process.status() == psutil.STATUS_STOPPED:
                        missing.append(f"{name} stands still")
        try:
            state = read_status(self._client, settings.RESULTS_NAME).summary()
        except _AWAY:
            state = "not to be asked"
        if state != "live":
            missing.append(f"engine is {state}")
        return ", ".join(missing)

    def _ask_head(self, blow: Blow) -> None:
        with suppress(*_AWAY):
            blow.head = self.log.head()

    def _is_back(self, blow: Blow, pids: Sequence[int]) -> bool:
        if blow.name not in ENGINES and (not pids or set(pids) & set(blow.pids)):
            return False
        if blow.head is None:
            self._ask_head(blow)
            return False
        with suppress(*_AWAY):
            return self._works(blow)
        return False

    def _works(self, blow: Blow) -> bool:
        assert blow.head is not None
        match blow.name:
            case "redis":
                return bool(self._client.ping())
            case "engine" | "jvm" | "reader" | "worker":
                return self.results.head()[1] > blow.head
            case "web":
                with urllib.request.urlopen(f"{self._rig.url}/healthz", timeout=1) as answer:
                    return bool(json.load(answer)["alive"])
            case "clock":
                return (self.log.last_tick_s() or 0.0) > blow.at_s
            case "celery" | "sources":
                with self._pinging:
                    answers = self._celery.control.ping(timeout=_PING_S)
                middle = "-sources-" if blow.name == "sources" else f"smartcis-{self._rig.port}@"
                return any(middle in who for answer in answers for who in answer)
            case "simulator":
                entries = self.log.read_raw(blow.head, self.log.head())
                return any(SIMULATED in entry.data for entry in entries)
            case "standby":
                return _is_ready(find_all(self._rig))
            case _:
                return True
