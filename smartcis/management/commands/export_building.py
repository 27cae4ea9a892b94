"""Export the building: `manage.py export_building PATH`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aspen.errors import AspenError
from smartcis.exporters.formats import EXPORTERS, exporter_for
from smartcis.exporters.stored import stored_drawing


class Command(BaseCommand):
    help = "Write the building to a file that import_building reads back, as " + " or ".join(
        f"{one.title} ({', '.join(one.endings)})" for one in EXPORTERS
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="file to write; its ending says the format")
        parser.add_argument("--force", action="store_true", help="overwrite a file that is there")

    def handle(self, *_args: Any, **options: Any) -> None:
        path: Path = options["path"]
        try:
            exporter = exporter_for(path)
            data = exporter.write(stored_drawing())
        except AspenError as fault:
            raise CommandError(f"nothing was written\n{fault.render()}") from fault
        try:
            with path.open("wb" if options["force"] else "xb") as file:
                file.write(data)
        except FileExistsError as fault:
            raise CommandError(f"{path} is there already; --force overwrites it") from fault
        except OSError as fault:
            raise CommandError(f"{path} cannot be written: {fault.strerror}") from fault
        if options["verbosity"]:
            self.stdout.write(f"wrote {path}: {exporter.title}, {len(data)} bytes")
