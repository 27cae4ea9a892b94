"""The wire: every message of /ws/live/, defined here once.

`manage.py wire` prints the same as TypeScript, `asyncapi.py` as AsyncAPI. Field order is wire
order; `attempt` travels as `try`, which is no name in Python.

    client  subscribe ──────►  snapshot  delta  delta  …      prev of each = epoch of the one before
            unsubscribe, ping  status (at least every 5 s), pong, closed, error
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal

from aspen.errors import AspenError
from aspen.model.schema import Value
from smartcis.json_text import BadJSON, decoded
from smartcis.sentences import translated

PROTOCOL = 1
MESSAGE_LIMIT_BYTES = 16_384  # the longest thing a client says is a subscription
NAME_LENGTH = 120
END = "]}"  # of a snapshot and a delta, whose rows are their last field
HIGHEST_INT = 2**53 - 1  # what JavaScript still counts exactly

Engine = Literal["live", "starting", "delayed", "offline"]
Cell = Value
WireRow = list[Cell]


class BadClientMessage(AspenError, code="smartcis.live.bad_message"):
    """A frame that is no message of this protocol."""


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of a view."""

    name: str
    type: str
    unit: str


@dataclass(frozen=True, slots=True)
class QueryPosition:
    """Where in a query's text an error lies, counted from 1."""

    line: int
    column: int
    length: int


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Follow a view under a number of the client's choice."""

    id: int
    view: str
    since: int | None = None
    type: Literal["subscribe"] = "subscribe"


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Follow it no longer."""

    id: int
    type: Literal["unsubscribe"] = "unsubscribe"


@dataclass(frozen=True, slots=True)
class Ping:
    """Are you there?"""

    at: float
    type: Literal["ping"] = "ping"


@dataclass(frozen=True, slots=True)
class Welcome:
    """The first message of a connection."""

    protocol: int
    epoch: int
    engine: Engine
    type: Literal["welcome"] = "welcome"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A view's rows as of `epoch`; a row stands there as often as the view has it.

    Args:
        merged: epochs that changed the view and waited for a slow client; this stands for them.
        complete_since_s: log time since which nothing is missing of what the view's windows reach
            back to, null where nothing is missing; another snapshot says when that has come.
        more: whether further messages of the same moment follow: what is shown between them may
            contradict itself.
        rows: the last field, so that a text made once for many clients can stand for it.
    """

    id: int
    view: str
    columns: list[ViewColumn]
    epoch: int
    position: int
    at_s: float
    merged: int
    complete_since_s: float | None
    more: bool
    rows: list[WireRow]
    type: Literal["snapshot"] = "snapshot"


@dataclass(frozen=True, slots=True)
class Delta:
    """What changed after epoch `prev`, the epoch of the last message under this id.

    Args:
        merged: how many epochs changed the view since; 1 unless some had to wait.
        more: whether further messages of the same moment follow.
        changes: the last field, like a snapshot's rows.
    """

    id: int
    prev: int
    epoch: int
    position: int
    at_s: float
    merged: int
    more: bool
    changes: list[tuple[int, *tuple[Cell, ...]]]
    type: Literal["delta"] = "delta"


@dataclass(frozen=True, slots=True)
class Closed:
    """The view has ended; should it come back, a snapshot follows."""

    id: int
    view: str
    type: Literal["closed"] = "closed"


@dataclass(frozen=True, slots=True)
class WireError:
    """An error of a subscription, or of the connection when `id` is null.

    Args:
        retry_s: seconds until it may go, null where waiting does not help.
    """

    id: int | None
    code: str
    message: str
    position: QueryPosition | None
    found: str
    exists: list[str]
    attempt: str = field(metadata={"wire": "try"})
    retry_s: int | None
    type: Literal["error"] = "error"

    @classmethod
    def of(cls, error: AspenError | Mapping[str, Any], id: int | None) -> WireError:  # noqa: A002  # the wire's word
        """Returns an error, or its `as_dict`, as a message."""
        body = error.as_dict() if isinstance(error, AspenError) else error
        at = body.get("position")
        return cls(
            id=id,
            code=body.get("code", "smartcis.live.error"),
            message=body.get("message", ""),
            position=QueryPosition(at["line"], at["column"], at["length"]) if at else None,
            found=body.get("found", ""),
            exists=list(body.get("exists", ())),
            attempt=body.get("try", ""),
            retry_s=body.get("retry_s"),
        )


@dataclass(frozen=True, slots=True)
class Status:
    """The heartbeat: how the engine is, and the server's clock.

    Args:
        more: whether further messages of the moment that was begun follow.
    """

    engine: Engine
    epoch: int
    position: int
    lag_s: float
    server_s: float
    more: bool
    type: Literal["status"] = "status"


@dataclass(frozen=True, slots=True)
class Pong:
    """I am."""

    at: float
    type: Literal["pong"] = "pong"


ClientMessage = Subscribe | Unsubscribe | Ping
ServerMessage = Welcome | Snapshot | Delta | Closed | WireError | Status | Pong

CLIENT_MESSAGES: tuple[type[ClientMessage], ...] = (Subscribe, Unsubscribe, Ping)
SERVER_MESSAGES: tuple[type[ServerMessage], ...] = (
    Welcome,
    Snapshot,
    Delta,
    Closed,
    WireError,
    Status,
    Pong,
)
PARTS = (ViewColumn, QueryPosition)


def wire_name(name: str, metadata: Mapping[str, Any]) -> str:
    """Returns a field's name on the wire."""
    return str(metadata.get("wire", name))


