"""Golden files of borders 8 and 10: what goes into the log, and what leaves for the browser.

    # what the case is about
    {"…": …}                 JSON: the input
    ----
    what the border gives, one JSON line per log entry or frame; or the whole error

`manage.py golden --update` calls `update`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aspen.errors import AspenError
from aspen.log.entry import Change, Transaction, encode
from aspen.results.protocol import Epoch, ViewChange
from smartcis.catalog import CATALOG
from smartcis.ingest.readings import validate
from smartcis.ingest.relay import entries_of
from smartcis.live import protocol
from smartcis.live.subscription import Subscription
from smartcis.live.views import FoldedView, History

HERE = Path(__file__).parent
LINE = "----\n"


def paths() -> list[Path]:
    """Returns every golden file of these borders, in order."""
    return sorted([*HERE.glob("08_log/*.case"), *HERE.glob("10_live/*.case")])


def split(path: Path) -> tuple[str, dict[str, Any], str]:
    """Read a file: everything before the line, the input, the expectation."""
    head, _, expected = path.read_text(encoding="utf-8").partition(LINE)
    body = "".join(line for line in head.splitlines(keepends=True) if not line.startswith("#"))
    return head, json.loads(body), expected


def actual(path: Path) -> str:
    """Returns what the border makes of a case today."""
    _, body, _ = split(path)
    stage = _log if path.parent.name == "08_log" else _live
    try:
        return "".join(f"{line}\n" for line in stage(body))
    except AspenError as error:
        return error.render() + "\n"


def update() -> list[Path]:
    """Write today's answers into all files; give those that changed."""
    changed = []
    for path in paths():
        head, _, expected = split(path)
        given = actual(path)
        if given != expected:
            path.write_text(head + LINE + given, encoding="utf-8")
            changed.append(path)
    return changed


def _log(body: dict[str, Any]) -> Iterator[str]:
    """Outbox bodies or readings → encoded log entries."""
    if "outbox" in body:
        for entry in entries_of(body["outbox"], at_s=body["at_s"]):
            yield encode(entry).decode()
        return
    names = CATALOG.get("sensor").names
    sensors = {row[0]: dict(zip(names, row, strict=True)) for row in body["sensors"]}
    valid = validate(body["readings"], sensors, now_s=body["at_s"])
    changes = tuple(Change(reading.relation, 1, reading.row) for reading in valid)
    yield encode(Transaction(body["at_s"], changes)).decode()


def _live(body: dict[str, Any]) -> Iterator[str]:
    """A script of epochs and subscriptions → frames, in the order they would be sent."""
    history = History()
    view = FoldedView("v")
    subscriptions: dict[int, Subscription] = {}
    for step in body["script"]:
        match step:
            case ["epoch", number, *changes]:
                epoch = Epoch(number, 10 * number, float(number), tuple(map(_change, changes)))
                history.add(epoch)
                view.stamp(epoch)
                for change in epoch.changes:
                    view.apply(change)
                    for one in subscriptions.values():
                        one.heard(epoch, change)
            case ["subscribe", number, options]:
                allowed = options.get("allowed")
                one = Subscription(
                    number,
                    "v",
                    view,
                    None if allowed is None else frozenset(allowed),
                    lambda: None,
                    history.net,
                )
                subscriptions[number] = one
                one.begin(options.get("since"))
            case ["allow", number, sessions]:
                subscriptions[number].allow(frozenset(sessions))
            case ["send"]:
                for one in subscriptions.values():
                    yield from map(protocol.encode, one.take())


def _change(body: dict[str, Any]) -> ViewChange:
    return ViewChange(
        view="v",
        delta={tuple(row): weight for weight, *row in body.get("delta", ())},
        columns=tuple(tuple(column) for column in body.get("columns", ())),
        closed=body.get("closed", False),
        error=body.get("error"),
    )
