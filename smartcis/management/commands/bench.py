"""`manage.py bench NAME --json [--quick]`: run a bench of the checkout; no bench is installed."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aspen.errors import AspenError
from smartcis.management.evidence import evidence

BENCHES = "tests.bench.command"


class Command(BaseCommand):
    help = "Measure one thing side by side in one run. Exits 0 even when a target is missed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        evidence(BENCHES).add_arguments(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self.stdout.write(evidence(BENCHES).run(options, self.stderr.write))
        except AspenError as error:
            raise CommandError(error.render()) from error
