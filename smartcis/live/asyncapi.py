"""The protocol as an AsyncAPI 3 document, from the same dataclasses and rules.

Law: a text is a message of a client by the document iff `protocol.decode` takes it, but for its
length and for whole numbers written with a fraction, which JSON Schema takes for whole.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any

from smartcis.live import protocol

ADDRESS = "/ws/live/"
COLUMN = protocol.ViewColumn("mid", "TEXT", "")
EXAMPLES: tuple[protocol.ClientMessage | protocol.ServerMessage, ...] = (
    protocol.Subscribe(1, "free_machine"),
    protocol.Subscribe(1, "free_machine", since=41),
    protocol.Unsubscribe(1),
    protocol.Ping(at=12.5),
    protocol.Welcome(protocol.PROTOCOL, 42, "live"),
    protocol.Snapshot(
        1, "free_machine", [COLUMN], 42, 1_234, 1_795_000_000.0, 0, None, False, [["A.pc1"]]
    ),
    protocol.Delta(1, 42, 43, 1_240, 1_795_000_001.0, 1, False, [(-1, "A.pc1"), (1, "A.pc2")]),
    protocol.Closed(1, "free_machine"),
    protocol.WireError(
        1,
        "smartcis.live.no_such_view",
        "there is no view 'fre_machine'",
        None,
        "fre_machine",
        ["free_machine"],
        "did you mean free_machine?",
        None,
    ),
    protocol.Status("live", 43, 1_240, 0.2, 1_795_000_001.5, False),
    protocol.Pong(at=12.5),
)
HINTS: dict[object, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    type(None): {"type": "null"},
    protocol.Cell: {"$ref": "#/components/schemas/Cell"},
    protocol.WireRow: {"$ref": "#/components/schemas/Row"},
}
SINGLE = ["string", "number", "boolean", "null"]
CELL = {"type": [*SINGLE, "array"], "items": {"type": SINGLE}}


def asyncapi(host: str, *, secure: bool) -> dict[str, Any]:
    """Returns the whole document.

    Args:
        host: whose socket it is, with the port.
        secure: whether it is reached by wss.
    """
    clients, servers = protocol.CLIENT_MESSAGES, protocol.SERVER_MESSAGES
    parts = {one.__name__: _object(one, {}) for one in protocol.PARTS}
    row = {"type": "array", "items": HINTS[protocol.Cell]}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "SmartCIS live",
            "version": str(protocol.PROTOCOL),
            "description": "Views and queries as they change: a snapshot, then deltas whose `prev` "
            "is the epoch of the message before. A client is the browser of a page of this site; "
            f"it says at most {protocol.MESSAGE_LIMIT_BYTES} characters at once, in text frames.",
        },
        "defaultContentType": "application/json",
        "servers": {
            "house": {"host": host, "protocol": "wss" if secure else "ws", "pathname": "/"}
        },
        "channels": {
            "live": {
                "address": ADDRESS,
                "messages": {
                    one.__name__: {"$ref": f"#/components/messages/{one.__name__}"}
                    for one in (*clients, *servers)
                },
            }
        },
        "operations": {
            "hearClient": _operation("receive", clients),
            "tellClient": _operation("send", servers),
        },
        "components": {
            "messages": {one.__name__: _message(one) for one in (*clients, *servers)},
            "schemas": {"Cell": CELL, "Row": row, **parts},
        },
    }


def _operation(action: str, messages: Iterable[type]) -> dict[str, Any]:
    there = [{"$ref": f"#/channels/live/messages/{one.__name__}"} for one in messages]
    return {"action": action, "channel": {"$ref": "#/channels/live"}, "messages": there}


def _message(message: type) -> dict[str, Any]:
    said = inspect.getdoc(message) or ""
    tag = {"type": {"const": protocol.tag_of(message)}}
    examples = [one for one in EXAMPLES if isinstance(one, message)]
    return {
        "name": protocol.tag_of(message),
        "title": message.__name__,
        "summary": said.partition("\n")[0],
        "description": said,
        "payload": _object(message, tag),
        "examples": [{"payload": json.loads(protocol.encode([one]))[0]} for one in examples],
    }


def _object(described: type, tag: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(described)
    ruled = described in protocol.CLIENT_MESSAGES
    properties, required = dict(tag), list(tag)
    for one in fields(described):
        if one.name in tag:
            continue
        name = protocol.wire_name(one.name, one.metadata)
        schema = dict(protocol.RULES[one.name].schema) if ruled else _schema(hints[one.name])
        if one.default is MISSING:
            required.append(name)
        elif ruled:
            schema["type"] = [schema["type"], "null"]
        properties[name] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _schema(hint: Any) -> dict[str, Any]:
    """Returns the JSON Schema, draft 7, of what a field holds."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint in HINTS:
        return HINTS[hint]
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin is types.UnionType or origin is typing.Union:
        return {"anyOf": [_schema(one) for one in args]}
    if origin is list:
        return {"type": "array", "items": _schema(args[0])}
    if origin is tuple:  # a weight, then a row
        first = [_schema(args[0])]
        return {
            "type": "array",
            "items": first,
            "minItems": len(first),
            "additionalItems": HINTS[protocol.Cell],
        }
    return {"$ref": f"#/components/schemas/{hint.__name__}"}
