"""Shared rows: what the messages of many sockets end with, made into text and compressed once.

    a message    {"type":"delta","id":7,"prev":41,…,"changes":[  │  [1,"a"],[-1,"b"]]}
                 └── head, of one subscription ──────────────────┘  └ tail, of all ──┘

permessage-deflate lets a message be any blocks of DEFLATE in a row: a head goes as a stored block,
and a tail, compressed for itself, refers to nothing that stands before it.
"""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Iterable
from typing import Any

from smartcis.live.protocol import (
    END,
    Delta,
    ServerMessage,
    Snapshot,
    encode,
    encode_head,
    encode_rows,
)

ROWS_AT_ONCE = 2_000  # encoded before others have their turn: some milliseconds
COMPRESSED_FROM_BYTES = 1_024
THREAD_FROM_BYTES = 65_536
"""From here on compressing takes milliseconds, and is done beside the event loop."""

TAIL = "smartcis.tail"
"""Names an extension of ASGI: a text message may carry its end apart, as a `Tail`."""

WINDOW_BITS = 12  # what the server offers; who wants less gets the plain text
_SYNC_FLUSH_END = b"\x00\x00\xff\xff"
_STORED_BYTES = 65_535


class Tail:
    """The end of a message, for everybody who is sent it.

    Args:
        text: from behind the head to the message's last brace.
    """

    __slots__ = ("_compressed", "_compressing", "plain", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = text.encode()
        self._compressed: bytes | None = None
        self._compressing: asyncio.Lock | None = None

    async def compressed(self) -> bytes | None:
        """Returns blocks of DEFLATE; None where that would not pay."""
        if len(self.plain) < COMPRESSED_FROM_BYTES:
            return None
        if self._compressed is None:
            if len(self.plain) < THREAD_FROM_BYTES:
                self._compressed = deflated(self.plain)
            else:
                if self._compressing is None:
                    self._compressing = asyncio.Lock()
                async with self._compressing:
                    if self._compressed is None:
                        self._compressed = await asyncio.to_thread(deflated, self.plain)
        return self._compressed


class SharedRows(list[Any]):
    """Rows for all who are sent them in one epoch."""

    def __init__(self, rows: Iterable[Any]) -> None:
        super().__init__(rows)
        self._tail: Tail | None = None
        self._making = asyncio.Lock()

    async def tail(self) -> Tail:
        """Returns the end of a message that ends with them; others have their turns meanwhile."""
        if self._tail is None:
            async with self._making:
                if self._tail is None:
                    self._tail = Tail(await self._text() + END)
        return self._tail

    async def _text(self) -> str:
        parts = [encode_rows(self[:ROWS_AT_ONCE])]
        for start in range(ROWS_AT_ONCE, len(self), ROWS_AT_ONCE):
            await asyncio.sleep(0)
            parts.append(encode_rows(self[start : start + ROWS_AT_ONCE]))
        return ",".join(parts)


async def encoded(message: ServerMessage) -> tuple[str, Tail | None]:
    """Returns a message's text; or its head, and the tail that it shares with others."""
    match message:
        case Snapshot(rows=SharedRows() as shared) | Delta(changes=SharedRows() as shared):
            return encode_head(message), await shared.tail()
        case _:
            return encode(message), None


def deflated(plain: bytes) -> bytes:
    """Returns blocks of DEFLATE that stand for themselves, as RFC 7692 ends them."""
    compressor = zlib.compressobj(wbits=-WINDOW_BITS, memLevel=5)
    blocks = compressor.compress(plain) + compressor.flush(zlib.Z_SYNC_FLUSH)
    return blocks.removesuffix(_SYNC_FLUSH_END)


def stored(plain: bytes) -> bytes:
    """Returns bytes as blocks of DEFLATE that are not compressed."""
    parts = []
    for start in range(0, len(plain), _STORED_BYTES):
        part = plain[start : start + _STORED_BYTES]
        parts.append(struct.pack("<BHH", 0, len(part), len(part) ^ 0xFFFF) + part)
    return b"".join(parts)
