"""Log entries: what one position of the log holds.

An entry is atomic: a view never shows half of a transaction. On the wire an entry is JSON
(`encode`, `decode`), so that any language can write to the log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from aspen.errors import AspenError
from aspen.model.schema import Column, Relation, Row, SourceKind, Type


class BadEntry(AspenError):
    """Bytes in the log that are no entry."""

    code = "aspen.log.bad_entry"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What stands at a position whose bytes are no entry.

    Args:
        error: why they are none.
    """

    error: BadEntry
    at_s: float = 0.0


class Change(NamedTuple):
    """One row of one relation, inserted (+1) or deleted (-1).

    A tuple, because a high-rate stream makes 20,000 of them a second.
    """

    relation: str
    weight: int
    row: Row


@dataclass(frozen=True, slots=True)
class Transaction:
    """Changes that happen together.

    Args:
        at_s: log time of the append, seconds since the epoch.
        changes: in the order they were made.
    """

    at_s: float
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passes: windows expire and `clock` moves to `at_s`."""

    at_s: float


@dataclass(frozen=True, slots=True)
class Declare:
    """A relation comes to be, or changes its declaration; its rows follow as transactions."""

    at_s: float
    relation: Relation


@dataclass(frozen=True, slots=True)
class Register:
    """A maintained view comes to be.

    Args:
        view: its id; standing views use their name.
        plan_text: the plan, as `aspen.algebra.explain.plan_text` prints it.
        strategy: how it is maintained.
        sharing: how much of its dataflow it may have in common with others: own, trunk, tenant
            or auto.
        on_demand: whether it has operators and rows only while somebody is interested.
    """

    at_s: float
    view: str
    plan_text: str
    strategy: str = "absorption-lazy"
    sharing: str = "trunk"
    on_demand: bool = False


@dataclass(frozen=True, slots=True)
class Unregister:
    """A maintained view ends; its operators and rows are dropped."""

    at_s: float
    view: str


@dataclass(frozen=True, slots=True)
class Interest:
    """Somebody looks at a view; the first interest builds one that is kept on demand.

    Args:
        holder: who, e.g. a web process for all its sockets.
        keep_s: how long it counts unless it is said again, in log time: who dies says nothing.
    """

    at_s: float
    view: str
    holder: str
    keep_s: float


@dataclass(frozen=True, slots=True)
class Uninterest:
    """Somebody looks no longer; with the last one a view kept on demand gives up its operators."""

    at_s: float
    view: str
    holder: str


class OneTimeKind(Enum):
    """What a one-time query asks; all but ONCE are provenance queries about rows of a view.

    WHY a row is there; WHY_NOT one that is not; WHAT_IF some base rows came or went; which base
    rows are WEAK_POINTS, that is, take many rows with them. ONCE asks for the rows of a plan.
    """

    WHY = "why"
    WHY_NOT = "why_not"
    WHAT_IF = "what_if"
    WEAK_POINTS = "weak_points"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class OneTimeQuery:
    """A query answered once: why rows are in a view, or the rows of a plan; a command like others.

    Args:
        ask: the question's id; its answer is the transient view `why:<ask>`.
        view: the maintained view; empty for ONCE.
        row: the row in question; null at the places of `free`.
        kind: what is asked.
        free: places where any value will do, so that `row` stands for all rows that fit.
        changes: of base relations, hypothetical; for WHAT_IF.
        by: places of the columns that lost rows are counted by; for WEAK_POINTS.
        plan_text: what is to be computed; for ONCE.
    """

    at_s: float
    ask: str
    view: str
    row: Row
    kind: OneTimeKind = OneTimeKind.WHY
    free: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()
    by: tuple[int, ...] = ()
    plan_text: str = ""


Entry = Transaction | Tick | Declare | Register | Unregister | Interest | Uninterest | OneTimeQuery


def _relation_out(relation: Relation) -> dict[str, Any]:
    return {
        "name": relation.name,
        "columns": [[c.name, c.type.value, c.unit, c.nullable] for c in relation.columns],
        "kind": relation.kind.value,
        "key": list(relation.key),
        "deletable": relation.deletable,
        "device": relation.device,
        "rate_hz": relation.rate_hz,
        "comment": relation.comment,
        "ttl_s": relation.ttl_s,
        **({"network": relation.network} if relation.network else {}),
    }


def _relation_in(body: dict[str, Any]) -> Relation:
    return Relation(
        name=body["name"],
        columns=tuple(Column(c[0], Type(c[1]), c[2], c[3]) for c in body["columns"]),
        kind=SourceKind(body["kind"]),
        key=tuple(body["key"]),
        deletable=body["deletable"],
        device=body["device"],
        rate_hz=body["rate_hz"],
        comment=body["comment"],
        ttl_s=body.get("ttl_s", 0.0),
        network=body.get("network", ""),
    )


def _row_in(values: list[Any]) -> Row:
    """Refuse what no view can hold, and no table of rows can look for."""
    if not all(value is None or isinstance(value, str | int | float) for value in values):
        raise TypeError("a row holds texts, numbers, truth values and nulls")
    return tuple(values)


def _changes_out(changes: tuple[Change, ...]) -> list[list[Any]]:
    return [[c.relation, c.weight, *c.row] for c in changes]


def _changes_in(changes: list[list[Any]]) -> tuple[Change, ...]:
    return tuple(Change(c[0], c[1], tuple(c[2:])) for c in changes)


def _query_out(query: OneTimeQuery) -> dict[str, Any]:
    """Leave out what a plain why has not: such questions are spelt as they always were."""
    body = {"k": "a", "t": query.at_s, "a": query.ask, "v": query.view, "w": list(query.row)}
    if query.kind is not OneTimeKind.WHY:
        body["q"] = query.kind.value
    if query.free:
        body["f"] = list(query.free)
    if query.changes:
        body["c"] = _changes_out(query.changes)
    if query.by:
        body["b"] = list(query.by)
    if query.plan_text:
        body["p"] = query.plan_text
    return body


def _query_in(body: dict[str, Any]) -> OneTimeQuery:
    changes = _changes_in(body.get("c", []))
    for change in changes:
        _row_in(list(change.row))
    return OneTimeQuery(
        body["t"],
        str(body["a"]),
        str(body["v"]),
        _row_in(body["w"]),
        OneTimeKind(body.get("q", OneTimeKind.WHY.value)),
        tuple(int(place) for place in body.get("f", ())),
        changes,
        tuple(int(place) for place in body.get("b", ())),
        str(body.get("p", "")),
    )


def encode(entry: Entry) -> bytes:
    """Returns an entry's bytes for the log.

    Law: `decode(encode(entry)) == entry`.
    """
    body: dict[str, Any]
    match entry:
        case Transaction(at_s, changes):
            body = {"k": "d", "t": at_s, "c": _changes_out(changes)}
        case Tick(at_s):
            body = {"k": "t", "t": at_s}
        case Declare(at_s, relation):
            body = {"k": "c", "t": at_s, "r": _relation_out(relation)}
        case Register(at_s, view, plan_text, strategy, sharing, on_demand):
            body = {"k": "r", "t": at_s, "v": view, "p": plan_text, "s": strategy, "h": sharing}
            if on_demand:
                body["o"] = True
        case Unregister(at_s, view):
            body = {"k": "u", "t": at_s, "v": view}
        case Interest(at_s, view, holder, keep_s):
            body = {"k": "i", "t": at_s, "v": view, "h": holder, "s": keep_s}
        case Uninterest(at_s, view, holder):
            body = {"k": "n", "t": at_s, "v": view, "h": holder}
        case OneTimeQuery():
            body = _query_out(entry)
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def decode(data: bytes) -> Entry:
    """Read an entry back.

    Raises:
        BadEntry: not JSON, or no known kind.
    """
    try:
        body = json.loads(data)
        match body["k"]:
            case "d":
                return Transaction(body["t"], _changes_in(body["c"]))
            case "t":
                return Tick(body["t"])
            case "c":
                return Declare(body["t"], _relation_in(body["r"]))
            case "r":
                sharing = body.get("h", "trunk")  # entries from before tenants have none
                on_demand = bool(body.get("o", False))
                return Register(body["t"], body["v"], body["p"], body["s"], sharing, on_demand)
            case "u":
                return Unregister(body["t"], body["v"])
            case "i":
                return Interest(body["t"], str(body["v"]), str(body["h"]), float(body["s"]))
            case "n":
                return Uninterest(body["t"], str(body["v"]), str(body["h"]))
            case "a":
                return _query_in(body)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise BadEntry(f"not a log entry: {error}", found=repr(data[:80])) from error
    raise BadEntry(
        "unknown kind of entry",
        found=str(body["k"]),
        exists=("d", "t", "c", "r", "u", "i", "n", "a"),
    )
