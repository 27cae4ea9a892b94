"""Who does not read is dropped with a code, whatever waits for him; the others notice nothing."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager

import pytest
import uvicorn
from live.sockets import PATIENCE_S
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from smartcis.live import slow_reader
from smartcis.live.slow_reader import NOT_READING, SocketProtocol

MESSAGE = "x" * 1_000_000
MESSAGES = 40  # more than the two sides' kernel buffers take


class Sender:
    """An application that sends, and notes how each connection ended."""

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.sent = 0

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "websocket":
            return
        await receive()
        await send({"type": "websocket.accept"})
        sending = asyncio.create_task(self._send(send))
        message = await receive()
        while message["type"] != "websocket.disconnect":
            message = await receive()
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        self.ends.append(message["code"])

    async def _send(self, send) -> None:
        for number in range(MESSAGES):
            await send({"type": "websocket.send", "text": f"{number} {MESSAGE}"})
            self.sent += 1


@asynccontextmanager
async def serving(app, **options):
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, ws=SocketProtocol, lifespan="off", log_level="error", **options)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve([bound]))
    while not server.started:  # noqa: ASYNC110  # uvicorn has no event for it
        await asyncio.sleep(0.01)
    try:
        yield f"ws://127.0.0.1:{bound.getsockname()[1]}/"
    finally:
        server.should_exit = True
        await task


async def until(holds) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110  # what is waited for is no event
            await asyncio.sleep(0.02)


@pytest.fixture(autouse=True)
def hasty(monkeypatch) -> None:
    monkeypatch.setattr(slow_reader, "LOOK_S", 0.3)
    monkeypatch.setattr(slow_reader, "GRACE_S", 0.3)


@pytest.mark.parametrize("compression", [None, "deflate"])
def test_who_reads_hears_everything(compression):
    async def story() -> None:
        app = Sender()
        async with (
            serving(app) as url,
            connect(url, compression=compression, max_size=None) as socket,
        ):
            for number in range(MESSAGES):
                assert await socket.recv() == f"{number} {MESSAGE}"
        assert not SocketProtocol.slow

    asyncio.run(story())


def test_who_does_not_read_is_dropped_and_nothing_is_kept_for_him():
    async def story() -> None:
        app = Sender()
        async with serving(app) as url:
            silent = await connect(url, compression=None, max_size=None, max_queue=1)
            silent.transport.pause_reading()
            await until(lambda: app.ends)
            assert app.ends == [NOT_READING]
            assert app.sent < MESSAGES
            assert not SocketProtocol.slow
            async with connect(url, compression=None, max_size=None) as other:
                assert (await other.recv()).startswith("0 ")
            silent.transport.abort()

    asyncio.run(story())


def test_who_begins_to_read_in_time_hears_the_code(monkeypatch):
    monkeypatch.setattr(slow_reader, "GRACE_S", PATIENCE_S)

    async def story() -> None:
        app = Sender()
        async with serving(app) as url:
            slow = await connect(url, compression=None, max_size=None, max_queue=1)
            slow.transport.pause_reading()
            await until(lambda: app.ends)
            slow.transport.resume_reading()
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await slow.recv()
            assert closed.value.rcvd.code == NOT_READING

    asyncio.run(story())


def test_who_reads_slowly_but_reads_stays():
    async def story() -> None:
        app = Sender()
        async with serving(app) as url:
            slow = await connect(url, compression=None, max_size=None, max_queue=1)
            for number in range(MESSAGES):
                assert (await slow.recv()).startswith(f"{number} ")
                await asyncio.sleep(0.05)
            await slow.close()

    asyncio.run(story())


def test_when_much_waits_those_slow_the_longest_go_first(monkeypatch):
    monkeypatch.setattr(slow_reader, "LOOK_S", 60.0)
    monkeypatch.setattr(slow_reader, "BUFFERED_BYTES", 1)

    async def story() -> None:
        app = Sender()
        async with serving(app) as url:
            first = await connect(url, compression=None, max_size=None, max_queue=1)
            first.transport.pause_reading()
            await until(lambda: app.ends)  # over the budget by itself
            assert app.ends[0] == NOT_READING
            first.transport.abort()

    asyncio.run(story())


def test_pings_are_not_answered_to_who_does_not_read(monkeypatch):
    monkeypatch.setattr(slow_reader, "LOOK_S", 60.0)

    async def story() -> None:
        app = Sender()
        async with serving(app) as url:
            silent = await connect(url, compression=None, max_size=None, max_queue=1)
            silent.transport.pause_reading()
            await until(lambda: SocketProtocol.slow)
            (one,) = SocketProtocol.slow
            before = one.transport.get_write_buffer_size()
            for number in range(200):
                await silent.ping(str(number).encode() * 20)
            await asyncio.sleep(0.3)
            assert one.transport.get_write_buffer_size() <= before
            silent.transport.abort()

    asyncio.run(story())


def test_who_does_not_answer_pings_is_cut_off_although_much_waits(monkeypatch):
    monkeypatch.setattr(slow_reader, "LOOK_S", 60.0)

    async def story() -> None:
        app = Sender()
        async with serving(app, ws_ping_interval=0.2, ws_ping_timeout=0.2) as url:
            silent = await connect(
                url, compression=None, max_size=None, max_queue=1, ping_interval=None
            )
            silent.transport.pause_reading()
            await until(lambda: app.ends)
            silent.transport.abort()

    asyncio.run(story())
