"""Socket: what a client says over /ws/live/."""

from __future__ import annotations

import json

from smartcis.live import protocol
from tests.fuzz.door import Door

SEEDS = (
    {"type": "subscribe", "id": 1, "view": "free_machine"},
    {"type": "subscribe", "id": 2, "view": "source_status", "since": 17},
    {"type": "unsubscribe", "id": 1},
    {"type": "ping", "at": 4.5},
)


def door() -> Door:
    """Returns the door."""
    words = (b'"type"', b'"since"', b'"id"', b'"view"', b'"ping"', b":", b",", b"{", b"}")
    seeds = [json.dumps(one).encode() for one in SEEDS]
    return Door(seeds, _enter, words, ("json", "json", "words", "bytes"))


def _enter(data: bytes) -> str:
    # A frame of text is UTF-8, or the connection has ended before anybody of ours sees it; half
    # characters come as escapes.
    text = data.decode(errors="replace")
    try:
        said = protocol.decode(text if data[:1] != b"\0" else data)
    except protocol.BadClientMessage as refused:
        protocol.encode(protocol.WireError.of(refused, None)).encode()
        return refused.message[:40]
    if isinstance(said, protocol.Ping):
        protocol.encode(protocol.Pong(said.at)).encode()
    return "taken"
