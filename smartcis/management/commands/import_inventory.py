"""Import an inventory: `manage.py import_inventory PATH`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aspen.errors import AspenError
from smartcis.access.owner import SYSTEM
from smartcis.actions.import_inventory import InventoryOutcome, InventoryReport, import_inventory
from smartcis.importers.inventory.table import LARGEST_BYTES


class Command(BaseCommand):
    help = "Import machines, sensors or what people call rooms from a table of text (CSV)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="the table; its header says what it lists")
        parser.add_argument(
            "--preview", action="store_true", help="print what would change; write nothing"
        )
        parser.add_argument(
            "--remove",
            action="store_true",
            help="remove machines or sensors that the table does not name",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        path: Path = options["path"]
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST_BYTES + 1)
            report = import_inventory(
                data, SYSTEM, preview=options["preview"], remove=options["remove"]
            )
        except OSError as fault:
            raise CommandError(f"{path} cannot be read: {fault.strerror}") from fault
        except AspenError as fault:
            raise CommandError(f"nothing was imported\n{fault.render()}") from fault
        if options["verbosity"] or report.preview:
            self.stdout.write("\n".join(_lines(report)))


def _lines(report: InventoryReport) -> list[str]:
    out = []
    for row in report.rows:
        where = f"line {row.number}" if row.number else "not listed"
        if row.refusal is not None:
            said = row.refusal
            why = f"{row.column}: {said['message']}" if row.column else said["message"]
            if said["exists"]:
                why += f"; there is {', '.join(said['exists'])}"
            if said["try"]:
                why += f"; {said['try']}"
            out.append(f"{where:<10} {row.outcome:<9} {row.key} {why}")
        elif row.outcome is not InventoryOutcome.UNCHANGED:
            changes = ", ".join(
                f"{name} {before or 'nothing'} → {after or 'nothing'}"
                for name, (before, after) in row.changes.items()
            )
            out.append(f"{where:<10} {row.outcome:<9} {row.key} {changes}".rstrip())
    counted = ", ".join(f"{count} {outcome}" for outcome, count in report.counts.items() if count)
    out.append(f"{report.thing}: {counted or 'no rows'}")
    if report.ignored:
        out.append(f"not read: {', '.join(report.ignored)}")
    if report.preview:
        out.append("preview: nothing was written")
    return out
