"""`manage.py deploy_queries`: make the maintained views equal to the standing queries."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aspen.errors import AspenError
from aspen.views.operators.support.strategies import AUTO, STRATEGIES, UnknownStrategy
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.queries import standing_queries


class Command(BaseCommand):
    help = "Register the standing queries with the engine; unchanged ones are left alone."

    def add_arguments(self, parser: CommandParser) -> None:
        names = ", ".join([*STRATEGIES, AUTO])
        parser.add_argument(
            "--strategy",
            metavar="NAME",
            help=f"how to maintain all of them: {names}; {AUTO}: what costs least now",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            done = deploy_standing_queries(strategy=options["strategy"])
        except UnknownStrategy as error:
            raise CommandError(error.render("")) from error
        except AspenError as error:
            origin = " ".join(getattr(error, "__notes__", ()))
            name = origin.removeprefix("in ")
            text = standing_queries().get(name, "")
            raise CommandError(f"{origin}\n{error.render(text)}") from error
        for word, names in (
            ("kept", done.kept),
            ("ended", done.ended),
            ("begun", done.begun),
            ("failed", done.failed),
        ):
            if names:
                self.stdout.write(f"{word} {len(names)}: {', '.join(names)}")
