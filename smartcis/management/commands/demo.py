"""Run the whole product: `manage.py demo`."""

from __future__ import annotations

import signal
from argparse import ArgumentParser
from io import StringIO
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from aspen.errors import AspenError
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.watch_engine import watch_engine
from smartcis.models import Building, Sensor
from smartcis.services.preflight import missing, only_here, runs_already
from smartcis.services.product import NotLive, Product


class Command(BaseCommand):
    _building: Path | None = None
    help = "Start Redis, web, Celery, Spark engine and what feeds them; Ctrl-C ends them all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="of the web server")
        parser.add_argument(
            "--no-simulator", action="store_true", help="leave the sensors to somebody else"
        )
        parser.add_argument(
            "--building", type=Path, metavar="PATH", help="file, folder or archive to show"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        taken = only_here(settings.VAR)
        faults = self.faults(options["port"]) if taken else [runs_already(settings.VAR)]
        if faults:
            raise CommandError("not started:\n" + "\n".join(f"- {fault}" for fault in faults))
        product = Product(
            settings.BASE_DIR / "manage.py",
            settings.VAR,
            options["port"],
            settings.RESULTS_NAME,
            self._say,
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: product.request_stop())
        try:
            self._building = options.get("building")
            self._start(product, simulator=not options["no_simulator"])
            self._say("")
            self._say(f"SmartCIS is live: http://127.0.0.1:{options['port']}/   (Ctrl-C ends it)")
            product.run()
        except (AspenError, DatabaseError, NotLive, redis.RedisError) as failed:
            raise CommandError(str(failed)) from failed
        finally:
            product.steps.say("stopping")
            product.stop()
            product.steps.say("stopped")

    def faults(self, port: int) -> list[str]:
        """Returns what speaks against a start, a sentence each."""
        return missing(port)

    def _start(self, product: Product, *, simulator: bool) -> None:
        steps = product.steps
        with steps.step("Redis") as tell:
            tell(product.start_redis())
        with steps.step("database"):
            call_command("migrate", verbosity=0)
        # Spark takes longest to start: the engine goes first, everything else meanwhile.
        product.start("engine", "clock", "celery", "beat")
        self.fill(product)
        with steps.step("standing queries") as tell:
            deployed = deploy_standing_queries()
            tell(f"{len(deployed.begun)} begun, {len(deployed.kept)} kept")
        product.start(
            "web",
            "sources",
            *(["simulator"] if simulator else []),
            "listener",
        )
        product.wait_until_live()

    def fill(self, product: Product) -> None:
        """Sees to it that there is a building, things in it, and somebody to look after them."""
        steps = product.steps
        if self._building or not Building.objects.exists():
            with steps.step("import of the building"):
                call_command("import_building", *self._given(), verbosity=0)
        if not Sensor.objects.exists():
            with steps.step("simulated machines, sensors and visitors"):
                call_command("seed_building", verbosity=0)
                watch_engine()
        printed = StringIO()
        call_command("staff_account", stdout=printed)
        steps.say(f"staff may lock doors and take seats; account: {printed.getvalue().strip()}")

    def _given(self) -> list[str]:
        return [str(self._building)] if self._building else []

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
