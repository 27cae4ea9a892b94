"""REST and pages: every operation of the description, with spoilt paths, filters, headers, bodies.

Called by staff, visitors and tokens of every sort. What calls have changed is taken back every few
hundred inputs: each is drawn for the house as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote_from_bytes

from django.db import transaction
from django.test import Client

from tests.fuzz.door import Door, Fault

FIELDS = {"type", "title", "status", "code", "message", "position", "found", "exists", "try"}
NO_ENGINE = {"smartcis.why.no_answer"}  # none runs here
UNDONE_EVERY = 500
BODIES: Mapping[str, Any] = {
    "sql": "SELECT r.rid FROM room r",
    "node": 1,
    "goal": "free-machine:LaTeX",
    "step_free": True,
    "view": "source_status",
    "row": {"source": "p"},
    "relation": "host_load",
    "rows": [{"host": "h"}],
    "state": "locked",
    "start": "2026-11-22T08:00:00Z",
    "end": "2026-11-22T09:00:00Z",
    "title": "x",
    "sid": "m1.x",
    "rid": "A",
    "mid": "m9",
    "config": {},
    "period_s": 60,
    "kind": "cpu",
    "name": "n",
    "updates": "DELETE FROM room",
}
PLAIN = {"array": [], "boolean": True, "integer": 1, "number": 2.5, "object": {}, "string": "x"}
READING = [{"sid": "m1.seat", "value": 1.5, "unit": "kg", "at_s": 1}]
HEADERS = {
    "Idempotency-Key": "k1",
    "Accept": "application/json",
    "If-None-Match": '"x"',
    "Range": "bytes=0-9",
    "Cookie": "sessionid=x; csrftoken=y",
    "X-Forwarded-For": "203.0.113.9",
}
PAGES = ("/", "/queries/", "/kiosk/k1/", "/metrics", "/nothing", "/admin/", "/admin/login/?next=/")
FILTERS = {"q": "x", "o": "1", "p": "0", "e": "1", "id__exact": "1", "all": ""}
OFTEN = ("staff", "visitor") * 4  # others are refused more often than not
UNSTREAMED = re.compile(r"(docs|schema)/$")


def door(
    description: Mapping[str, Any],
    clients: Mapping[str, Client],
    names: Mapping[str, str],
    pages: Iterable[str],
) -> Door:
    """Returns the door.

    Args:
        description: OpenAPI's.
        clients: who calls, by a word.
        names: what exists, by the parameter of a path that names it.
        pages: paths beside the API.
    """
    seeds = []
    for path, operations in description["paths"].items():
        if UNSTREAMED.search(path):
            continue  # the description itself, a megabyte each time
        for method, operation in operations.items():
            if method not in {"get", "post", "put", "patch", "delete"}:
                continue
            query = {
                one["name"]: "1" for one in operation.get("parameters", ()) if one["in"] == "query"
            }
            body = READING if path.endswith("readings/") else _body_of(operation, description)
            call = {"method": method, "path": path, "query": query, "body": body}
            seeds += [call | {"who": who, "headers": HEADERS} for who in (*clients, *OFTEN)]
    for path in (*PAGES, *pages):
        call = {"method": "get", "path": path, "query": FILTERS, "headers": HEADERS}
        seeds += [call | {"who": who} for who in clients]

    made, before = 0, transaction.savepoint()

    def enter(data: bytes) -> str:
        nonlocal made, before
        made += 1
        if made % UNDONE_EVERY == 0:
            transaction.savepoint_rollback(before)
            before = transaction.savepoint()
        call = _call_of(data)
        client = clients.get(str(call.get("who")), next(iter(clients.values())))
        answer = client.generic(
            str(call.get("method", "get")).upper()[:10].encode("ascii", "ignore").decode() or "GET",
            _path_of(call, names),
            _raw_body(call, data),
            content_type="application/json",
            secure=False,
            headers=_headers_of(call),
        )
        _check(call, answer)
        return str(answer.status_code)

    words = (
        *(b'"path"', b'"headers"', b"%00", b"%ff", b"%ed%a0%80", b"/../", b"?limit=-1", b"SELECT"),
        *(b"\\u0000", b"Token x", b"Bearer ", b"*/*;q=", b"text/html", b"application/xml"),
    )
    return Door([json.dumps(one).encode() for one in seeds], enter, words, FORMS)


def _body_of(operation: Mapping[str, Any], description: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a body of the fields an operation knows; any other field would be all it hears."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = schema.get("schema", {})
    while "$ref" in schema:
        schema = description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    found = {}
    for name, one in schema.get("properties", {}).items():
        value = BODIES.get(name, PLAIN.get(one.get("type"), "x"))
        lone = one.get("type") == "array" and not isinstance(value, list)
        found[name] = [value] if lone else value
    return found


FORMS = ("json", "json", "json", "words", "bytes")


def _check(call: Mapping[str, Any], answer: Any) -> None:
    said = f"{answer.status_code} to {call.get('method')} {call.get('path')} by {call.get('who')}"
    problem = answer.headers.get("Content-Type", "") == "application/problem+json"
    body = answer.json() if problem else {}
    if answer.status_code >= 500 and body.get("code") not in NO_ENGINE:
        raise Fault(f"{said}: {body.get('code')}"[:150])
    if answer.status_code < 400 or not answer.content:
        return
    if str(call.get("path")).startswith("/api/v1/") and not (problem and set(body) >= FIELDS):
        raise Fault(f"no problem: {said}"[:150])


def _call_of(data: bytes) -> dict[str, Any]:
    try:
        call = json.loads(data)
    except (ValueError, RecursionError):
        call = None
    if not isinstance(call, dict):
        # What was spoilt beyond reading is the body of some call that reads bodies.
        call = {"who": "staff", "method": "post", "path": "/api/v1/queries/check/", "raw": True}
    return call


def _path_of(call: Mapping[str, Any], names: Mapping[str, str]) -> str:
    def named(match: re.Match[str]) -> str:
        return names.get(match[1], "1")

    path = re.sub(r"{(\w+)}", named, str(call.get("path", "/api/v1/building/"))[:2_000])
    if not path.startswith("/"):
        path = "/api/v1/levels/" + path + "/plan/"
    query = call.get("query")
    pairs = query.items() if isinstance(query, dict) else [("q", query)] if query else []
    said = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in pairs)
    safe = "/{}%?&=" if "%" in path else "/?&="
    return quote_from_bytes(path.encode(errors="replace"), safe) + (f"?{said}" if said else "")


def _quoted(value: Any) -> str:
    return quote_from_bytes(str(value)[:500].encode(errors="surrogatepass"))


def _headers_of(call: Mapping[str, Any]) -> dict[str, str]:
    """Returns what a server hands on: names of letters, values of one line, in Latin 1."""
    headers = call.get("headers")
    found = {}
    for name, value in headers.items() if isinstance(headers, dict) else ():
        name = re.sub(r"[^A-Za-z-]", "", str(name)[:50])  # noqa: PLW2901  # the same, as it may be
        said = str(value)[:500].encode(errors="replace").decode("latin-1")
        if name:
            found[name] = re.sub(r"[\r\n\0]", " ", said)
    return found


def _raw_body(call: Mapping[str, Any], data: bytes) -> bytes:
    if call.get("raw"):
        return data
    return json.dumps(call.get("body")).encode()
