"""Keep time: `manage.py clock`."""

from __future__ import annotations

import signal
import threading
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, close_old_connections
from redis.exceptions import RedisError

from aspen.results.lease import Lease
from smartcis.actions.sweep_outbox import sweep_outbox
from smartcis.composition import log
from smartcis.services.clock import TICK_S, LogClock
from smartcis.services.heartbeat import beat
from smartcis.sources.listen import ListenerTurn

TURN_S = 2.5  # so long another clock waits for one that died
SWEEP_S = 2.0

logger = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = "Append a tick a second to the log, and what commits left in the outbox; nothing else."

    def handle(self, *_args: Any, **_options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        sweeping = threading.Thread(target=_sweep, args=(stop,), name="outbox", daemon=True)
        sweeping.start()
        turn = ListenerTurn(Lease(settings.REDIS_URL, f"{settings.NAME}:clock", TURN_S))
        clock = LogClock(log())
        while sweeping.is_alive() and not stop.wait(TICK_S):
            beat()
            try:
                if turn():
                    clock.tick()
                else:
                    clock = LogClock(log())  # whoever has the turn now moves time on
            except RedisError as error:
                logger.warning("tick postponed", reason=str(error))
        if not stop.is_set():
            raise CommandError("the outbox is not looked after any more; see the lines above")
        turn.give_back()


def _sweep(stop: threading.Event) -> None:
    """Relays what commits could not, apart from the ticks: a database may keep it waiting."""
    while not stop.wait(SWEEP_S):
        try:
            close_old_connections()
            sweep_outbox()
        except (RedisError, DatabaseError) as error:
            logger.warning("outbox postponed", reason=str(error))
