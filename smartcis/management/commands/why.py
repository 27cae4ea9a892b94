"""`manage.py why`: ask the running engine about rows of a view.

why free_machine '["pc-1", "r-1", 7]'                        what a row rests on
why free_machine --not '{"mid": "pc-2"}'                     what is missing for one
why nearest_destination --if "UPDATE door SET state = 'locked' WHERE door_id = 'A.d1'"
why walking_cost --weak --by node                            what most rows hang on
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from aspen.errors import AspenError
from smartcis.access.grants import Grant, maintained
from smartcis.actions.ask_weak_points import Weakness, ask_weak_points
from smartcis.actions.ask_what_if import Difference, ask_what_if
from smartcis.actions.ask_why import Fact, Reasons, ask_why
from smartcis.actions.ask_why_not import Missing, RowEdit, ask_why_not


class Command(BaseCommand):
    help = "Ask the running engine why rows of a view are there or not, and what would change them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("view", help="a view's name, or a query's id")
        parser.add_argument(
            "row",
            nargs="?",
            help="for a plain why: its values as a JSON array; before --if and --weak: known "
            "values as a JSON object, columns it leaves out may have any. Quote it for the shell.",
        )
        kind = parser.add_mutually_exclusive_group()
        kind.add_argument(
            "--not",
            dest="missing",
            metavar="ROW",
            help="what is missing for such a row; known values as a JSON object",
        )
        kind.add_argument(
            "--if",
            dest="updates",
            metavar="SQL",
            help="how the view would change by INSERT … VALUES, UPDATE or DELETE of base rows",
        )
        kind.add_argument("--weak", action="store_true", help="base rows that most rows hang on")
        parser.add_argument(
            "--by", default="", help="with --weak: columns to count by, separated by commas"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self.stdout.write(_answer(options))
        except AspenError as error:
            raise CommandError(error.render()) from error
        except OperationalError as error:
            raise CommandError(f"{error}; run manage.py migrate and deploy_queries") from error


def _answer(options: Mapping[str, Any]) -> str:
    view = maintained(options["view"])
    granted = Grant(view.name, on_demand=view.on_demand, private=True)
    if options["missing"] is not None:
        known = _known(options["missing"])
        return missing_text(ask_why_not(granted, known))
    if options["updates"] is not None:
        known = _known(options["row"])
        return difference_text(ask_what_if(granted, options["updates"], known))
    if options["weak"]:
        by = [name for name in options["by"].split(",") if name]
        return weakness_text(ask_weak_points(granted, _known(options["row"]), by))
    row = _json(options["row"] or "")
    if not isinstance(row, list):
        raise CommandError("the row must be a JSON array, one value for each column")
    return text_of(ask_why(granted, row))


def _known(text: str | None) -> dict[str, Any]:
    known = _json(text or "{}")
    if not isinstance(known, dict):
        raise CommandError('known values must be a JSON object, such as {"mid": "pc-1"}')
    return known


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise CommandError(f"the row is no JSON: {error}") from error


def text_of(reasons: Reasons) -> str:
    """Prints reasons; `!` marks what the row cannot do without."""
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


def missing_text(missing: Missing) -> str:
    """Prints what is missing; `+`, `-` and `~` mark rows that would come, go and change."""
    count = len(missing.repairs)
    if not count:
        more = "" if missing.complete else ", as far as the search went"
        return f"nothing that can change would bring such a row into {missing.view}{more}"
    head = f"such a row would be in {missing.view}, were it so"
    lines = [head if count == 1 else f"{head}: any one of {count} sets"]
    for number, repair in enumerate(missing.repairs, start=1):
        if count > 1:
            lines.append(f"set {number}")
        lines += [_edit_line(edit) for edit in repair.edits]
        lines += [f"  where {condition}" for condition in repair.conditions]
    return "\n".join(lines if missing.complete else [*lines, "(there may be more)"])


def difference_text(difference: Difference) -> str:
    """Prints a view's change."""
    if not difference.gone and not difference.come:
        return f"{difference.view} would stay as it is"
    lines = [f"{difference.view} would lose {len(difference.gone)}, gain {len(difference.come)}"]
    lines += [f"- {_values(row)}" for row in difference.gone]
    lines += [f"+ {_values(row)}" for row in difference.come]
    return "\n".join(lines)


def weakness_text(weakness: Weakness) -> str:
    """Prints weak points, the worst first."""
    if not weakness.points:
        return f"no single base row takes any of {weakness.total} rows of {weakness.view} away"
    lines = [f"of {weakness.total} rows of {weakness.view}, one base row takes away"]
    lines += [f"{p.lost:7} {p.relation}: {_values(p.row)}" for p in weakness.points]
    return "\n".join(lines if weakness.complete else [*lines, "(others were not tried)"])


def _edit_line(edit: RowEdit) -> str:
    mark = {"insert": "+", "delete": "-", "change": "~"}[edit.action]
    if edit.before is None or edit.after is None:
        return f"{mark} {edit.relation}: {_values(edit.after or edit.before or {})}"
    before = edit.before
    news = {name: value for name, value in edit.after.items() if before.get(name) != value}
    news = {name: value for name, value in news.items() if not isinstance(value, dict)}
    return f"{mark} {edit.relation}: {_values(before)}\n  becomes {_values(news)}"


def _line(fact: Fact) -> str:
    return f"{'!' if fact.necessary else ' '} {fact.relation}: {_values(fact.row)}"


def _values(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in row.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"?{value['open']}"
    return json.dumps(value, ensure_ascii=False)
