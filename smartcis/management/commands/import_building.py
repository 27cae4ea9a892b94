"""Import a building: `manage.py import_building [PATH]`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aspen.errors import AspenError
from smartcis.access.owner import SYSTEM
from smartcis.actions.undo_import import undo_import
from smartcis.importers.errors import ImportRefused
from smartcis.importers.formats import IMPORTERS
from smartcis.importers.run import SHIPPED, run
from smartcis.models import BuildingImport, Venue
from smartcis.models.imports import UNDOABLE


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
            "--add",
            action="store_true",
            help="put the file's building beside those that are there, by longitude and latitude",
        )
        parser.add_argument(
            "--replace", action="store_true", help="remove another building that is there"
        )

        parser.add_argument(
            "--undo", action="store_true", help="make the building what it was before the last one"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        quiet = options["verbosity"] == 0
        path: Path | None = options["path"]
        if options["undo"]:
            self._undo()
            return
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
                path or SHIPPED,
                progress,
                preview=options["preview"],
                add=options["add"],
                replace=options["replace"],
            )
        except ImportRefused as refused:
            raise CommandError(f"nothing was imported\n{refused.render()}") from refused
        if not quiet or report.preview:
            self.stdout.write("\n".join(report.lines()))

    def _undo(self) -> None:
        one = next((one for one in BuildingImport.objects.all()[:UNDOABLE] if one.undoable), None)
        if one is None:
            raise CommandError("no import can be undone")
        try:
            one = undo_import(one.pk, SYSTEM, now=True)
        except AspenError as fault:
            raise CommandError(f"{one.name} was not undone\n{fault.render()}") from fault
        if one.state != BuildingImport.State.UNDONE:
            raise CommandError(f"{one.name} was not undone: {(one.refusal or {}).get('message')}")
        self.stdout.write(f"undone   {one.name}: the building is what it was before")
