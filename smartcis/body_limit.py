"""Body limit: an ASGI wrapper that swallows oversized bodies and answers with a problem.

Django would spool such a body to disk before any view could refuse it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.utils.translation import override

from aspen.errors import AspenError
from smartcis.api.problems import CONTENT_TYPE, answer_to
from smartcis.errors import BodyTooLarge
from smartcis.language import ASKED_BY, language_of
from smartcis.uploads import allowed_bytes

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# A client that is still sending does not read the answer; up to here we hear it out.
PATIENCE_BYTES = 64_000_000


class BodyLimit:
    """Wraps an ASGI application.

    Args:
        app: the application.
        limit_bytes: the largest body that reaches it.
        upload_bytes: the largest of a file that staff bring.
    """

    def __init__(self, app: App, limit_bytes: int, upload_bytes: int = 0) -> None:
        self.app = app
        self.limit_bytes = limit_bytes
        self.upload_bytes = upload_bytes or limit_bytes

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Passes a request on once its body has been seen to fit."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit_bytes = await allowed_bytes(scope, self.limit_bytes, self.upload_bytes)
        held: list[Message] = []
        size = 0
        while True:
            message = await receive()
            size += len(message.get("body", b""))
            if size <= limit_bytes:
                held.append(message)
            more = message["type"] == "http.request" and message.get("more_body", False)
            if not more or size > max(PATIENCE_BYTES, limit_bytes):
                break
        if size > limit_bytes:
            found = size if size <= PATIENCE_BYTES else f"over {PATIENCE_BYTES}"
            error = BodyTooLarge(
                "the body is too large",
                found=f"{found} bytes",
                exists=[f"up to {limit_bytes} bytes"],
                attempt="send it in smaller pieces",
            )
            await refuse(error, scope, send, (b"connection", b"close"))
            return

        async def replay() -> Message:
            return held.pop(0) if held else await receive()

        await self.app(scope, replay, send)


async def refuse(
    error: AspenError,
    scope: MutableMapping[str, Any],
    send: Send,
    *headers: tuple[bytes, bytes],
) -> None:
    """Answers with a problem before Django is asked, in the language the request asks for.

    Args:
        headers: besides the problem's own.
    """
    language = language_of(scope)
    with override(language):
        status, own, body = answer_to(error)
    own |= {"Content-Type": CONTENT_TYPE, "Content-Language": language, "Vary": ASKED_BY}
    named = [(name.lower().encode(), value.encode()) for name, value in own.items()]
    start = {"type": "http.response.start", "status": status, "headers": [*named, *headers]}
    await send(start)
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
