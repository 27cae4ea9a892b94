"""`manage.py why free_machine '["pc-1", "r-1", 7]'`: print what a row rests on."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from aspen.errors import AspenError
from smartcis.actions.ask_why import Fact, Reasons, ask_why
from smartcis.live.access import Grant, maintained


class Command(BaseCommand):
    help = "Print what a row of a maintained view rests on; the engine must be running."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("view", help="a view's name, or a query's id")
        parser.add_argument("row", help="its values as a JSON array; quote it for the shell")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            row = json.loads(options["row"])
        except ValueError as error:
            raise CommandError(f"the row is no JSON: {error}") from error
        if not isinstance(row, list):
            raise CommandError("the row must be a JSON array, one value for each column")
        try:
            reasons = ask_why(Grant(maintained(options["view"]).name, None), row)
        except AspenError as error:
            raise CommandError(error.render()) from error
        except OperationalError as error:
            raise CommandError(f"{error}; run manage.py migrate and deploy_queries") from error
        self.stdout.write(text_of(reasons))


def text_of(reasons: Reasons) -> str:
    """Print reasons; `!` marks what the row cannot do without."""
    count = len(reasons.sets)
    head = f"{reasons.view} {json.dumps(reasons.row, ensure_ascii=False)} rests on"
    if not reasons.complete:
        head += " this, among more ways than can be listed"
    elif count > 1:
        head += f" any one of {count} sets"
    lines = [head]
    for number, members in enumerate(reasons.sets, start=1):
        if count > 1:
            lines.append(f"set {number}")
        lines += [_line(fact) for fact in members] or ["  what cannot change"]
    return "\n".join(lines)


def _line(fact: Fact) -> str:
    values = ", ".join(
        f"{name} {json.dumps(v, ensure_ascii=False)}" for name, v in fact.row.items()
    )
    return f"{'!' if fact.necessary else ' '} {fact.relation}: {values}"
