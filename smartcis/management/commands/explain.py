"""`manage.py explain "SELECT …"`: print a query's way through every border."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from aspen.errors import AspenError
from smartcis.actions.explain_query import explain_query
from smartcis.actions.owner import SYSTEM


class Command(BaseCommand):
    help = "Print what each border of the journey makes of a StreamSQL query."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sql", help="one SELECT or CREATE VIEW; quote it for the shell")

    def handle(self, *_args: Any, **options: Any) -> None:
        sql = options["sql"]
        try:
            self.stdout.write(explain_query(sql, SYSTEM))
        except AspenError as error:
            raise CommandError(error.render(sql)) from error
        except OperationalError as error:
            raise CommandError(f"{error}; run manage.py migrate and deploy_queries") from error
