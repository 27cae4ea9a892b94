"""Import a building: `manage.py import_building [PATH]`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from smartcis.importers.errors import ImportRefused
from smartcis.importers.run import SHIPPED, run


class Command(BaseCommand):
    help = "Import an IMDF folder: take units, derive doors and the walking graph, report."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path",
            nargs="?",
            type=Path,
            default=SHIPPED,
            help="folder of an IMDF archive; the University of Ulm when left out",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        quiet = options["verbosity"] == 0

        def progress(line: str) -> None:
            if not quiet:
                self.stderr.write(f"… {line}")

        try:
            report = run(options["path"], progress)
        except ImportRefused as refused:
            raise CommandError(f"nothing was imported\n{refused.render()}") from refused
        if not quiet:
            self.stdout.write("\n".join(report.lines()))
