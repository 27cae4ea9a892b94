"""`manage.py explain "SELECT …"`: print a query's way through every border."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from aspen.errors import AspenError
from federation.cost import BadWeights
from smartcis.access.owner import SYSTEM
from smartcis.actions.explain_query import explain_query
from smartcis.compiling.statement import submitted


class Command(BaseCommand):
    help = "Print what each border of the journey makes of a StreamSQL query."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sql", help="one SELECT or CREATE VIEW; quote it for the shell")
        parser.add_argument(
            "--weights",
            default="",
            help="of the metric: energy per mJ/s, bytes per B/s, latency per ms, cpu per ms/s; "
            "energy=1,latency=0.1",
        )
        parser.add_argument(
            "--joins", type=int, help="the most joins inside the network; 0 for no limit"
        )
        parser.add_argument("--json", action="store_true", help="borders 1 to 6 as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        sql = options["sql"]
        try:
            explanation = explain_query(
                submitted(sql), SYSTEM, weights=options["weights"], joins=options["joins"]
            )
            self.stdout.write(
                json.dumps(explanation.data, indent=2) if options["json"] else explanation.text
            )
        except BadWeights as error:
            raise CommandError(error.render(options["weights"])) from error
        except AspenError as error:
            raise CommandError(error.render(sql)) from error
        except OperationalError as error:
            raise CommandError(f"{error}; run manage.py migrate and deploy_queries") from error
