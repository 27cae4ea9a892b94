"""Send simulated readings in real time: `manage.py simulate`."""

from __future__ import annotations

import signal
import threading
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

import structlog
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections

from aspen.log.entry import Change, Transaction
from aspen.model.schema import Row
from smartcis.composition import log
from smartcis.ingest.readings import append_readings
from smartcis.management.commands.seed_building import DEFAULT_SEED
from smartcis.services.heartbeat import beat
from smartcis.simulation.deployment import STATUS, wanted_streams
from smartcis.simulation.pacer import BEAT_S, Pacer
from smartcis.simulation.world import world

REPORT_EVERY_S = 60.0

logger = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = "Send the readings of all simulated sensors to the log; follows edits within a second."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="decides all chance")
        parser.add_argument("--seconds", type=float, default=0.0, help="stop after; 0 for never")
        parser.add_argument(
            "--acquire",
            nargs="*",
            help="streams to send, e.g. seat_reading; by default those that running queries read",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        stop = threading.Event()
        if threading.current_thread() is threading.main_thread():
            for name in (signal.SIGTERM, signal.SIGINT):
                signal.signal(name, lambda *_: stop.set())
        named = options["acquire"]
        acquire = wanted_streams if named is None else lambda: frozenset(named)
        described = world()
        if not described.sensors:
            raise CommandError(
                "there is no simulated sensor; run manage.py seed_building, or add one in the admin"
            )

        def append(readings: Sequence[dict[str, Any]], key: str) -> None:
            append_readings(log(), readings, key=key)

        def tell(rows: Sequence[Row], key: str) -> None:
            changes = tuple(Change(STATUS, 1, row) for row in rows)
            log().append([Transaction(time.time(), changes)], key=f"{STATUS}:{key}")

        def tell_inside(changes: Sequence[Change], key: str) -> None:
            log().append([Transaction(time.time(), tuple(changes))], key=f"inside:{key}")

        pacer = Pacer(
            described, options["seed"], append, acquire, tell=tell, tell_inside=tell_inside
        )
        logger.info("simulating", sensors=len(described.sensors), visitors=len(described.visitors))
        began_s = told_s = time.monotonic()
        while not stop.wait(BEAT_S):
            beat()
            pacer.beat()
            now_s = time.monotonic()
            if now_s - told_s >= REPORT_EVERY_S:
                told_s = now_s
                close_old_connections()
                logger.info("simulated", readings=pacer.sent)
            if options["seconds"] and now_s - began_s >= options["seconds"]:
                break
        if options["verbosity"]:
            self.stdout.write(f"{pacer.sent} readings sent")
