"""The front end is compiled against the protocol that the server speaks."""

from __future__ import annotations

from pathlib import Path

from smartcis.live.typescript import typescript

COMPILED = Path(__file__).parents[2] / "frontend/src/wire/protocol.ts"


def test_the_front_end_has_the_protocol_of_this_tree():
    assert COMPILED.read_text(encoding="utf-8") == typescript()
