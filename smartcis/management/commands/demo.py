"""Run the whole product: `manage.py demo`."""

from __future__ import annotations

import signal
from argparse import ArgumentParser
from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.watch_engine import watch_engine
from smartcis.composition import use_server
from smartcis.models import Building, Sensor
from smartcis.services.product import NotLive, Product
from smartcis.sources.listen import anything_talks


class Command(BaseCommand):
    help = "Start Redis, web, Celery, Spark engine and what feeds them; Ctrl-C ends them all."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._staff = ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="of the web server")
        parser.add_argument(
            "--no-simulator", action="store_true", help="leave the sensors to somebody else"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
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
            self._start(product, simulator=not options["no_simulator"])
            self._say("")
            self._say(f"SmartCIS is live: http://127.0.0.1:{options['port']}/   (Ctrl-C ends it)")
            self._say(f"staff may lock doors and take seats; account: {self._staff}")
            product.run()
        except NotLive as failed:
            raise CommandError(str(failed)) from failed
        finally:
            product.steps.say("stopping")
            product.stop()
            product.steps.say("stopped")

    def _start(self, product: Product, *, simulator: bool) -> None:
        steps = product.steps
        with steps.step("Redis") as tell:
            # What this process itself reads and writes goes to the same server.
            use_server(product.start_redis())
            tell(settings.REDIS_URL)
        with steps.step("database"):
            call_command("migrate", verbosity=0)
        # Spark takes longest to start: Celery goes first, everything else meanwhile.
        product.start("celery")
        if not Building.objects.exists():
            with steps.step("import of the building"):
                call_command("import_building", verbosity=0)
        if not Sensor.objects.exists():
            with steps.step("simulated machines, sensors and visitors"):
                call_command("seed_building", verbosity=0)
                watch_engine()
        with steps.step("staff account"):
            printed = StringIO()
            call_command("staff_account", stdout=printed)
            self._staff = printed.getvalue().strip()
        with steps.step("standing queries") as tell:
            deployed = deploy_standing_queries()
            tell(f"{len(deployed.begun)} begun, {len(deployed.kept)} kept")
        product.start(
            "web",
            *(["simulator"] if simulator else []),
            *(["listener"] if anything_talks() else []),
        )
        product.wait_until_live()

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
