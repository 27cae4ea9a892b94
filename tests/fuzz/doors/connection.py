"""Connection: frames over a socket that is open; each is answered, and the next one is heard."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from live.sockets import Socket, opened

from smartcis.live.protocol import SERVER_MESSAGES, tag_of
from tests.fuzz.door import Door, Fault
from tests.fuzz.doors import socket

KINDS = {tag_of(one) for one in SERVER_MESSAGES}
FRAMES_OF_ONE = 400  # then another connection, which holds nothing yet


def door(loop: asyncio.AbstractEventLoop) -> Door:
    """Returns the door.

    Args:
        loop: on which the server runs between inputs.
    """
    unhandled: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: unhandled.append(context))
    counted, held = itertools.count(1), list[Socket]()

    async def said(data: bytes) -> str:
        number = next(counted)
        if number % FRAMES_OF_ONE == 1:
            for one in held:
                await one.leave()
            held[:] = [await opened()]
        (client,) = held
        text = data.decode(errors="replace")
        await (client.send(data=data) if data[:1] == b"\0" else client.send(text))
        await client.say(type="ping", at=-number)
        outcome = "silence"
        while (heard := await client.receive()) != {"type": "pong", "at": -number}:
            if heard.get("type") not in KINDS:
                raise Fault(f"no message of the protocol: {heard}"[:150])
            if heard["type"] == "error" and not (heard["code"] and heard["message"]):
                raise Fault(f"an error without words: {heard}"[:150])
            if heard["type"] not in {"status", "welcome"}:
                outcome = str(heard.get("code") or heard["type"])
        if unhandled:
            raise Fault(f"nobody handled {unhandled.pop()}"[:300])
        return outcome

    known = socket.door()
    return Door(
        known.seeds, lambda data: loop.run_until_complete(said(data)), known.words, known.forms
    )


async def still_answers() -> None:
    """See that whoever makes sense is answered after all that did not."""
    client = await opened()
    await client.say(type="subscribe", id=1, view="free_machine")
    await client.hear("snapshot")
    await client.leave()
