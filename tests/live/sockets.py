"""A WebSocket client at the ASGI level (channels' own needs daphne)."""

from __future__ import annotations

import json

from asgiref.testing import ApplicationCommunicator

HOST = (b"host", b"localhost")


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
        }
        self.inner = ApplicationCommunicator(application, scope)

    async def connect(self) -> tuple[bool, int | None]:
        await self.inner.send_input({"type": "websocket.connect"})
        answer = await self.inner.receive_output(timeout=5)
        return answer["type"] == "websocket.accept", answer.get("code")

    async def send(self, text: str | None = None, data: bytes | None = None) -> None:
        await self.inner.send_input({"type": "websocket.receive", "text": text, "bytes": data})

    async def say(self, **message) -> None:
        await self.send(json.dumps(message))

    async def receive(self) -> dict:
        answer = await self.inner.receive_output(timeout=5)
        assert answer["type"] == "websocket.send", answer
        return json.loads(answer["text"])

    async def hear(self, kind: str) -> dict:
        """Give the next message of a kind."""
        while True:
            message = await self.receive()
            if message["type"] == kind:
                return message

    async def leave(self) -> None:
        await self.inner.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.inner.wait(timeout=5)
