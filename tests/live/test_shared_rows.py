"""What many are sent is made once: its rows, their text, and what is compressed of it."""

from __future__ import annotations

import asyncio
import itertools
import zlib

import pytest
from live.test_slow_reader import serving
from websockets.asyncio.client import connect
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

from aspen.results.protocol import Epoch, ViewChange
from smartcis.live import protocol, shared_rows
from smartcis.live.shared_rows import TAIL, SharedRows, Tail
from smartcis.live.subscription import Subscription
from smartcis.live.views import FoldedView, History, bag


def folded(rows: int) -> FoldedView:
    view = FoldedView("v", present=True, columns=(("n", "INT", ""), ("x", "REAL", "")))
    view.rows = {(number, number / 7): 1 + number % 2 for number in range(rows)}
    view.rows[rows, float("nan")] = 1  # no JSON can say it
    return view


def counted(monkeypatch, name: str):
    """Counts the calls of a function of `shared_rows`."""
    calls, function = itertools.count(), getattr(shared_rows, name)
    monkeypatch.setattr(shared_rows, name, lambda given: (next(calls), function(given))[1])
    return calls


def test_a_snapshot_is_encoded_once_for_all_and_others_have_their_turns(monkeypatch):
    view = folded(10_000)
    calls = counted(monkeypatch, "encode_rows")

    async def meanwhile() -> int:
        turns = 0
        while True:
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                return turns
            turns += 1

    async def told() -> None:
        turning = asyncio.create_task(meanwhile())
        tails = await asyncio.gather(*(view.shared().tail() for _ in range(50)))
        turning.cancel()
        assert len(set(tails)) == 1
        assert next(calls) == -(-15_001 // shared_rows.ROWS_AT_ONCE)
        assert await turning >= 7
        columns = [protocol.ViewColumn(*column) for column in view.columns]
        snapshot = protocol.Snapshot(3, "v", columns, 9, 8, 7.5, 2, None, False, bag(view.rows))
        assert protocol.encode_head(snapshot) + tails[0].text == protocol.encode(snapshot)

    asyncio.run(told())


def test_other_rows_have_another_text_and_the_same_rows_keep_theirs():
    view = folded(3)
    before = view.shared()
    quiet = Epoch(1, 1, 1.0, ())
    view.stamp(quiet)
    assert view.shared() is before
    change = ViewChange("v", {(9, 0.5): 1})
    view.stamp(Epoch(2, 2, 2.0, (change,)))
    view.apply(change)
    assert len(view.shared()) == len(before) + 1


def test_a_change_is_encoded_once_for_all_who_are_sent_just_it(monkeypatch):
    calls = counted(monkeypatch, "encode_rows")
    view, history = folded(3), History()
    followers = [Subscription(n, "v", view, None, lambda: None, history.net) for n in range(50)]
    for one in followers:
        one.begin(None)
        one.take()
    slow = followers.pop()
    deltas = [{(9, 0.5): 1}, {(9, 0.5): -1, (8, 0.25): 1}, {(7, float("inf")): 1}]

    async def told() -> None:
        for number, delta in enumerate(deltas, 1):
            change = ViewChange("v", delta)
            epoch = Epoch(number, number, float(number), (change,))
            history.add(epoch)
            view.stamp(epoch)
            view.apply(change)
            for one in (*followers, slow):
                one.heard(epoch, change)
            for one in followers:
                (message,) = one.take()
                tail = await message.changes.tail()
                plain = [(weight, *row) for row, weight in delta.items()]
                assert message.changes == plain
                assert protocol.encode_head(message) + tail.text == protocol.encode(message)
        assert next(calls) == len(deltas)
        (message,) = slow.take()
        assert message.merged == 3
        assert message.changes == [(1, 8, 0.25), (1, 7, float("inf"))]
        assert deltas[0] == {(9, 0.5): 1}  # the epoch's own is as it was

    asyncio.run(told())


class Sharing:
    """An application that sends every client the same tails under heads of its own."""

    def __init__(self, tails: list[Tail]) -> None:
        self.tails = tails

    async def __call__(self, scope, receive, send) -> None:
        assert TAIL in scope["extensions"]
        await receive()
        await send({"type": "websocket.accept"})
        for number, tail in enumerate(self.tails):
            head = f"héad {number} {scope['path']} "
            await send({"type": "websocket.send", "text": head, TAIL: tail})
            await send({"type": "websocket.send", "text": f"between {number}"})
        while (await receive())["type"] != "websocket.disconnect":
            pass


TEXTS = ["", "x", "ü" * 600, "room is free, " * 3_000, "".join(map(str, range(40_000)))]


@pytest.mark.parametrize(
    ("offered", "compressions"),
    [
        (None, 0),
        ([ClientPerMessageDeflateFactory()], 3),
        ([ClientPerMessageDeflateFactory(server_no_context_takeover=True)], 3),
        ([ClientPerMessageDeflateFactory(server_max_window_bits=9)], 0),
    ],
)
def test_a_tail_is_compressed_once_for_whoever_understands_it(monkeypatch, offered, compressions):
    calls = counted(monkeypatch, "deflated")

    async def hears(url: str, number: int) -> None:
        path = f"/{number}"
        async with connect(
            url + path[1:], compression=None, extensions=offered, max_size=None
        ) as socket:
            for at, text in enumerate(TEXTS):
                assert await socket.recv() == f"héad {at} {path} {text}"
                assert await socket.recv() == f"between {at}"

    async def told() -> None:
        app = Sharing([Tail(text) for text in TEXTS])
        async with serving(app) as url:
            await asyncio.gather(*(hears(url, number) for number in range(2)))

    asyncio.run(told())
    assert next(calls) == compressions


def test_a_head_of_any_length_is_stored():
    for length in (0, 1, 65_535, 65_536, 200_000):
        head, text = "h" * length, "tail " * 1_000
        blocks = shared_rows.stored(head.encode()) + shared_rows.deflated(text.encode())
        inflater = zlib.decompressobj(wbits=-shared_rows.WINDOW_BITS)
        assert inflater.decompress(blocks + b"\x00\x00\xff\xff").decode() == head + text


def test_no_rows_have_a_text_too():
    async def told() -> None:
        assert (await SharedRows(()).tail()).text == "]}"

    asyncio.run(told())
