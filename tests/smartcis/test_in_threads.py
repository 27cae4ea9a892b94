"""Answers of a WSGI application in threads: whole ones at once, others part by part."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from smartcis.in_threads import InThreads

PRICE: ContextVar[list[str]] = ContextVar("price")
SCOPE = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "http_version": "1.1"}


def answered(app, *bodies):
    """What is sent in the end."""
    received = [
        {"type": "http.request", "body": body, "more_body": number < len(bodies)}
        for number, body in enumerate(bodies, start=1)
    ]
    sent = []

    async def receive():
        return received.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(InThreads(app, 2)(SCOPE | {"headers": []}, receive, send))
    return sent


def test_an_answer_with_a_length_is_sent_as_one():
    def app(environ, start_response):
        body = environ["wsgi.input"].read()
        start_response("201 Created", [("Content-Length", str(len(body))), ("X-Two", " words ")])
        return [body[:2], body[2:]]

    start, body = answered(app, b"ab", b"cd")
    assert (start["status"], start["headers"]) == (
        201,
        [(b"content-length", b"4"), (b"x-two", b"words")],
    )
    assert (body["body"], body["more_body"]) == (b"abcd", False)


def test_parts_of_an_answer_without_a_length_are_sent_before_the_next_is_made():
    sent_first, closed = threading.Event(), []

    class Parts:
        def __iter__(self):
            yield b"first"
            assert sent_first.wait(20)
            yield b"second"

        def close(self):
            closed.append(True)

    def app(_environ, start_response):
        start_response("200 OK", [])
        return Parts()

    async def story():
        bodies = []

        async def receive():
            return {"type": "http.request"}

        async def send(message):
            if message["type"] == "http.response.body":
                bodies.append((message["body"], message["more_body"]))
                sent_first.set()

        await InThreads(app, 1)(SCOPE | {"headers": []}, receive, send)
        return bodies

    assert asyncio.run(story()) == [(b"first", True), (b"second", True), (b"", False)]
    assert closed == [True]


def test_what_fails_half_way_fails_here():
    def app(_environ, start_response):
        start_response("200 OK", [])
        yield b"first"
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        answered(app, b"")


def test_the_thread_has_the_requests_context():
    token = PRICE.set([])

    def app(_environ, start_response):
        PRICE.get().append(threading.current_thread().name)
        start_response("204 No Content", [])
        return []

    try:
        start, body = answered(app, b"")
        assert PRICE.get()[0] != threading.current_thread().name
    finally:
        PRICE.reset(token)
    assert (start["status"], body["body"], body["more_body"]) == (204, b"", False)
