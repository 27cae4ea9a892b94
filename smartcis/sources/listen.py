"""Listen: every source that speaks by itself, each in its task, and their heartbeats.

sources table ── every second ── tasks begin and end with their rows
each wrapper's pulse ── every second, when due ── heartbeat ── log
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import structlog
from django.db import DatabaseError, close_old_connections
from redis.exceptions import RedisError

from aspen.errors import AspenError
from aspen.log.redis_log import RedisLog
from aspen.results.lease import Lease
from smartcis.models import Source
from smartcis.sources.memory import say
from smartcis.sources.recent import RecentMessages
from smartcis.sources.sink import SourceSink
from smartcis.wrappers.base import Listener, pause_s
from smartcis.wrappers.kinds import KINDS, kind_of
from smartcis.wrappers.pulse import Pulse

LOOK_S = 1.0
TURN_S = 10.0  # so long the others wait for a process that died
Setup = tuple[object, ...]

logger = structlog.get_logger(__name__)


class ListenerTurn:
    """One of several listening processes has the turn; the others take it when that one is gone."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._mine = False

    def __call__(self) -> bool:
        """Takes or keeps the turn, and notifies whether it is ours."""
        try:
            mine = self._lease.renew() if self._mine else self._lease.acquire()
        except RedisError as error:
            # Nobody else can take it either, and nothing is acknowledged while the log is away.
            logger.warning("turn not renewed", reason=str(error))
            return self._mine
        if mine != self._mine:
            logger.info("our turn" if mine else "another process listens")
        self._mine = mine
        return mine

    def give_back(self) -> None:
        """Releases the turn, so that the next process begins at once."""
        if self._mine:
            self._lease.release()


@dataclass(slots=True)
class _Listened:
    setup: Setup
    sink: SourceSink
    pulse: Pulse
    recent: RecentMessages
    task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class Listening:
    """The listeners of one process.

    Args:
        log: the building's log.
        clock: wall time, seconds since the epoch.
        may: whether it is this process's turn; brokers know one client of a name, and two would
            throw each other out.
    """

    log: RedisLog
    clock: Callable[[], float] = time.time
    may: Callable[[], bool] = lambda: True
    _listeners: dict[str, _Listened] = field(default_factory=dict)

    async def run(self, stop: asyncio.Event) -> None:
        """Listens until `stop` is set."""
        try:
            while not stop.is_set():
                try:
                    turn = await asyncio.to_thread(self.may)
                    await self._follow(await asyncio.to_thread(_wanted) if turn else [])
                except DatabaseError as error:
                    logger.warning("database away", reason=str(error))
                await self._beat()
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), LOOK_S)
        finally:
            for source in list(self._listeners):
                await self._end(source)

    async def _follow(self, wanted: list[Source]) -> None:
        """Begins what is new or changed, end what is gone."""
        setups = {one.source: _setup(one) for one in wanted}
        for source, listener in list(self._listeners.items()):
            if setups.get(source) != listener.setup:
                await self._end(source)
        for one in wanted:
            if one.source not in self._listeners:
                self._listeners[one.source] = self._begin(one)

    def _begin(self, one: Source) -> _Listened:
        sink, recent = SourceSink(one.source, self.log, self.clock), RecentMessages()
        try:
            settings_of_it = replace(one.reader_settings(), refuse=sink.refuse, heard=recent.add)
            wrapper = kind_of(one.kind)(settings_of_it, self.clock)
            assert isinstance(wrapper, Listener)
        except AspenError as fault:
            pulse = Pulse(one.source, one.period_s, one.added_at.timestamp())
            pulse.trouble(f"{fault.code}: {fault.message}")
            logger.warning("source cannot be read", source=one.source, reason=fault.message)
            return _Listened(_setup(one), sink, pulse, recent)
        task = asyncio.create_task(_keep(wrapper, sink), name=one.source)
        logger.info("listening", source=one.source, kind=one.kind)
        return _Listened(_setup(one), sink, wrapper.pulse, recent, task)

    async def _end(self, source: str) -> None:
        listener = self._listeners.pop(source)
        if listener.task is not None:
            listener.task.cancel()
            await asyncio.wait([listener.task])
            logger.info("no longer listening", source=source)

    async def _beat(self) -> None:
        for source, listener in self._listeners.items():
            await asyncio.to_thread(say, listener.pulse, listener.sink, self.clock())
            await asyncio.to_thread(listener.recent.keep, source)


async def _keep(wrapper: Listener, sink: SourceSink) -> None:
    """Runs a wrapper; one that breaks begins again, later each time."""
    rng, failures = random.Random(), 0
    while True:
        try:
            await wrapper.run(sink)
        except Exception as error:  # one broken wrapper must not end the others
            failures += 1
            wrapper.pulse.trouble(f"its reader broke: {error}")
            logger.exception("wrapper broke", source=wrapper.settings.source)
        await asyncio.sleep(pause_s(failures, rng))


def _wanted() -> list[Source]:
    close_old_connections()
    heard = [kind.key for kind in KINDS if issubclass(kind, Listener)]
    found = Source.objects.filter(enabled=True, kind__in=heard).select_related("machine")
    return list(found.prefetch_related("mappings"))


def _setup(source: Source) -> Setup:
    """Returns what its listener depends on."""
    return (
        source.kind,
        repr(source.config),
        source.period_s,
        source.unit_id,
        source.machine_id,
        source.added_at,
        source.payload_mappings(),
    )
