"""A WebSocket client at the ASGI level (channels' own needs daphne), and how stories are run."""

from __future__ import annotations

import asyncio
import json
from functools import wraps

from asgiref.testing import ApplicationCommunicator

from smartcis.asgi import application
from smartcis.live import hub

HOST = (b"host", b"localhost")
PATIENCE_S = 60  # what a busy machine may take; nothing waits so long when all is well


class Socket:
    """One connection to an ASGI application."""

    def __init__(self, application, *headers, host=HOST) -> None:
        scope = {
            "type": "websocket",
            "path": "/ws/live/",
            "query_string": b"",
            "headers": [host, *headers],
            "subprotocols": [],
            "scheme": "ws",
            "server": ("localhost", 80),
            "client": ("203.0.113.9", 50_000),
        }
        self.inner = ApplicationCommunicator(application, scope)

    async def connect(self) -> tuple[bool, int | None]:
        await self.inner.send_input({"type": "websocket.connect"})
        answer = await self.inner.receive_output(timeout=PATIENCE_S)
        return answer["type"] == "websocket.accept", answer.get("code")

    async def send(self, text: str | None = None, data: bytes | None = None) -> None:
        await self.inner.send_input({"type": "websocket.receive", "text": text, "bytes": data})

    async def say(self, **message) -> None:
        await self.send(json.dumps(message))

    async def receive(self) -> dict:
        answer = await self.inner.receive_output(timeout=PATIENCE_S)
        assert answer["type"] == "websocket.send", answer
        return json.loads(answer["text"])

    async def hear(self, kind: str) -> dict:
        """Returns the next message of a kind."""
        while True:
            message = await self.receive()
            if message["type"] == kind:
                return message

    async def closed(self) -> int:
        """Wait until the server closes; give its code."""
        while True:
            answer = await self.inner.receive_output(timeout=PATIENCE_S)
            if answer["type"] == "websocket.close":
                return answer.get("code", 1000)

    async def leave(self, code: int = 1001) -> None:
        await self.inner.send_input({"type": "websocket.disconnect", "code": code})
        await self.inner.wait(timeout=PATIENCE_S)


def story(told):
    """Run an async test on an event loop of its own, and close the hub that it made there."""

    @wraps(told)
    def run(*args, **kwargs):
        async def whole() -> None:
            try:
                await told(*args, **kwargs)
            finally:
                for one in tuple(hub._HUBS.values()):
                    await one.close()
                hub._HUBS.clear()

        asyncio.run(whole())

    return run


async def opened(*headers) -> Socket:
    socket = Socket(application, *headers)
    assert (await socket.connect())[0]
    return socket


def page_of(client) -> tuple[bytes, bytes]:
    """Open the map; give the cookie header of the browser."""
    assert client.get("/api/v1/me/").status_code == 200
    client.get("/")
    return (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode())
