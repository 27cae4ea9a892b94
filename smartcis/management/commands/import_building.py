"""Import a building: `manage.py import_building [PATH]`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from smartcis.importers.errors import ImportRefused
from smartcis.importers.formats import IMPORTERS
from smartcis.importers.run import SHIPPED, run
from smartcis.models import Venue


class Command(BaseCommand):
    help = (
        "Import a building from "
        + ", ".join(importer.name for importer in IMPORTERS)
        + ": take what is drawn, derive doors and the walking graph, report."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path",
            nargs="?",
            type=Path,
            help="file, folder or archive, its format found by itself; the University of Ulm when"
            " left out and no building is there yet",
        )
        parser.add_argument(
            "--preview",
            action="store_true",
            help="print what would be concluded, repaired, dropped and written; write nothing",
        )
        parser.add_argument(
            "--replace", action="store_true", help="remove another building that is there"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        quiet = options["verbosity"] == 0
        path: Path | None = options["path"]
        there = Venue.objects.first()
        if path is None and there is not None and not (options["replace"] or options["preview"]):
            if not quiet:
                self.stdout.write(f"kept {there.name} ({there.slug}): no other path was given")
            return

        def progress(line: str) -> None:
            if not quiet:
                self.stderr.write(f"… {line}")

        try:
            report = run(
                path or SHIPPED, progress, preview=options["preview"], replace=options["replace"]
            )
        except ImportRefused as refused:
            raise CommandError(f"nothing was imported\n{refused.render()}") from refused
        if not quiet or report.preview:
            self.stdout.write("\n".join(report.lines()))
