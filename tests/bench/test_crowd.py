"""The crowd's clients: a frame that does not continue the one before is noticed."""

from __future__ import annotations

import asyncio
import random

import pytest
from live.test_slow_reader import serving

from smartcis.live import protocol
from smartcis.live.shared_rows import TAIL, SharedRows
from tests.bench import crowd_clients
from tests.bench.crowd_clients import Follower, Tally

COLUMNS = [protocol.ViewColumn('a"],"epoch":7', "INT", "")]


def snapshot(epoch: int, rows: list, number: int = 0) -> str:
    return protocol.encode(
        protocol.Snapshot(number, "v", COLUMNS, epoch, epoch, 5.5, 0, None, more=False, rows=rows)
    )


def delta(prev: int, epoch: int, changes: list, number: int = 0) -> str:
    return protocol.encode(
        protocol.Delta(number, prev, epoch, epoch, 5.5, 1, more=False, changes=changes)
    )


def follower(*, folds: bool) -> tuple[Follower, Tally]:
    tally = Tally()
    return Follower("http://127.0.0.1:1", "127.0.0.1", "", ("v", "w"), tally, folds=folds), tally


@pytest.mark.parametrize("folds", [True, False])
def test_what_is_lost_is_noticed_by_whoever_folds_or_does_not(folds):
    one, tally = follower(folds=folds)
    for text in (
        protocol.encode(protocol.Welcome(1, 3, "live")),
        snapshot(3, [[1]]),
        snapshot(4, [[1], [2]], number=1),
        delta(3, 5, [(1, 2)]),
        delta(4, 5, [(-1, 1)], number=1),
    ):
        one.take(text.encode())
    assert (tally.gaps, tally.jumps, one.epochs) == ([], 0, {0: 5, 1: 5})
    one.take(delta(6, 7, [(1, 9)]).encode())
    assert len(tally.gaps) == 1
    one.take(snapshot(9, [[5]]).encode())
    assert (tally.jumps, one.epochs[0]) == (1, 9)
    if folds:
        assert dict(one.heard[0].rows) == {(5,): 1}
        assert dict(one.heard[1].rows) == {(2,): 1}


def test_what_is_no_message_is_noticed():
    one, tally = follower(folds=False)
    one.take(b"hello")
    assert tally.gaps


class Server:
    """Sends each connection some epochs, and ends it; the next goes on where it was."""

    def __init__(self) -> None:
        self.asked: list[dict] = []
        self.epoch = 0

    async def __call__(self, _scope, receive, send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        self.asked.append(protocol.decode((await receive())["text"]))
        if self.epoch == 0:
            await send({"type": "websocket.send", "text": snapshot(0, [])})
        for _ in range(3):
            change = protocol.Delta(
                0, self.epoch, self.epoch + 1, 0, 0.0, 1, False, SharedRows([(1, self.epoch)])
            )
            self.epoch += 1
            tail = await change.changes.tail()
            head = protocol.encode_head(change)
            await send({"type": "websocket.send", "text": head, TAIL: tail})
        await send({"type": "websocket.close", "code": 4000})


def test_a_connection_that_ends_is_resumed(monkeypatch):
    monkeypatch.setattr(crowd_clients, "BACK_S", (0.0, 0.0))
    random.seed(1)

    async def told() -> None:
        app, tally = Server(), Tally()
        async with serving(app) as url:
            http = url.replace("ws", "http").rstrip("/")
            one = Follower(http, "127.0.5.1", "", ("v",), tally, folds=True)
            task = asyncio.create_task(one.follow())
            async with asyncio.timeout(20):
                while one.epochs.get(0, 0) < 6:  # noqa: ASYNC110  # it has no event for it
                    await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert tally.gaps == []
        assert tally.closed["4000"] >= 1
        assert [one.since for one in app.asked[:2]] == [None, 3]
        assert dict(one.heard[0].rows)[0,] == 1

    asyncio.run(told())
