"""Listen to sources that speak by themselves: `manage.py listen`."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand

from aspen.results.lease import Lease
from smartcis.composition import log
from smartcis.models import Source
from smartcis.services.heartbeat import beat
from smartcis.sources.listen import TURN_S, ListenerTurn, Listening

DEFAULT_TOPIC = "smartcis/readings/#"

logger = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = "Append what MQTT brokers publish to the log; follows the sources table within a second."

    def handle(self, *_args: Any, **_options: Any) -> None:
        if settings.MQTT_URL and not Source.objects.filter(kind="mqtt").exists():
            Source.objects.create(
                source="mqtt",
                name="MQTT broker",
                kind="mqtt",
                config={"topic": DEFAULT_TOPIC},
                period_s=10.0,
            )
            logger.info("source added", source="mqtt", topic=DEFAULT_TOPIC)
        asyncio.run(self._listen())

    async def _listen(self) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        turn = ListenerTurn(Lease(settings.REDIS_URL, f"{settings.NAME}:listen", TURN_S))

        def may() -> bool:
            beat()
            return turn()

        await Listening(log(), may=may).run(stop)
        turn.give_back()
