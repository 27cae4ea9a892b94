"""Request ids: every line of the log that a request causes has its id, and so has its answer."""

from __future__ import annotations

import re
import secrets

from structlog.contextvars import bound_contextvars

from smartcis.body_limit import App, Message, Receive, Send

HEADER = b"x-request-id"
GIVEN = re.compile(rb"[\w.-]{1,64}", re.ASCII)


class RequestIds:
    """Wraps an ASGI application.

    Args:
        app: the application. An id that the server in front gave is kept.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Passes a request on under its id."""
        given = dict(scope["headers"]).get(HEADER, b"")
        name = given if GIVEN.fullmatch(given) else secrets.token_hex(8).encode()

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (HEADER, name)]
            await send(message)

        with bound_contextvars(request=name.decode()):
            await self.app(scope, receive, named)
