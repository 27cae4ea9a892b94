"""Snapshot: a lane as bytes, and back.

    base tables · newest rows per stream and key · window arrivals · registrations · interests ·
    open questions · accounts · what was counted since the last tick · borders    → zlib(JSON)

What operators hold is a function of these, so it is rebuilt by one bulk load instead of stored.
"""

from __future__ import annotations

import json
import zlib
from typing import Any, TypeVar

from aspen.algebra.explain import plan_text
from aspen.algebra.lane_rows import CrossesLanes
from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.log.entry import Declare, Register, decode, encode
from aspen.model.arrays import row_in
from aspen.model.delta import Delta, delta_in, delta_out
from aspen.model.schema import Relation
from aspen.runtime.assignment import assignment_in, assignment_out
from aspen.runtime.borders import Borders
from aspen.runtime.lane_state import LaneState
from aspen.runtime.outcome import Outcome
from aspen.runtime.own_relations import ENGINE_ERROR, OWN_RELATIONS, SYSTEM_NAMES
from aspen.runtime.view import View
from aspen.views.operators.window import Arrival, WindowOperator

VERSION = 1


class BadSnapshot(AspenError, code="aspen.runtime.bad_snapshot"):
    """Bytes that are no lane."""


Lane = TypeVar("Lane", bound=LaneState)


def write_snapshot(lane: LaneState) -> bytes:
    """Returns a lane's state between two epochs."""
    body = {
        "version": VERSION,
        "position": lane.position,
        "at_s": lane.at_s,
        "now_s": None if lane.now_s == float("-inf") else lane.now_s,
        "relations": [encode(Declare(0.0, r)).decode() for r in lane.relations.values()],
        "tables": {name: delta_out(source.table) for name, source in lane.circuit.sources.items()},
        **lane.streams.dump(),
        "born": lane.lifetimes.dump(),
        "windows": {_identity(window): window.held() for window in lane.circuit.windows()},
        "since": {_identity(w): w.complete_since_s for w in lane.circuit.windows()},
        "late": {_identity(w): w.late for w in lane.circuit.windows() if w.late},
        "views": _views(lane.views.by_name),
        "retries": lane.retries.dump(),
        "accounts": lane.circuit.accounts_out(),
        "asks": lane.one_time.open,
        "lanes": lane.assignments.share.lanes,
        "lane": lane.assignments.share.number,
        "asked": lane.assignments.asked,
        "interests": lane.interests.held,
        "system": lane.system.dump(),
        "errors": [*lane.errors.rows],
        "rounds": lane.borders.supersteps,
    }
    if lane.assignments.borders:
        body["borders"] = _borders(lane)
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return zlib.compress(text.encode(), level=1)


def read_snapshot(lane: Lane, data: bytes) -> Lane:
    """Fill an empty lane from a snapshot.

    Raises:
        BadSnapshot: not a snapshot, or of another version.
    """
    try:
        body = _body(data)
        lane.position, lane.at_s = body["position"], body["at_s"]
        lane.now_s = float("-inf") if body["now_s"] is None else body["now_s"]
        # Places for another number of lanes are of no use to this one, nor is what a lane says of
        # itself to any other one.
        same = body.get("lanes", 1) == lane.assignments.share.lanes
        lane.system.known = same and body.get("lane", 0) == lane.assignments.share.number
        _load(lane, body)
        # Snapshots from before questions and interests have none.
        lane.interests.held.update(body.get("interests", {}))
        lane.borders.supersteps = body.get("rounds", 0)
        borders = body.get("borders") if same else None
        for name, state in (borders or {}).get("known", {}).items():
            lane.assignments.borders[name] = Borders.load(state)
        for text, closed, error, *assigned in body["views"]:
            entry = decode(text.encode())
            assert isinstance(entry, Register)
            assignment = assignment_in(assigned[0]) if assigned and same else None
            if error is None or (error["code"] == CrossesLanes.code and not same):
                suspended = entry.on_demand and entry.view not in lane.interests
                plan = None if closed is None else read_plan(closed)
                lane.views.open(
                    entry, plan, suspended=suspended, assignment=assignment, trusted=True
                )
            else:
                lane.views.keep_broken(entry, error, assignment)
        lane.retries.load(body.get("retries", {}) if same else {})
        lane.circuit.accounts_in(body.get("accounts", {}))  # those from before accounts have none
        lane.warm = {}
        for ask, number in body.get("asked", {}).items() if same else ():
            lane.assignments.asked[ask] = number
        lane.one_time.open.update(body.get("asks", {}))
        if lane.system.known:
            lane.system.load(body.get("system", ()))
        lane.assignments.begin(lane.one_time.names())
        if borders and borders["lane"] == lane.assignments.share.number:
            _hold(lane, borders)
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise BadSnapshot(f"not a snapshot: {error}", found=repr(data[:40])) from error
    return lane


