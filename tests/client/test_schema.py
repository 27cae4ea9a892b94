"""The client against the OpenAPI document: it calls nothing and reads nothing that is not there."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import get_args, get_origin, get_type_hints

import pytest
from client.schema_transport import SchemaTransport
from drf_spectacular.generators import SchemaGenerator

from smartcis.client import (
    Problem,
    RunningQuery,
    RunningWalk,
    SensorReading,
    SmartCIS,
    building_import,
)
from smartcis.client.query import QueryEntry
from smartcis.client.typed import typed
from smartcis.client.walk import WalkEntry
from smartcis.live import protocol

NOT_REST = {"close", "watch", "follow"}
HELD_BELOW = {"import_building", "import_inventory"}
ROW_PATH = {"answer", "watch"}  # read rows of standing views by REST's own methods, and the socket


@pytest.fixture(scope="module")
def schema():
    return SchemaGenerator().get_schema(request=None, public=True)


def client_of(schema, **choose):
    return SmartCIS("http://server", "token", transport=SchemaTransport(schema, **choose))


def named(kind: type) -> set[str]:
    return {
        name
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


CALLS = {
    "query": lambda one: one.query("SELECT 1", name="x", strategy="auto"),
    "ask": lambda one: one.ask("SELECT 1"),
    "ask_csv": lambda one: one.ask_csv("SELECT 1"),
    "submit": lambda one: one.submit("DROP TABLE x"),
    "queries": lambda one: next(one.queries(mine=True)).entry,
    "check": lambda one: one.check("SELECT 1"),
    "explain": lambda one: one.explain("SELECT 1"),
    "rows": lambda one: one.rows("free_machine", 3),
    "why": lambda one: one.why("free_machine", [1, "a", None, True]),
    "route": lambda one: one.route("text", "exit", step_free=True).entry,
    "node_of": lambda one: one.node_of("text"),
    "building": lambda one: one.building(),
    "rooms": lambda one: next(one.rooms()),
    "machines": lambda one: next(one.machines(rid="a", level_id="b", software="c")),
    "doors": lambda one: next(one.doors(level_id="a", state="open")),
    "sensors": lambda one: next(one.sensors(kind="a", rid="b", mid="c")),
    "status": lambda one: one.status(),
    "push": lambda one: one.push([SensorReading("a", 1.5, "kg", 3.5, "t")], key="k"),
}
ANSWERS = {
    "ask": {"status": "200", "component": "Answer"},
    "ask_csv": {"status": "200", "component": "Answer"},
    "submit": {"status": "200", "component": "Done"},
}


def test_every_method_is_held_against_the_document():
    assert named(SmartCIS) == {*CALLS, *NOT_REST, *HELD_BELOW}


@pytest.mark.parametrize("method", CALLS)
def test_a_method_calls_and_reads_what_the_document_says(schema, method):
    client = client_of(schema, **ANSWERS.get(method, {}))
    assert of_its_types(CALLS[method](client))


def of_its_types(value: object) -> bool:
    """Whether the fields of what the client makes have the types that it says they have."""
    if is_dataclass(value):
        hints = get_type_hints(type(value))
        for one in fields(value):
            held = getattr(value, one.name)
            assert is_a(held, hints[one.name]), f"{type(value).__name__}.{one.name}: {held!r}"
    return True


def is_a(value: object, hint: object) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if NoneType in arguments:
        return value is None or any(is_a(value, one) for one in arguments if one is not NoneType)
    if origin is tuple:
        assert isinstance(value, tuple)
        kinds = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
        return len(kinds) == len(value) and all(map(is_a, value, kinds))
    if origin is not None:
        return isinstance(value, origin)
    if hint is object or not isinstance(hint, type):
        return True
    if is_dataclass(hint):
        return isinstance(value, hint) and of_its_types(value)
    return isinstance(value, int | float if hint is float else hint)


def test_a_handle_on_a_query_calls_what_the_document_says(schema):
    client = client_of(schema)
    query = client.query("SELECT 1")
    assert isinstance(query.entry, QueryEntry)
    assert query.rows().names == ("text",)
    assert of_its_types(query.why(["a"]))
    query.end()
    assert named(RunningQuery) == {"rows", "watch", "why", "end"}
    assert "DELETE /api/v1/queries/{query_id}/" in client.rest.http._transport.called


def test_a_handle_on_a_walk_calls_what_the_document_says(schema):
    client = client_of(schema)
    walk = client.route(7, "exit")
    walk.move(8, "R", step_free=False)
    assert isinstance(walk.entry, WalkEntry)
    walk.end()
    assert named(RunningWalk) == {"answer", "watch", "move", "end"}
    assert "DELETE /api/v1/routes/{session}/" in client.rest.http._transport.called


def test_an_import_calls_what_the_document_says(schema, monkeypatch, tmp_path):
    monkeypatch.setattr(building_import, "BUSY", ())
    client = client_of(schema)
    file = tmp_path / "mill.zip"
    file.write_bytes(b"PK")
    with pytest.raises(Problem, match="text"):  # the document's example is refused
        client.import_building(file, add=True)
    answer = client.rest.http._transport.example({"$ref": "#/components/schemas/Import"})
    entry = typed(building_import.ImportEntry, answer)
    assert of_its_types(entry)
    one = building_import.RunningImport(client.rest, entry)
    for step in (lambda: one.accept(replace=True), one.undo):
        with pytest.raises(Problem, match="text"):
            step()
    one.discard()
    assert named(building_import.RunningImport) == {"accept", "undo", "discard", "wait"}


def test_an_inventory_calls_what_the_document_says(schema, tmp_path):
    file = tmp_path / "machines.csv"
    file.write_bytes(b"mid\n")
    found = client_of(schema).import_inventory(file, preview=True, remove=True)
    assert of_its_types(found)
    assert found.rows[0].changes == {"some": ("text",)}


def test_a_drifted_document_is_noticed(schema, tmp_path):
    """The transport refuses what is not described: otherwise this file proved nothing."""
    lacking = SchemaTransport({**schema, "paths": {"/api/v1/building/": {}}})
    with pytest.raises(AssertionError, match="no GET"):
        SmartCIS("http://server", transport=lacking).building()
    with pytest.raises(AssertionError, match="has no parameter"):
        client_of(schema).rest.get("machines/", colour="red")
    with pytest.raises(AssertionError):
        client_of(schema).rest.post("queries/check/", {"sql": "SELECT 1", "colour": "red"})
    file = tmp_path / "machines.csv"
    file.write_bytes(b"mid\n")
    with pytest.raises(AssertionError, match="colour"):
        client_of(schema).rest.upload("inventory/", file, colour=True)


def test_the_client_speaks_the_protocol_of_the_server():
    from smartcis.client import live  # noqa: PLC0415

    assert live.PROTOCOL == protocol.PROTOCOL
