"""`manage.py golden`: compare the golden files, or write today's answers into them."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = "Check the golden files of every border; --update writes today's answers."
    requires_system_checks: list[str] = []  # noqa: RUF012  # Django's way to say none

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--update", action="store_true", help="write today's answers")

    def handle(self, *_args: Any, **options: Any) -> None:
        # The cases and their runners belong to the tests; the product does not carry them.
        sys.path.insert(0, str(settings.BASE_DIR / "tests"))
        runner = import_module("golden.runner")
        others = [import_module("golden.ends"), import_module("golden.lanes")]
        if options["update"]:
            for path in [*runner.update(), *(path for one in others for path in one.update())]:
                self.stdout.write(f"wrote {path.relative_to(settings.BASE_DIR)}")
            return
        stale = [case.path for case in runner.cases() if runner.actual(case) != case.expected]
        for one in others:
            stale += [path for path in one.paths() if one.actual(path) != one.split(path)[2]]
        if stale:
            names = "\n".join(f"  {path.relative_to(settings.BASE_DIR)}" for path in stale)
            raise CommandError(f"these differ; --update accepts what is given today:\n{names}")
        self.stdout.write("every golden file holds")
