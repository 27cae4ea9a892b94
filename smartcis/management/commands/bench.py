"""`manage.py bench NAME --json [--quick]`: run a bench of the checkout; no bench is installed."""

from __future__ import annotations

from argparse import ArgumentParser
from importlib import import_module
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aspen.errors import AspenError

BENCHES = "tests.bench.command"


class BenchesMissing(AspenError):
    """The product is installed without its tests."""

    code = "smartcis.bench.missing"


class Command(BaseCommand):
    help = "Measure one thing side by side in one run. Exits 0 even when a target is missed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        _benches().add_arguments(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self.stdout.write(_benches().run(options, self.stderr.write))
        except AspenError as error:
            raise CommandError(error.render()) from error


def _benches() -> Any:
    try:
        return import_module(BENCHES)
    except ModuleNotFoundError as error:
        missing = BenchesMissing(
            "the benches, or something they need, are not here",
            found=f"no module named {error.name}",
            attempt="run manage.py of a checkout whose tests are set up (docker/setup.sh test)",
        )
        raise CommandError(missing.render()) from error
