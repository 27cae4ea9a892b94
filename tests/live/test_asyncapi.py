"""The AsyncAPI document says of the socket what the socket does."""

from __future__ import annotations

import ast
import inspect
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartcis.live import consumers, protocol
from smartcis.live.asyncapi import EXAMPLES, asyncapi

DOCUMENT = asyncapi("map.example.org", secure=True)
MESSAGES = (*protocol.CLIENT_MESSAGES, *protocol.SERVER_MESSAGES)


def payload_of(message: type) -> jsonschema.Draft7Validator:
    schema = DOCUMENT["components"]["messages"][message.__name__]["payload"]
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator({**schema, "components": DOCUMENT["components"]})


def references(value) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [one for inner in value.values() for one in references(inner)]
    if isinstance(value, list):
        return [one for inner in value for one in references(inner)]
    return []


def test_every_message_is_described_and_goes_its_way():
    assert set(DOCUMENT["components"]["messages"]) == {one.__name__ for one in MESSAGES}
    hear, tell = (DOCUMENT["operations"][name] for name in ("hearClient", "tellClient"))
    assert (hear["action"], tell["action"]) == ("receive", "send")
    for operation, messages in (
        (hear, protocol.CLIENT_MESSAGES),
        (tell, protocol.SERVER_MESSAGES),
    ):
        named = [one["$ref"].rpartition("/")[2] for one in operation["messages"]]
        assert named == [one.__name__ for one in messages]


def test_what_the_consumer_takes_and_sends_is_among_them():
    tree = ast.parse(inspect.getsource(consumers))
    taken = {
        node.cls.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Attribute)
    }
    assert taken == {one.__name__ for one in protocol.CLIENT_MESSAGES}
    made = {
        name.attr
        for name in ast.walk(tree)
        if isinstance(name, ast.Attribute) and inspect.isclass(getattr(protocol, name.attr, None))
    }
    errors = {"BadClientMessage"}
    assert made - errors <= {one.__name__ for one in MESSAGES} | {"ServerMessage"}
    assert {"Welcome", "Pong", "WireError"} <= made


def test_every_reference_leads_somewhere():
    found = references(DOCUMENT)
    assert found
    for one in found:
        part = DOCUMENT
        for word in one.removeprefix("#/").split("/"):
            part = part[word]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda one: one.__name__)
def test_every_message_has_an_example_that_fits(message):
    described = DOCUMENT["components"]["messages"][message.__name__]
    assert described["summary"]
    assert described["examples"]
    for example in described["examples"]:
        payload_of(message).validate(example["payload"])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: type(one).__name__)
def test_an_example_is_of_no_other_kind(example):
    text = json.loads(protocol.encode([example]))[0]
    fitting = [one for one in MESSAGES if payload_of(one).is_valid(text)]
    assert fitting == [type(example)]


NUMBERS = st.integers(-2, 2) | st.sampled_from([2**53 - 1, 2**53, 0.5, -0.5, 1e300])
VALUES = st.none() | st.booleans() | NUMBERS | st.sampled_from(["", "v", "v" * 120, "v" * 121])


@given(
    st.dictionaries(st.sampled_from(["id", "view", "since", "at", "more"]), VALUES, max_size=5),
    st.sampled_from(["subscribe", "unsubscribe", "ping", "pong", None]),
)
def test_law_the_document_allows_what_the_socket_takes(body, tag):
    said = body if tag is None else body | {"type": tag}
    allowed = [one for one in protocol.CLIENT_MESSAGES if payload_of(one).is_valid(said)]
    try:
        taken = [type(protocol.decode(json.dumps(said)))]
    except protocol.BadClientMessage:
        taken = []
    assert taken == allowed
