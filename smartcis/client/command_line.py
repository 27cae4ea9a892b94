"""The command `python -m smartcis.client`: ask, watch, walk and push from a shell.

exit code   0 done   1 refused, or no connection   2 the command is not understood
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from smartcis.client.building_import import ImportFindings
from smartcis.client.changes import ViewDelta, ViewEnded, ViewError, ViewGap, ViewNews, ViewSnapshot
from smartcis.client.inventory import InventoryFindings, InventoryLine
from smartcis.client.problem import Problem
from smartcis.client.readings_file import readings_in
from smartcis.client.rows import Rows
from smartcis.client.server import SmartCIS
from smartcis.client.walk import WalkAnswer

URL_VARIABLE, TOKEN_VARIABLE = "SMARTCIS_URL", "SMARTCIS_TOKEN"  # a name, no token
DEFAULT_URL = "http://127.0.0.1:8000"
VIEW = re.compile(r"[\w.-]+")
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    options = parser().parse_args(arguments)
    text = getattr(options, "sql", "")
    try:
        with SmartCIS(options.url, options.token or None, patience_s=options.patience) as server:
            options.run(server, options)
    except Problem as problem:
        notes = getattr(problem, "__notes__", [])
        sys.stderr.write("\n".join([problem.render(text), *notes]) + "\n")
        return 1
    except BrokenPipeError:  # whoever reads has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def parser() -> argparse.ArgumentParser:
    """Returns what reads the command's arguments."""
    made = argparse.ArgumentParser(
        prog="python -m smartcis.client", description="Talk to a SmartCIS server."
    )
    made.add_argument(
        *("--url",),
        default=os.environ.get(URL_VARIABLE, DEFAULT_URL),
        help=f"of the server; {URL_VARIABLE} unless given, %(default)s now",
    )
    made.add_argument(
        *("--token",),
        default=os.environ.get(TOKEN_VARIABLE, ""),
        help=f"of an account or a gateway; better {TOKEN_VARIABLE}, which `ps` does not show",
    )
    made.add_argument(
        *("--patience",),
        type=float,
        default=60.0,
        help="seconds to wait in all while the server says to come back; %(default)g",
    )
    commands = made.add_subparsers(required=True, metavar="COMMAND")

    def command(
        run: Callable[[SmartCIS, argparse.Namespace], None], name: str, told: str
    ) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=told, description=told.capitalize() + ".")
        one.set_defaults(run=run)
        return one

    one = command(query, "query", "answer a query once")
    one.add_argument("sql", metavar="SQL")
    forms = one.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="one JSON document")
    forms.add_argument("--csv", action="store_true", help="CSV with units in its header")

    one = command(watch, "watch", "follow a query or a view until interrupted")
    one.add_argument("sql", metavar="SQL_OR_VIEW")
    one.add_argument("--json", action="store_true", help="one JSON object a line")

    one = command(route, "route", "tell the way to the nearest free machine, a room, an exit …")
    one.add_argument("origin", metavar="FROM", help="a room, a kiosk, or a walking point")
    one.add_argument(
        "goal", metavar="TO", help="e.g. free-machine:LaTeX, room:V101, machine:pc-1, exit"
    )
    one.add_argument("--step-free", action="store_true", help="without stairs")
    one.add_argument("--follow", action="store_true", help="and how it changes, until interrupted")

    one = command(push, "push", "hand over readings")
    one.add_argument(
        "file", metavar="FILE", help="a JSON list, an object a line, or CSV; - for standard input"
    )
    one.add_argument("--key", default="", help="names this push: done again, it adds nothing")

    one = command(import_, "import", "import a building's file")
    one.add_argument("path", metavar="PATH", help="a file or an archive of any format that is read")
    one.add_argument("--preview", action="store_true", help="only say what would come of it")
    kept = one.add_mutually_exclusive_group()
    kept.add_argument("--add", action="store_true", help="beside the buildings that are there")
    kept.add_argument("--replace", action="store_true", help="another building may be removed")

    one = command(inventory, "inventory", "import a table of machines, sensors or rooms")
    one.add_argument("path", metavar="FILE", help="CSV; its header says what it lists")
    one.add_argument("--preview", action="store_true", help="only say what would change")
    one.add_argument("--remove", action="store_true", help="what the table does not name goes")
    return made


def query(server: SmartCIS, options: argparse.Namespace) -> None:
    """Prints the answer to a query."""
    if options.csv:
        say(server.ask_csv(options.sql), end="")
        return
    rows = server.ask(options.sql)
    if not options.json:
        say("\n".join(table(rows)))
        return
    columns = [{"name": one.name, "type": one.type, "unit": one.unit} for one in rows.columns]
    stands = {name: getattr(rows, name) for name in ("epoch", "at_s", "complete_since_s")}
    document = {"columns": columns, **stands, "rows": list(rows)}
    say(json.dumps(document, ensure_ascii=False))


def watch(server: SmartCIS, options: argparse.Namespace) -> None:
    """Prints what is heard of a view, or of a query that runs as long as it is watched."""
    with ExitStack() as running:
        if VIEW.fullmatch(options.sql):
            heard = server.watch(options.sql)
        else:
            heard = running.enter_context(server.query(options.sql)).watch()
        for news in heard:
            for line in as_json(news) if options.json else as_text(news):
                say(line)


def route(server: SmartCIS, options: argparse.Namespace) -> None:
    """Prints the way, and how it changes."""
    with server.route(options.origin, options.goal, step_free=options.step_free) as walk:
        say("\n".join(way(walk.answer())))
        for news in walk.watch() if options.follow else ():
            say("\n".join(way(news) if isinstance(news, WalkAnswer) else as_text(news)))


