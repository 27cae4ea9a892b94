"""Furnish the building with simulated things: `manage.py seed_building`."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from smartcis.importers.errors import ImportRefused
from smartcis.importers.seed.run import forget, seed

DEFAULT_SEED = 2026


class Command(BaseCommand):
    help = "Create simulated desks, machines, software, sensors, kiosks, visitors, reservations."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="decides every choice")
        parser.add_argument(
            "--reset", action="store_true", help="remove everything simulated before"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["reset"]:
            forget()
        try:
            done = seed(options["seed"])
        except ImportRefused as refused:
            raise CommandError(refused.render()) from refused
        if options["verbosity"]:
            new = {name: count for name, count in asdict(done).items() if count}
            listed = ", ".join(f"{count} {name}" for name, count in new.items())
            self.stdout.write(f"simulated, new: {listed or 'nothing, all is there'}")
