"""The hub over a store that a test turns by hand: each epoch once, whoever is ahead of whom."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
import pytest_asyncio

from aspen.results import EpochsForgotten
from aspen.results.protocol import Epoch, EpochSnapshot, ViewChange
from smartcis.live import hub as module
from smartcis.live import protocol, views
from smartcis.live.hub import Hub

pytestmark = pytest.mark.asyncio
COLUMNS = (("n", "INT", ""),)


class Store:
    """A result store; `gate` holds readers of snapshots back, `told` is what the follower has."""

    def __init__(self, epoch: int = 0) -> None:
        self.snapshots_of: dict[str, EpochSnapshot] = {}
        self.number = epoch
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()
        self.told: asyncio.Queue = asyncio.Queue()

    async def head(self):
        return self.number, self.number, float(self.number)

    async def snapshot(self, view):
        found = self.snapshots_of.get(view)
        self.asked.set()
        await self.gate.wait()
        return found

    async def snapshots(self, views):
        return {view: self.snapshots_of[view] for view in views if view in self.snapshots_of}

    async def epochs_since(self, _number):
        return []

    async def follow(self, after, _poll_s):
        while True:
            epoch = await self.told.get()
            if epoch is None:
                raise EpochsForgotten.before(after, after + 1)
            yield epoch

    async def close(self):
        pass

    def write(self, delta, view="v", **more) -> Epoch:
        """Write an epoch, which the follower hears of only by `told`."""
        before = self.snapshots_of.get(view, EpochSnapshot(view, 0, 0, 0.0, COLUMNS, {}))
        rows = dict(before.rows)
        for row, weight in delta.items():
            rows[row] = rows.get(row, 0) + weight
        self.number += 1
        at = {"epoch": self.number, "position": self.number, "at_s": float(self.number)}
        self.snapshots_of[view] = replace(before, **at, rows={r: w for r, w in rows.items() if w})
        change = ViewChange(view, delta, **more)
        return Epoch(self.number, self.number, float(self.number), (change,))

    async def tell(self, *epochs) -> None:
        for epoch in epochs:
            self.told.put_nowait(epoch)
        await settled()


class Pulse:
    async def read(self):
        pass

    async def run(self, _wake):
        await asyncio.Event().wait()

    async def close(self):
        pass


class Interests:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def take(self, view):
        self.heard.append(f"+{view}")

    def drop(self, view):
        self.heard.append(f"-{view}")

    async def run(self):
        await asyncio.Event().wait()


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest_asyncio.fixture
async def store():
    return Store()


@pytest_asyncio.fixture
async def hub(store):
    made = Hub(store, Pulse(), Interests())
    await made.attach(lambda: None)
    await settled()
    yield made
    await made.close()


def join(hub, number=1, since=None, *, on_demand=False):
    return hub.subscribe(
        number, "v", "v", allowed=None, since=since, wake=lambda: None, on_demand=on_demand
    )


def taken(subscription):
    """Returns what is sent: whole rows, or changes."""
    return [
        sorted(
            map(tuple, message.rows if isinstance(message, protocol.Snapshot) else message.changes)
        )
        for message in subscription.take()
    ]


async def test_a_view_read_ahead_of_its_epochs_is_not_folded_twice(hub, store):
    one, two = store.write({(1,): 1}), store.write({(2,): 2})
    follower = await join(hub)
    assert taken(follower) == [[(1,), (2,), (2,)]]
    await store.tell(one, two)
    assert taken(follower) == []
    assert hub.views["v"].rows == {(1,): 1, (2,): 2}
    await store.tell(store.write({(2,): -1, (3,): 1}))
    assert taken(follower) == [[(-1, 2), (1, 3)]]
    assert hub.views["v"].rows == store.snapshots_of["v"].rows
    assert hub.views["v"].epoch == 3


async def test_a_view_read_behind_its_epochs_is_brought_to_them_once(hub, store):
    await store.tell(store.write({(1,): 1}))
    store.gate.clear()
    joining = asyncio.create_task(join(hub))
    await store.asked.wait()
    await store.tell(store.write({(1,): 1}), store.write({(1,): 1}), store.write({}, "other"))
    store.gate.set()
    follower = await joining
    assert taken(follower) == [[(1,)] * 3]
    assert hub.views["v"].epoch == 4
    await store.tell(store.write({(1,): -3}))
    assert taken(follower) == [[(-3, 1)]]
    assert hub.views["v"].rows == {}


async def test_a_view_read_too_long_ago_is_read_again(hub, store, monkeypatch):
    monkeypatch.setattr(views, "KEEP_EPOCHS", 1)
    await store.tell(store.write({(1,): 1}))
    store.gate.clear()
    joining = asyncio.create_task(join(hub))
    await store.asked.wait()
    await store.tell(*(store.write({(number,): 1}) for number in range(2, 5)))
    store.gate.set()
    assert taken(await joining) == [[(1,), (2,), (3,), (4,)]]


async def test_a_view_read_as_of_the_newest_epoch_is_complete(hub, store):
    await store.tell(store.write({(1,): 1}))
    follower = await join(hub)
    assert taken(follower) == [[(1,)]]
    assert hub.views["v"].rows == {(1,): 1}


async def test_every_follower_of_a_view_is_sent_every_epoch(hub, store):
    await store.tell(store.write({(1,): 1}))
    followers = [await join(hub, number) for number in range(3)]
    assert [taken(one) for one in followers] == [[[(1,)]]] * 3
    await store.tell(store.write({(2,): 1}), store.write({(7,): 1}, "other"))
    assert [taken(one) for one in followers] == [[[(1, 2)]]] * 3
    hub.unsubscribe(followers[0])
    await store.tell(store.write({(3,): 1}))
    assert [taken(one) for one in followers] == [[], [[(1, 3)]], [[(1, 3)]]]
    for one in followers[1:]:
        hub.unsubscribe(one)
    assert hub.views == {}


async def test_after_a_break_every_follower_is_sent_the_view_anew(hub, store):
    await store.tell(store.write({(1,): 1}))
    followers = [await join(hub, number) for number in range(2)]
    for one in followers:
        one.take()
    store.write({(8,): 1})
    store.number += 10
    await store.tell(None)
    for one in followers:
        assert taken(one) == [[(1,), (8,)]]
    assert hub.history.head == store.number
    resumed = await join(hub, 3, since=1)
    assert taken(resumed) == [[(1,), (8,)]]  # what was missed is not known any more
    store.snapshots_of.clear()
    await store.tell(None)
    for one in [*followers, resumed]:
        assert [type(message) for message in one.take()] == [protocol.Closed]


async def test_a_store_that_is_away_is_asked_again(hub, store, monkeypatch):
    monkeypatch.setattr(module, "RETRY_S", 0.001)
    store.write({(1,): 1})
    answer, failures = store.snapshot, [OSError("away"), OSError("away")]

    async def snapshot(view):
        if failures:
            raise failures.pop()
        return await answer(view)

    store.snapshot = snapshot
    follower = await join(hub)
    assert taken(follower) == [[(1,)]]


async def test_the_engine_hears_who_looks_at_a_view_on_demand(hub, store):
    store.write({(1,): 1})
    one, two = await join(hub, 1, on_demand=True), await join(hub, 2, on_demand=True)
    three = await join(hub, 3)
    assert hub.interests.heard == ["+v", "+v"]
    for subscription in (three, one, one, two):
        hub.unsubscribe(subscription)
    assert hub.interests.heard == ["+v", "+v", "-v", "-v"]


async def test_who_leaves_while_a_view_is_read_takes_it_from_nobody(hub, store):
    store.write({(1,): 1})
    store.gate.clear()
    leaving = asyncio.create_task(join(hub, 1, on_demand=True))
    staying = asyncio.create_task(join(hub, 2, on_demand=True))
    await store.asked.wait()
    leaving.cancel()
    await asyncio.wait([leaving])
    assert hub.interests.heard == ["+v", "+v", "-v"]
    store.gate.set()
    assert taken(await staying) == [[(1,)]]
