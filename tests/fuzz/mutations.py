"""Mutations: from something a door takes, something it was not made for; a seed repeats them.

seed ── as JSON: a value, a name, a branch ──┐
     ── as words: cut, doubled, swapped ─────┼─ perhaps as bytes: cut, repeated ──> input
     ── as lines: cut, doubled, swapped ─────┘
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

LONGEST_BYTES = 200_000
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 10**400),
    *(0.0, -0.0, 1e-320, 1e308, float("inf"), float("nan"), "", " ", "0", "x" * 5_000),
    *("\0", "a\0b", "\ud800", "\udfff\ud800", "\u202e", "\ufeff", "😀", "é" * 300, "'", '"', "--"),
    *("%s%n", "../../etc/passwd", "<script>", "{{1}}", "=1+1", "DROP TABLE", "1e999", "NaN"),
    *("9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59", "2026-02-30T00:00:00Z", "P1D"),
    *([], {}, [[]], {"": {}}, [None], {"a": [1, "b", {"c": None}]}),
)
WORDS: tuple[bytes, ...] = (
    *(b"9" * 400, b"1e999", b"-1e-999", b"NaN", b"-Infinity", b"\0", b"\xff\xfe", b"\xed\xa0\x80"),
    *(b"\\ud800", b"\\u0000", b"(" * 300, b"[" * 5_000, b"{" * 200, b'{"a":' * 200, b"'", b'"'),
    *(b"--", b"/*", b"*/", b";", b"\r\n", b"\n\n", b"\r", b"\t", b"\x1b", b"%00", b"&#0;", b"<!--"),
    *(
        b"<![CDATA[",
        b"\\",
        b"`",
        b"$$",
        b"::",
        b"||",
        b"=",
        b"\xef\xbb\xbf",
        b"a" * 3_000,
        b"," * 99,
    ),
    *(
        "é😀\u202e".encode(),
        b"null",
        b"0x1F",
        b"0",
        b"-1",
        b"00",
        b"1_000",
        b"99999999999999999999",
    ),
)
_WORD = re.compile(rb"\w+|\s+|[^\w\s]")

Make = Callable[[bytes], bytes]


class Mutator:
    """Draws inputs.

    Args:
        seeds: what the door takes.
        words: what means something to it.
        forms: as what it is changed: json, words, lines, bytes.
        rng: draws everything.
    """

    def __init__(
        self,
        seeds: Sequence[bytes],
        words: Sequence[bytes],
        forms: Sequence[str],
        rng: random.Random,
    ) -> None:
        self._seeds, self._words = seeds, (*words, *WORDS)
        self._rng = rng
        makes: dict[str, Make] = {
            "json": self._json,
            "words": self._by_word,
            "lines": self._by_line,
            "bytes": self._bytes,
        }
        self._makes = [makes[form] for form in forms]

    def draw(self) -> bytes:
        """Returns the next input."""
        data = self._rng.choice(self._seeds)
        for _ in range(self._rng.choice((0, 1, 1, 1, 2, 3))):
            data = self._rng.choice(self._makes)(data)
        if self._rng.random() < 0.15:
            data = self._bytes(data)
        return data[:LONGEST_BYTES]

    def _json(self, data: bytes) -> bytes:
        try:
            body = [json.loads(data)]
        except (ValueError, RecursionError):
            return self._bytes(data)
        places = list(_places(body))
        for _ in range(self._rng.choice((1, 1, 2, 4))):
            outer, key = self._rng.choice(places)
            try:
                self._change(outer, key)
            except (LookupError, TypeError):
                continue  # an earlier change took the place away
        said = json.dumps(body[0] if body else None)
        if self._rng.random() < 0.05:
            said = said.replace("{", '{"sid": 1, "sid": 2, ', 1)
        return said.encode()

    def _change(self, outer: Any, key: Any) -> None:
        match self._rng.randrange(5):
            case 0:
                del outer[key]
            case 1 if isinstance(outer, dict):
                outer[str(self._rng.choice(VALUES))] = outer.pop(key)
            case 2 if isinstance(outer, list):
                outer[key:key] = [outer[key]] * self._rng.choice((1, 2, 50))
            case 3:
                inner: Any = outer[key]
                for _ in range(self._rng.choice((1, 3, 90))):
                    inner = [inner] if self._rng.random() < 0.5 else {"a": inner}
                outer[key] = inner
            case _:
                outer[key] = self._rng.choice(VALUES)

    def _by_word(self, data: bytes) -> bytes:
        return b"".join(self._shuffled(_WORD.findall(data)))

    def _by_line(self, data: bytes) -> bytes:
        return b"\n".join(self._shuffled(data.split(b"\n")))

    def _shuffled(self, parts: list[bytes]) -> list[bytes]:
        rng = self._rng
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(parts) + 1)
            match rng.randrange(6):
                case 0:
                    del parts[at : at + rng.choice((1, 2, 8))]
                case 1:
                    parts[at:at] = parts[at : at + rng.choice((1, 3, 20))] * rng.choice((1, 2, 40))
                case 2 if parts:
                    other = rng.randrange(len(parts))
                    at = min(at, len(parts) - 1)
                    parts[at], parts[other] = parts[other], parts[at]
                case 3:
                    other_parts = _WORD.findall(rng.choice(self._seeds))
                    cut = rng.randrange(len(other_parts) + 1)
                    parts[at:at] = other_parts[cut : cut + rng.choice((1, 5, 30))]
                case 4 if parts:
                    parts[min(at, len(parts) - 1)] = rng.choice(self._words)
                case _:
                    parts[at:at] = [rng.choice(self._words)]
        return parts

    def _bytes(self, data: bytes) -> bytes:
        rng, at = self._rng, self._rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0:
                return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                return data[:at]
            case 2:
                return data[:at] + rng.choice(self._words) + data[at:]
            case 3:
                piece = data[at : at + rng.choice((1, 4, 60))]
                return data[:at] + piece * rng.choice((2, 10, 1_000)) + data[at:]
            case _:
                return data[:at] + rng.randbytes(rng.choice((1, 3, 20))) + data[at:]


def _places(body: Any) -> Any:
    """Yields every (container, key) of a JSON value."""
    waiting = [body]
    while waiting:
        outer = waiting.pop()
        for key in range(len(outer)) if isinstance(outer, list) else list(outer):
            yield outer, key
            if isinstance(outer[key], dict | list):
                waiting.append(outer[key])
