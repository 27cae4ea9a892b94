"""What holds for every endpoint of the description: names, unknown words, problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from api.test_api import FIELDS, Caller, refused, staff, visitor  # noqa: F401 - fixtures
from drf_spectacular.generators import SchemaGenerator

from smartcis.api.schema import TAGS

pytestmark = [pytest.mark.django_db]
NAMES = Path(__file__).with_name("operations.txt")
DESCRIBED = SchemaGenerator().get_schema(request=None, public=True)
OPERATIONS = [
    (method.upper(), path.removeprefix("/api/v1/"), operation)
    for path, methods in DESCRIBED["paths"].items()
    for method, operation in methods.items()
]
THINGS = {
    "alarm_id": "1",
    "level_id": "L0",
    "rid": "A",
    "door_id": "A.d1",
    "mid": "m1",
    "sid": "m1.seat",
    "kiosk_id": "k1",
    "slug": "exit",
    "reservation_id": "1",
    "device_id": "1",
    "number": "1",
    "position": "1-0",
    "source": "gate",
    "session": "s",
    "query_id": "door_state",
}
OWN_CHECK = {"pushReadings"}  # a list, whose elements name their own unknown fields
FILES = {"addImport", "describeFeedPoints", "importInventory"}  # bodies that are no JSON
TAKING = [
    one
    for one in OPERATIONS
    if one[0] in {"POST", "PUT", "PATCH"} and one[2]["operationId"] not in FILES
]


def named(path: str) -> str:
    return path.format(**THINGS)


def test_names_and_tags_stay_as_they_are():
    """A client's code is made from them: whoever changes one changes other people's programs."""
    found = [f"{one['operationId']} {method} {path}" for method, path, one in OPERATIONS]
    assert len(found) == len({one.split()[0] for one in found})
    assert sorted(found) == NAMES.read_text(encoding="utf-8").splitlines()
    tags = {tag for _, _, one in OPERATIONS for tag in one["tags"]}
    assert tags == set(TAGS) == {one["name"] for one in DESCRIBED["tags"]}
    assert all(len(one["tags"]) == 1 for _, _, one in OPERATIONS)


def test_an_unknown_parameter_is_refused_by_name(visitor):  # noqa: F811
    for method, path, operation in OPERATIONS:
        answer = visitor(method, f"{named(path)}?colour=red", {})
        body = refused(answer, 400, "smartcis.api.unknown_parameter")
        known = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
        assert (body["found"], body["exists"]) == ("colour", sorted(known)), path


def test_a_known_parameter_is_not(visitor):  # noqa: F811
    for method, path, operation in OPERATIONS:
        for one in operation.get("parameters", ()):
            if one["in"] == "query":
                answer = visitor(method, f"{named(path)}?{one['name']}=1", {})
                assert b"unknown_parameter" not in b"".join(answer), (path, one["name"])


def test_an_unknown_field_is_refused_by_name(staff):  # noqa: F811
    assert len(TAKING) > 30
    for method, path, operation in TAKING:
        answer = staff(method, named(path), {"colour": "red"})
        if operation["operationId"] in OWN_CHECK:
            assert set(answer.json()) == FIELDS
            continue
        body = refused(answer, 400, "smartcis.api.unknown_field")
        assert (body["found"], body["exists"]) == ("colour", fields_of(operation)), path


def fields_of(operation: dict[str, Any]) -> list[str]:
    if "requestBody" not in operation:
        return []
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    while "$ref" in schema:
        schema = DESCRIBED["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    assert schema["additionalProperties"] is False
    return sorted(schema["properties"])


def test_an_unknown_field_within_is_named_with_its_place(staff):  # noqa: F811
    wanted = {"mappings": [{"topic": "a"}, {"topic": "b", "scales": 2}]}
    body = refused(staff("PUT", "feeds/gate/mappings/", wanted), 400, "smartcis.api.unknown_field")
    assert (body["found"], body["try"]) == ("mappings.1.scales", "did you mean scale?")


def test_a_field_that_is_no_text_or_very_long_is_named_shortly(staff):  # noqa: F811
    body = refused(
        staff("PATCH", "doors/A.d1/", {"x" * 10_000: 1}), 400, "smartcis.api.unknown_field"
    )
    assert len(body["found"]) <= 60
    for query in ("%00=1", "%ff=1", "x" * 5_000 + "=1", "level_id=L0&%F0%9F%9A%AA"):
        body = refused(staff("GET", f"doors/?{query}"), 400, "smartcis.api.unknown_parameter")
        assert len(body["found"]) <= 60


@pytest.mark.parametrize("way", ["method", "token", "type", "body", "accept"])
def test_every_error_is_a_problem(staff, way):  # noqa: F811
    for method, path, _ in OPERATIONS:
        for answer in wronged(staff, way, method, path):
            if answer.status_code >= 400:
                kind = answer.headers["Content-Type"]
                assert kind == "application/problem+json", (method, path)
                assert set(json.loads(answer.content)) - {"retry_s"} == FIELDS
            assert answer.status_code < 500 or answer.status_code == 503, (method, path)
            if way in {"method", "token"}:
                assert answer.status_code in {401, 404, 405}, (method, path)


def wronged(caller: Caller, way: str, method: str, path: str) -> list[Any]:
    """Returns the answers to calls that are wrong in one way."""
    at = named(path)
    if way == "method":
        wrong = next(one for one in ("PUT", "POST", "PATCH", "DELETE") if not has(path, one))
        return [caller(wrong, at, {})]
    if way == "token":
        return [Caller(authorization="Bearer no")(method, at, {})]
    if way == "type":
        generic = caller.client.generic
        return [generic(method, f"/api/v1/{at}", "a", content_type="text/plain")]
    if way == "accept":
        return [caller(method, at, {}, HTTP_ACCEPT="image/png")]
    return [caller(method, at, text) for text in ("[1", '"x"', "7", "null")]


def has(path: str, method: str) -> bool:
    return (method, path) in {(one, at) for one, at, _ in OPERATIONS}


def test_the_docs_lead_to_the_description_of_the_socket(visitor):  # noqa: F811
    page = visitor.client.get("/api/docs/").content.decode()
    assert 'href="/api/v1/asyncapi.json"' in page
    document = visitor("GET", "asyncapi.json").json()
    assert document["asyncapi"] == "3.0.0"
    house = {"host": "testserver", "protocol": "ws", "pathname": "/"}
    assert document["servers"] == {"house": house}


@pytest.mark.database
@pytest.mark.parametrize(
    "when", ["4374-07-09T01:52:12%2B19:26", "0001-01-01T00:00:00%2B23:59", "9999-12-31T23:59-23:59"]
)
def test_any_offset_is_a_time(staff, when):  # noqa: F811
    for name in ("from", "to"):
        assert staff("GET", f"reservations/?{name}={when}").status_code in {200, 400}