def _borders(lane: LaneState) -> dict[str, Any]:
    """Returns what lanes know of each other, and what this one holds back of an epoch under way."""
    touched = lane.assignments.touched.items()
    return {
        "known": {name: borders.dump() for name, borders in lane.assignments.borders.items()},
        "lane": lane.assignments.share.number,
        "held": None if lane.held is None else lane.held.dump(),
        "touched": {view: [assignment_out(one) for one in those] for view, those in touched},
    }


def _hold(lane: LaneState, borders: dict[str, Any]) -> None:
    """Go on holding back what was; another lane's is not this one's to tell."""
    if borders["held"] is not None:
        lane.held = Outcome.load(borders["held"])
    for view, those in borders["touched"].items():
        lane.assignments.touched[view] = {assignment_in(one) for one in those}


def _load(lane: LaneState, body: dict[str, Any]) -> None:
    """Fill an empty lane up to its views."""
    for relation in map(_relation, body["relations"]):
        if relation.name not in OWN_RELATIONS:  # it knows those, perhaps of another shape by now
            lane.know(relation)
    others = {ENGINE_ERROR.name, *(() if lane.system.known else SYSTEM_NAMES)}
    for name, rows in body["tables"].items():
        if name in others:
            continue
        lane.circuit.sources[name].table = delta_in(rows)
    lane.errors.load(map(tuple, body.get("errors", ())), own=lane.system.known)
    lane.streams.load(body, lane.relations, lane.now_s, lane.at_s)
    # Snapshots from before lifetimes have none.
    for name, rows in body.get("born", {}).items():
        for at_s, row in sorted(_arrivals(rows), key=lambda arrival: arrival[0]):
            lane.lifetimes.change(lane.relations[name], at_s, row, 1)
    since, late = body.get("since", {}), body.get("late", {})
    lane.warm = {
        identity: (_arrivals(rows), since.get(identity), late.get(identity, 0))
        for identity, rows in body["windows"].items()
    }


def read_contents(data: bytes) -> tuple[dict[str, Delta], list[str]]:
    """Returns the table rows and the registered views a snapshot holds, without building a lane.

    Raises:
        BadSnapshot: not a snapshot, or of another version.
    """
    try:
        body = _body(data)
        tables = {name: delta_in(rows) for name, rows in body["tables"].items()}
        views = [decode(text.encode()) for text, *_ in body["views"]]
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise BadSnapshot(f"not a snapshot: {error}", found=repr(data[:40])) from error
    return tables, [entry.view for entry in views if isinstance(entry, Register)]


def _body(data: bytes) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(zlib.decompress(data))
    if body["version"] != VERSION:
        raise BadSnapshot(
            f"snapshot version {body['version']}",
            found=str(body["version"]),
            exists=(str(VERSION),),
            attempt="begin a new checkpoint; base and log have everything",
        )
    return body


def _views(by_name: dict[str, View]) -> list[list[Any]]:
    """Returns the registrations; a closed plan only where it cannot be made again from them.

    A thousand questions over one view would otherwise spell its plan a thousand times.
    """
    before: set[int] = set()
    out: list[list[Any]] = []
    for view in by_name.values():
        closed = None
        again = bool(view.over) and all(id(one) in before for one in view.over)
        if view.closed is not None and view.closed != view.plan and not again:
            closed = plan_text(view.closed)
        if view.error is None:
            before.add(id(view))
        assert view.assignment is not None
        out.append(
            [encode(view.entry).decode(), closed, view.error, assignment_out(view.assignment)]
        )
    return out


def _identity(window: WindowOperator) -> str:
    identity: str = window.identity[1]
    return identity


def _relation(text: str) -> Relation:
    entry = decode(text.encode())
    assert isinstance(entry, Declare)
    return entry.relation


def _arrivals(rows: list[tuple[float, list[Any]]]) -> list[Arrival]:
    return [(at_s, row_in(row)) for at_s, row in rows]
