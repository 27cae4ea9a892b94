"""Slow readers: uvicorn's socket, which drops who does not read instead of keeping what waits.

    written ──► the transport's buffer ──► who reads
                └ no progress for a while, or too much of it in all: closed with a code, then cut
                  off; whoever it was comes back and resumes with `since`

uvicorn itself waits for ever: its close stands behind what nobody reads, and so does its timeout.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode

from smartcis.live.shared_rows import TAIL, WINDOW_BITS, Tail, stored

if TYPE_CHECKING:
    from asyncio.transports import BaseTransport

    from uvicorn._types import ASGISendEvent
    from websockets.http11 import Request

NOT_READING = 4408
LOOK_S = 10.0
LEAST_BYTES = 20_000
"""Who reads less than this between two looks, about a telephone line's worth, does not read."""

GRACE_S = 2.0
BUFFERED_BYTES = 128_000_000
"""What may wait for all slow readers of a process; beyond, those slow the longest are dropped."""

UNSENT_BYTES = 65_536
"""What the kernel takes beyond what the client has room for: a megabyte by itself."""

LARGE = 65_536
"""Characters from which on a message that nobody shares is compressed; shorter ones never are."""


class _Compressed(Extension):
    """Marks a frame that is compressed already."""

    def encode(self, frame: Frame) -> Frame:
        return replace(frame, rsv1=True)


_COMPRESSED = _Compressed()


class SocketProtocol(WebSocketsSansIOProtocol):
    """See the module's head; `uvicorn --ws smartcis.live.slow_reader:SocketProtocol`."""

    slow: ClassVar[dict[SocketProtocol, asyncio.TimerHandle]] = {}
    """Those whose buffer is not drained, slow the longest first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unread_bytes = 0

    def connection_made(self, transport: BaseTransport) -> None:
        """Lets the kernel keep little of what the client has not made room for."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)

    def handle_connect(self, event: Request) -> None:
        """Tells the application that it may send a tail apart from its head."""
        super().handle_connect(event)
        if not self.handshake_complete:
            self.scope["extensions"][TAIL] = {}

    def pause_writing(self) -> None:
        """Begins to look whether the client reads at all."""
        super().pause_writing()
        self._look_again()
        waiting = {one: one.transport.get_write_buffer_size() for one in self.slow}
        for one, unread in tuple(waiting.items()):
            if sum(waiting.values()) <= BUFFERED_BYTES:
                break
            one.drop(at_once=True)
            waiting[one] -= unread

    def resume_writing(self) -> None:
        """Stops looking: the client has read."""
        super().resume_writing()
        self._stop_looking()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops looking: the client has left, or was dropped."""
        self._stop_looking()
        super().connection_lost(exc)

    def handle_ping(self) -> None:
        """Answers a ping; nobody is given answers that he does not read."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def keepalive_timeout(self) -> None:
        """Cuts off who does not answer: closing would wait until everything is read."""
        super().keepalive_timeout()
        self.transport.abort()

    def drop(self, *, at_once: bool = False) -> None:
        """Closes with a code, which a client that begins to read hears, and cuts it off soon."""
        self._stop_looking()
        self.stop_keepalive()
        if not self.close_sent and not self.transport.is_closing():
            self.conn.send_close(NOT_READING, "you do not read what you asked for")
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
        self.disconnected = True  # whoever waits to send hears of it
        self.writable.set()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": NOT_READING})
        self.loop.call_later(0 if at_once else GRACE_S, self.transport.abort)

    async def send(self, message: ASGISendEvent) -> None:
        """Sends; a tail that many are sent has been compressed for all of them."""
        text = message.get("text") if message["type"] == "websocket.send" else None
        if not isinstance(text, str) or self.close_sent:
            await super().send(message)
            return
        tail = cast("dict[str, Any]", message).get(TAIL)
        if tail is None and len(text) >= LARGE:
            text, tail = "", Tail(text)
        await self.writable.wait()
        framed = await self._framed(text.encode(), tail)
        if self.disconnected or self.close_sent:
            raise ClientDisconnected
        self.transport.write(framed)

    async def _framed(self, head: bytes, tail: Tail | None) -> bytes:
        blocks = await tail.compressed() if tail is not None and self._deflates() else None
        plain = b"" if tail is None else tail.plain
        payload = head + plain if blocks is None else stored(head) + blocks
        extensions = () if blocks is None else (_COMPRESSED,)
        return Frame(Opcode.TEXT, payload).serialize(mask=False, extensions=extensions)

    def _deflates(self) -> bool:
        return any(
            isinstance(one, PerMessageDeflate) and one.local_max_window_bits >= WINDOW_BITS
            for one in self.conn.extensions
        )

    def _look_again(self) -> None:
        self._unread_bytes = self.transport.get_write_buffer_size()
        self.slow[self] = self.loop.call_later(LOOK_S, self._look)

    def _look(self) -> None:
        if self._unread_bytes - self.transport.get_write_buffer_size() < LEAST_BYTES:
            self.drop()
        else:
            self._look_again()

    def _stop_looking(self) -> None:
        timer = self.slow.pop(self, None)
        if timer is not None:
            timer.cancel()