def tag_of(message: type) -> str:
    """Returns the `type` a message class carries."""
    return str(next(f.default for f in fields(message) if f.name == "type"))


def retraction(number: int, view: str) -> list[ServerMessage]:
    """Returns what takes the rows of a subscription off a page: at epoch 0 no view had any."""
    none = Snapshot(
        number, view, [], 0, 0, 0.0, merged=0, complete_since_s=None, more=False, rows=[]
    )
    return [none, Closed(number, view)]


def told(message: ServerMessage, language: str) -> ServerMessage:
    """Returns a message in the language of who is sent it: an error's sentences have one."""
    if not isinstance(message, WireError):
        return message
    said, found, attempt, *exists = (
        translated(one, language)
        for one in (message.message, message.found, message.attempt, *message.exists)
    )
    return replace(message, message=said, found=found, attempt=attempt, exists=exists)


def encode(message: ServerMessage | Sequence[Any]) -> str:
    """Returns a message's text; a number JSON cannot say becomes null."""
    try:
        return _STRICT.encode(message)
    except ValueError:
        return _STRICT.encode(json.loads(_LENIENT.encode(message), parse_constant=lambda _: None))


def encode_rows(rows: Sequence[Any]) -> str:
    """Returns rows as they stand in a message, without the brackets around all of them."""
    return encode(rows)[1:-1]


def encode_head(message: Snapshot | Delta) -> str:
    """Returns the text of a message up to its first row; rows and `END` follow."""
    bare = (
        replace(message, rows=[]) if isinstance(message, Snapshot) else replace(message, changes=[])
    )
    return encode(bare).removesuffix(END)


def _fields(message: ServerMessage | ViewColumn | QueryPosition) -> dict[str, Any]:
    tag = {} if isinstance(message, PARTS) else {"type": message.type}
    found = {wire_name(f.name, f.metadata): getattr(message, f.name) for f in fields(message)}
    return {**tag, **found}


_STRICT, _LENIENT = (
    json.JSONEncoder(default=_fields, separators=(",", ":"), ensure_ascii=False, allow_nan=lenient)
    for lenient in (False, True)
)


@dataclass(frozen=True, slots=True)
class FieldRule:
    """What a client may say in a field.

    Args:
        wanted: in words.
        schema: the same in JSON Schema: type, and bounds of the number or of the text's length.
    """

    wanted: str
    schema: Mapping[str, Any]

    def fits(self, value: Any) -> bool:
        """Returns whether a value is allowed; neither infinity nor NaN is a number."""
        match self.schema["type"]:
            case "string":
                sizes = self.schema["minLength"], self.schema["maxLength"]
                return isinstance(value, str) and sizes[0] <= len(value) <= sizes[1]
            case "integer":
                known = isinstance(value, int)
            case _:
                known = isinstance(value, int | float)
        if isinstance(value, bool) or not known:
            return False
        return bool(self.schema["minimum"] <= value <= self.schema["maximum"])


_COUNT = {"type": "integer", "minimum": 0, "maximum": HIGHEST_INT}
RULES: dict[str, FieldRule] = {
    "id": FieldRule("a whole number from 0", _COUNT),
    "since": FieldRule("an epoch", _COUNT),
    "view": FieldRule(
        f"a view's name of up to {NAME_LENGTH} characters",
        {"type": "string", "minLength": 1, "maxLength": NAME_LENGTH},
    ),
    "at": FieldRule(
        "a number", {"type": "number", "minimum": -HIGHEST_INT, "maximum": HIGHEST_INT}
    ),
}


def decode(text: str | bytes) -> ClientMessage:
    """Reads what a client says.

    Raises:
        BadClientMessage: too long, not JSON, or not of this protocol.
    """
    if isinstance(text, bytes):
        raise BadClientMessage("messages are text", found=f"{len(text)} bytes")
    if len(text) > MESSAGE_LIMIT_BYTES:
        raise BadClientMessage(
            "the message is too long",
            found=f"{len(text)} characters",
            exists=[f"up to {MESSAGE_LIMIT_BYTES}"],
        )
    try:
        body = decoded(text)
    except BadJSON as fault:
        raise BadClientMessage(fault.message, found=fault.found, exists=fault.exists) from fault
    if not isinstance(body, dict):
        raise BadClientMessage("a message is an object", found=type(body).__name__)
    by_tag = {tag_of(message): message for message in CLIENT_MESSAGES}
    tag = body.pop("type", None)
    if not isinstance(tag, str) or tag not in by_tag:
        raise BadClientMessage("unknown type of message", found=_spelt(tag), exists=tuple(by_tag))
    return _built(by_tag[tag], tag, body)


def _spelt(value: object) -> str:
    """Returns the beginning of a value for an error, whatever it is and however deep."""
    whole = value if isinstance(value, str) else reprlib.repr(value)
    return whole[:40].encode(errors="backslashreplace").decode()


def _built(message: type[ClientMessage], tag: str, body: dict[str, Any]) -> ClientMessage:
    known = [one for one in fields(message) if one.name != "type"]
    names = tuple(one.name for one in known)
    for name in body:
        if name not in names:
            raise BadClientMessage(
                f"{tag} has no field {name[:40]!r}", found=name[:40], exists=names
            )
    values: dict[str, Any] = {}
    for one in known:
        value = body.get(one.name)
        if value is None and one.default is not MISSING:
            continue
        rule = RULES[one.name]
        if not rule.fits(value):
            raise BadClientMessage(
                f"{one.name} of {tag} must be {rule.wanted}", found=_spelt(value), exists=names
            )
        values[one.name] = value
    return message(**values)