def push(server: SmartCIS, options: argparse.Namespace) -> None:
    """Hands over the readings of a file, or of standard input as they come."""
    if options.file == "-":
        done = server.push(readings_in(sys.stdin, "standard input"), key=options.key)
    else:
        try:
            with Path(options.file).open(encoding="utf-8", newline="") as file:
                done = server.push(readings_in(file, options.file), key=options.key)
        except OSError as fault:
            raise Problem(
                f"{options.file} cannot be read: {fault.strerror}", code="smartcis.client.no_file"
            ) from fault
    say(f"{done.accepted} readings taken")


def import_(server: SmartCIS, options: argparse.Namespace) -> None:
    """Imports a building's file, or only says what would come of it."""
    brought = server.import_building(options.path, add=options.add, preview=True)
    say("\n".join(findings(brought.entry.report)))
    if options.preview:
        brought.discard()
        return
    brought.accept(replace=options.replace)
    said = "it is one of the buildings now" if options.add else "it is the building now"
    say(f"{said}, by import {brought.entry.id}")


def inventory(server: SmartCIS, options: argparse.Namespace) -> None:
    """Imports a table, or only says what would change."""
    found = server.import_inventory(options.path, preview=options.preview, remove=options.remove)
    say("\n".join(inventory_lines(found)))


def findings(report: ImportFindings | None) -> Iterator[str]:
    """Walks the lines that tell what was found in a building's file."""
    if report is None:
        return
    yield f"{report.name}, {report.format}: {report.levels} levels, {report.units} units"
    yield f"  {report.units_reached} of them are reached from an entrance"
    yield f"  {report.doors} doors drawn, {report.doors_concluded} concluded"
    yield f"  {report.entrances} entrances drawn, {report.entrances_concluded} concluded"
    if report.replaces:
        yield f"  {report.replaces} would be removed"
    if report.adds:
        yield f"  it comes beside the others, as {report.adds}"
    for note in report.notes:
        yield f"  {note.finding}: {note.what} {note.where} ({note.why})"


def inventory_lines(found: InventoryFindings) -> Iterator[str]:
    """Walks the lines that tell what became of a table's rows; of unchanged ones none."""
    for row in found.rows:
        if row.outcome != "unchanged":
            where = f"line {row.number}" if row.number else "not listed"
            yield f"{where}: {row.outcome} {row.key} {', '.join(_told(row))}".rstrip()
    counted = ", ".join(f"{count} {outcome}" for outcome, count in found.counts.items() if count)
    yield f"{found.thing}: {counted or 'no rows'}"
    if found.ignored:
        yield f"not read: {', '.join(found.ignored)}"
    if found.preview:
        yield "preview: nothing was written"


def _told(row: InventoryLine) -> Iterator[str]:
    """Walks why a row is refused, or what changes of its thing."""
    if row.refusal is not None:
        said = Problem.of(row.refusal).message
        yield f"({row.column}: {said})" if row.column else f"({said})"
    for name, values in row.changes.items():
        yield f"{name} {' → '.join(value or 'nothing' for value in values)}"


def table(rows: Rows) -> list[str]:
    """Returns rows as aligned lines below the columns' names and units."""
    head = [f"{one.name} [{one.unit}]" if one.unit else one.name for one in rows.columns]
    cells = [[cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    rule = ["-" * width for width in widths]
    aligned = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in (head, rule, *cells)
    ]
    return [*aligned, f"({rows.total} rows as of epoch {rows.epoch})"]


def cell(value: object) -> str:
    """Returns a value as it is printed; NULL is a dash."""
    return "-" if value is None else str(value)


def as_text(news: ViewNews) -> Iterator[str]:
    """Walks the lines that tell of news: = all rows, + new, - gone, ! of the connection."""
    match news:
        case ViewSnapshot(_, rows):
            yield f"= epoch {rows.epoch}: {len(rows)} rows of {', '.join(rows.names)}"
            yield from signed("+", rows)
        case ViewDelta():
            yield from signed("-", news.removed)
            yield from signed("+", news.added)
        case ViewEnded(view):
            yield f"! {view} has ended"
        case ViewError(_, problem):
            yield f"! {problem.message}"
        case ViewGap(_, reason, wait_s):
            yield f"! {reason}; again in {wait_s:.1f} s"


def signed(sign: str, rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Walks rows as lines behind a sign."""
    for row in rows:
        yield f"{sign} {'  '.join(map(cell, row))}"


def as_json(news: ViewNews) -> Iterator[str]:
    """Walks the JSON objects that tell of news."""
    match news:
        case ViewSnapshot(view, rows):
            body = {"view": view, "epoch": rows.epoch, "columns": rows.names, "rows": list(rows)}
        case ViewDelta(view, changes):
            body = {"view": view, "epoch": news.epoch, "changes": [[w, *row] for w, row in changes]}
        case ViewEnded(view):
            body = {"view": view}
        case ViewError(view, problem):
            body = {"view": view, "code": problem.code, "message": problem.message}
        case ViewGap(view, reason, wait_s):
            body = {"view": view, "reason": reason, "wait_s": wait_s}
    kind = type(news).__name__.removeprefix("View").lower()
    yield json.dumps({"type": kind, **body}, ensure_ascii=False)


def way(found: WalkAnswer) -> Iterator[str]:
    """Walks the lines that tell a way."""
    if found.target is None:
        yield "nothing that answers can be reached"
        return
    yield f"{found.target}, {found.length_m:.0f} m"
    for step in found.steps:
        at = f"level {step.level_id} at {step.x_m:.1f}, {step.y_m:.1f} m"
        yield f"  {step.walked_m:6.1f} m  {at}"


def say(text: str, end: str = "\n") -> None:
    """Prints at once, so that whoever reads hears of it."""
    sys.stdout.write(text + end)
    sys.stdout.flush()
