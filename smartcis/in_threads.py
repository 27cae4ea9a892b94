"""In threads: an ASGI wrapper that answers by a WSGI application, each request in a thread.

    event loop   body ─┐                             ┌─ answer
    thread             └─ everything of the request ─┘        one way there, one way back

A thread that waits for the event loop in between waits for all that has its turn there before, and
then for the interpreter's lock once more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from contextvars import copy_context
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

from a2wsgi.wsgi import build_environ

from smartcis.body_limit import Message, Receive, Send

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

LENGTH = b"content-length"


class InThreads:
    """Wraps a WSGI application whose requests' bodies are bounded already.

    Args:
        app: the application.
        threads: at most.
    """

    def __init__(self, app: WSGIApplication, threads: int) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="request")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers a request. Threads never wait for readers: what is sent is queued."""
        environ = build_environ(cast("Any", scope), cast("Any", BytesIO(await _body(receive))))
        loop, context = asyncio.get_running_loop(), copy_context()
        queue: asyncio.Queue[Message | None] = asyncio.Queue()

        def tell(messages: Iterable[Message | None]) -> None:
            for message in messages:
                queue.put_nowait(message)

        def work() -> None:
            last: list[Message | None] = [None]
            try:
                last = [*self._answer(environ, lambda m: loop.call_soon_threadsafe(tell, m)), None]
            finally:
                loop.call_soon_threadsafe(tell, last)

        done = loop.run_in_executor(self._threads, context.run, work)
        while (message := await queue.get()) is not None:
            await send(message)
        await done

    def _answer(self, environ: Any, tell: Callable[[list[Message]], object]) -> list[Message]:
        """Returns what is to be sent; parts of an answer without a length are told as they come."""
        untold: list[Message] = []
        streams = True

        def start_response(
            status: str, headers: list[tuple[str, str]], _exc_info: object = None
        ) -> Callable[[bytes], object]:
            nonlocal streams
            named = [
                (name.strip().lower().encode("latin1"), value.strip().encode("latin1"))
                for name, value in headers
            ]
            streams = all(name != LENGTH for name, _ in named)
            code = int(status.partition(" ")[0])
            untold.append({"type": "http.response.start", "status": code, "headers": named})
            return lambda part: untold.append(_part(part, more=True))

        found: Any = self._app(environ, cast("Any", start_response))
        with closing(found) if hasattr(found, "close") else nullcontext():
            parts: list[bytes] = []
            for part in found:
                parts.append(part)
                if streams:
                    tell([*untold, _part(part, more=True)])
                    untold.clear()
                    parts.clear()
        return [*untold, _part(b"".join(parts), more=False)]


def _part(body: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
