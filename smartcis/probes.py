"""Probes: `/healthz`, is this process alive; `/readyz`, can people be sent to it, and if not, why.

They are answered before Django looks at host names, protocol or session: whoever watches a process
asks it by its address.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from django.db import close_old_connections

from smartcis.body_limit import App, Message, Receive, Send
from smartcis.services.readiness import unready

PATIENCE_S = 5.0


class HealthProbes:
    """Wraps an ASGI application."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers a probe, or passes the request on."""
        match scope["path"]:
            case "/healthz":
                await _say(send, 200, {"alive": True, "pid": os.getpid()})
            case "/readyz":
                missing = await _missing()
                body = {"ready": not missing, "missing": missing}
                await _say(send, 503 if missing else 200, body)
            case _:
                await self.app(scope, receive, send)


async def _missing() -> dict[str, str]:
    try:
        return await asyncio.wait_for(asyncio.to_thread(_look), PATIENCE_S)
    except TimeoutError:
        return {"answer": f"database and Redis gave none within {PATIENCE_S:g} s"}


def _look() -> dict[str, str]:
    close_old_connections()
    try:
        return unready()
    finally:
        close_old_connections()


async def _say(send: Send, status: int, body: dict[str, Any]) -> None:
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
