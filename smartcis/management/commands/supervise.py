"""Run some of the product's processes: `manage.py supervise NAME …`."""

from __future__ import annotations

import signal
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from smartcis.services.product import PROCESSES, Product


class Command(BaseCommand):
    help = "Start processes of the product on this host and watch them; Redis is another's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="+", choices=PROCESSES, help="which of them")
        parser.add_argument("--port", type=int, default=8000, help="of the web server")

    def handle(self, *_args: Any, **options: Any) -> None:
        product = Product(
            settings.BASE_DIR / "manage.py",
            settings.VAR,
            options["port"],
            settings.RESULTS_NAME,
            self.stdout.write,
        )
        product.use_redis(settings.REDIS_URL)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: product.request_stop())
        try:
            product.start(*options["names"])
            product.run()
        finally:
            product.stop()
