"""Apart: one part of a bench in a process of its own, so that nobody waits for who measures him.

bench ──call──► process, session and event loop of its own ──answer──►
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

AHEAD = -10
"""Of people's computers, which are elsewhere: they do not wait for the product's processor."""
END_S = 10.0
_PROCESSES = multiprocessing.get_context("spawn")


class Apart:
    """An object whose coroutines run in another process, one call after the other.

    Args:
        make: gives the object there.
        given: what it is made of.
        nice: its weight at the processor, where this account may set it.
    """

    def __init__(self, make: Callable[..., Any], *given: object, nice: int = 0) -> None:
        self._pipe, theirs = _PROCESSES.Pipe()
        self._turn = threading.Lock()
        what = (theirs, make, given, nice)
        self._process = _PROCESSES.Process(target=_serve, args=what, daemon=True)
        self._process.start()
        theirs.close()

    async def call(self, name: str, *given: object) -> Any:
        """Calls a coroutine of the object.

        Raises:
            Exception: whatever it raised there.
            EOFError: the process has ended.
        """
        found, error = await asyncio.to_thread(self._call, name, given)
        if error is not None:
            raise error
        return found

    def _call(self, name: str, given: tuple[object, ...]) -> Any:
        with self._turn:
            self._pipe.send((name, given))
            return self._pipe.recv()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Ends the process."""
        self._pipe.close()
        await asyncio.to_thread(self._process.join, END_S)
        self._process.kill()


def _serve(pipe: Connection, make: Callable[..., Any], given: tuple[Any, ...], nice: int) -> None:
    os.setsid()  # the system shares the processor out by sessions
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, nice)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(nice))
    asyncio.run(_answer(pipe, make, given))


async def _answer(pipe: Connection, make: Callable[..., Any], given: tuple[Any, ...]) -> None:
    one = make(*given)
    with suppress(EOFError):
        while True:
            name, wanted = await asyncio.to_thread(pipe.recv)
            try:
                pipe.send((await getattr(one, name)(*wanted), None))
            except Exception as error:  # noqa: BLE001  # raised again where it was called
                pipe.send((None, error))
    os._exit(0)  # whatever else is at work here
