"""Log entries: what one position of the log holds.

An entry is atomic: a view never shows half of a transaction. On the wire an entry is JSON
(`encode`, `decode`), so that any language can write to the log.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, NamedTuple

from aspen.errors import AspenError
from aspen.model.arrays import Array, row_in
from aspen.model.schema import Column, Relation, Row, SourceKind, Type


class BadEntry(AspenError, code="aspen.log.bad_entry"):
    """Bytes in the log that are no entry."""


class EntryQuarantined(AspenError, code="aspen.log.entry_quarantined"):
    """An entry that is left out because the engine ended while it worked on it."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What stands at a position whose bytes are no entry."""

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
        most_steps: work each of its operators may do in one epoch; 0 for any, as of the others.
        most_rows: rows it may have.
        most_bytes: what its operators may hold.
        owner: whose queries have a common share; empty for nobody's.
    """

    at_s: float
    view: str
    plan_text: str
    strategy: str = "absorption-lazy"
    sharing: str = "trunk"
    on_demand: bool = False
    most_steps: int = 0
    most_rows: int = 0
    most_bytes: int = 0
    owner: str = ""


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
        row: the row in question; null where `free` says so.
        kind: what is asked.
        free: indices of columns where any value will do: `row` stands for all rows that fit.
        changes: of base relations, hypothetical; for WHAT_IF.
        by: indices of the columns that lost rows are counted by; for WEAK_POINTS.
        plan_text: what is to be computed; for ONCE.
        most_steps: work that the answer may take in all; 0 for any, as of the others.
        most_bytes: what its operators may hold.
        most_ms: time of the processor it may take.
        owner: whose questions have a common share; empty for nobody's.
        among: base relations whose rows may be weak points; empty for all.
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
    most_steps: int = 0
    most_bytes: int = 0
    most_ms: int = 0
    owner: str = ""
    among: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Stands where an entry stood that ended the engine; nobody takes that one up again.

    Args:
        entry: its text.
        deaths: how often the engine ended at it.
    """

    at_s: float
    entry: str
    deaths: int

    @classmethod
    def of(cls, entry: str, deaths: int) -> Quarantined:
        """Returns what stands for an entry's text; at time 0 where that is none."""
        try:
            return cls(decode(entry.encode()).at_s, entry, deaths)
        except BadEntry:
            return cls(0.0, entry, deaths)

    @property
    def error(self) -> EntryQuarantined:
        """What it says of itself: to whoever asked, or to staff."""
        times = "once" if self.deaths == 1 else f"{self.deaths} times"
        return EntryQuarantined(
            f"the engine ended {times} while it worked on this, so it is left out",
            found=self.entry[:80],
            attempt="ask for less at once; staff can have it taken in again",
        )


Entry = (
    Transaction
    | Tick
    | Declare
    | Register
    | Unregister
    | Interest
    | Uninterest
    | OneTimeQuery
    | Quarantined
)

_KINDS: dict[str, tuple[type[Entry], str, str]] = {
    "d": (Transaction, "tc", ""),
    "t": (Tick, "t", ""),
    "c": (Declare, "tr", ""),
    "r": (Register, "tvpsh", "omrbw"),
    "u": (Unregister, "tv", ""),
    "i": (Interest, "tvhs", ""),
    "n": (Uninterest, "tvh", ""),
    "a": (OneTimeQuery, "tavw", "qfcbpmylog"),
    "x": (Quarantined, "ted", ""),
}
"""By the letter of its kind: a class, and a letter for each of its fields in order; the last ones
are left out where the field has its default, so that a plain entry is spelt as it always was."""

_KIND_OF = {made: kind for kind, (made, _, _) in _KINDS.items()}


def _relation_out(relation: Relation) -> dict[str, Any]:
    body = {one.name: getattr(relation, one.name) for one in fields(relation)}
    body["columns"] = [[c.name, c.type.value, c.unit, c.nullable] for c in relation.columns]
    body["kind"] = relation.kind.value
    if not relation.network:
        del body["network"]
    return body


def _relation_in(body: dict[str, Any]) -> Relation:
    columns = tuple(Column(c[0], Type(c[1]), c[2], c[3]) for c in body["columns"])
    kind, key = SourceKind(body["kind"]), tuple(body["key"])
    return Relation(**{**body, "columns": columns, "kind": kind, "key": key})


def _row_in(values: list[Any]) -> Row:
    """Refuse what no view can hold, and no table of rows can look for."""
    row = row_in(values)
    single = (one for value in row for one in (value if isinstance(value, Array) else (value,)))
    if not all(one is None or isinstance(one, str | int | float) for one in single):
        raise TypeError("a row holds texts, numbers, truth values, nulls and arrays of these")
    return row


def _changes_out(changes: tuple[Change, ...]) -> list[list[Any]]:
    return [[c.relation, c.weight, *c.row] for c in changes]


def _numbers_in(values: list[Any]) -> tuple[int, ...]:
    return tuple(map(int, values))


_READERS: dict[str, Callable[[Any], Any]] = {
    "among": lambda names: tuple(map(str, names)),
    "ask": str,
    "by": _numbers_in,
    "changes": lambda changes: tuple(Change(c[0], c[1], _row_in(c[2:])) for c in changes),
    "free": _numbers_in,
    "holder": str,
    "keep_s": float,
    "kind": OneTimeKind,
    "most_bytes": int,
    "most_ms": int,
    "most_rows": int,
    "most_steps": int,
    "on_demand": bool,
    "owner": str,
    "plan_text": str,
    "relation": _relation_in,
    "row": _row_in,
    "view": str,
}
"""How a field is read, by its name; others are taken as they are."""


def encode(entry: Entry) -> bytes:
    """Returns an entry's bytes for the log.

    Law: `decode(encode(entry)) == entry`.
    """
    kind = _KIND_OF[type(entry)]
    _, always, otherwise = _KINDS[kind]
    body: dict[str, Any] = {"k": kind}
    for one, letter in zip(fields(entry), always + otherwise, strict=True):
        value = getattr(entry, one.name)
        if letter in otherwise and value == one.default:
            continue
        match value:
            case Relation():
                value = _relation_out(value)
            case Enum():
                value = value.value
            case (Change(), *_):
                value = _changes_out(value)
        body[letter] = value
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def decode(data: bytes) -> Entry:
    """Read an entry back.

    Raises:
        BadEntry: not JSON, or no known kind.
    """
    try:
        body = json.loads(data)
        kind = body["k"]
        if kind == "d":  # most entries: what rows hold, and which lists are arrays, the lane knows
            changes = tuple([Change(c[0], c[1], tuple(c[2:])) for c in body["c"]])
            return Transaction(body["t"], changes)
        if kind in _KINDS:
            made, always, otherwise = _KINDS[kind]
            values = {
                one.name: _READERS.get(one.name, _as_it_is)(body[letter])
                for one, letter in zip(fields(made), always + otherwise, strict=True)
                if letter in body
            }
            return made(**values)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise BadEntry(f"not a log entry: {error}", found=repr(data[:80])) from error
    raise BadEntry("unknown kind of entry", found=str(kind), exists=tuple(_KINDS))


def _as_it_is(value: Any) -> Any:
    return value
