"""Log entries: what one position of the log holds.

An entry is atomic: a view never shows half of a transaction. On the wire an entry is JSON
(`encode`, `decode`), so that any language can write to the log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from aspen.errors import AspenError
from aspen.model.schema import Column, Relation, Row, SourceKind, Type


class BadEntry(AspenError):
    """Bytes in the log that are no entry."""

    code = "aspen.log.bad_entry"


@dataclass(frozen=True, slots=True)
class Change:
    """One row of one relation, inserted (+1) or deleted (-1)."""

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
    """

    at_s: float
    view: str
    plan_text: str
    strategy: str = "absorption-lazy"


@dataclass(frozen=True, slots=True)
class Unregister:
    """A maintained view ends; its operators and rows are dropped."""

    at_s: float
    view: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Somebody wants to know why a row is in a view; a question is a command like any other.

    Args:
        ask: the question's id; its answer is the transient view `why:<ask>`.
        view: the maintained view.
        row: as the view holds it now.
    """

    at_s: float
    ask: str
    view: str
    row: Row


Entry = Transaction | Tick | Declare | Register | Unregister | Ask


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
    )


def _row_in(values: list[Any]) -> Row:
    """Refuse what no view can hold, and no table of rows can look for."""
    if not all(value is None or isinstance(value, str | int | float) for value in values):
        raise TypeError("a row holds texts, numbers, truth values and nulls")
    return tuple(values)


def encode(entry: Entry) -> bytes:
    """Give an entry's bytes for the log.

    Law: `decode(encode(entry)) == entry`.
    """
    body: dict[str, Any]
    match entry:
        case Transaction(at_s, changes):
            body = {"k": "d", "t": at_s, "c": [[c.relation, c.weight, *c.row] for c in changes]}
        case Tick(at_s):
            body = {"k": "t", "t": at_s}
        case Declare(at_s, relation):
            body = {"k": "c", "t": at_s, "r": _relation_out(relation)}
        case Register(at_s, view, plan_text, strategy):
            body = {"k": "r", "t": at_s, "v": view, "p": plan_text, "s": strategy}
        case Unregister(at_s, view):
            body = {"k": "u", "t": at_s, "v": view}
        case Ask(at_s, ask, view, row):
            body = {"k": "a", "t": at_s, "a": ask, "v": view, "w": list(row)}
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
                return Transaction(
                    body["t"], tuple(Change(c[0], c[1], tuple(c[2:])) for c in body["c"])
                )
            case "t":
                return Tick(body["t"])
            case "c":
                return Declare(body["t"], _relation_in(body["r"]))
            case "r":
                return Register(body["t"], body["v"], body["p"], body["s"])
            case "u":
                return Unregister(body["t"], body["v"])
            case "a":
                return Ask(body["t"], str(body["a"]), str(body["v"]), _row_in(body["w"]))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise BadEntry(f"not a log entry: {error}", found=repr(data[:80])) from error
    raise BadEntry(
        "unknown kind of entry", found=str(body["k"]), exists=("d", "t", "c", "r", "u", "a")
    )
