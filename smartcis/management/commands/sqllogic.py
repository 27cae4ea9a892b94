"""`manage.py sqllogic FILE…`: run sqllogictest scripts against the engine."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from smartcis.management.evidence import evidence

SCRIPTS = "tests.sqllogic.command"


class Command(BaseCommand):
    help = (
        "Run sqllogictest scripts against the engine: every query first as a view that is"
        " maintained while the data come, then over the data as they are."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012  # Django's protocol

    def add_arguments(self, parser: ArgumentParser) -> None:
        evidence(SCRIPTS).add_arguments(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        failed = evidence(SCRIPTS).run(options, self.stdout.write)
        if failed:
            raise CommandError(f"{failed} record(s) failed", returncode=1)
