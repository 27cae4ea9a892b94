"""The hub: what clients fold equals the store, whatever they and the engine do."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live.sockets import PATIENCE_S

from aspen.model.delta import Delta, accumulate, merge
from aspen.results import AsyncResults, RedisResults
from aspen.results.protocol import ViewChange
from smartcis.live import protocol
from smartcis.live.hub import Hub
from smartcis.live.interest import SocketInterests
from smartcis.live.pulse import EnginePulse
from smartcis.live.views import KEEP_EPOCHS, History

VIEWS = ("plain", "owned")
COLUMNS = {
    "plain": (("rid", "TEXT", ""), ("n", "INT", "")),
    "owned": (("session", "TEXT", ""), ("n", "INT", "")),
}
MINE = frozenset({"a"})


@dataclass
class Store:
    """The store, and what it held at each epoch."""

    results: RedisResults
    batch: int = 0
    generation: str = "g0"
    rows: dict[str, Delta] = field(default_factory=dict)
    at: dict[int, dict[str, Delta]] = field(default_factory=dict)

    def write(self, *changes: ViewChange) -> int:
        for change in changes:
            if change.closed:
                self.rows.pop(change.view, None)
            else:
                merge(self.rows.setdefault(change.view, {}), change.delta)
        self.batch += 1
        epoch = self.results.write(
            self.generation, self.batch, self.batch, float(self.batch), changes, {}
        )
        self.at[epoch] = {view: dict(rows) for view, rows in self.rows.items()}
        return epoch

    def begin(self, view: str, rows: Delta) -> int:
        if view in self.rows:
            return self.write()
        return self.write(ViewChange(view, dict(rows), COLUMNS[view]))

    def change(self, view: str, row: tuple, weight: int) -> int:
        held = self.rows.get(view, {}).get(row, 0)
        weight = max(weight, -held)
        if view not in self.rows or not weight:
            return self.write()
        return self.write(ViewChange(view, {row: weight}))

    def restart(self) -> int:
        """Another generation: the store is emptied and filled anew."""
        self.generation = secrets.token_hex(4)
        kept, self.rows = self.rows, {}
        return self.write(*(ViewChange(v, dict(r), COLUMNS[v]) for v, r in kept.items()))


class Client:
    """A browser's fold of what it is sent; it complains about any break of the chain."""

    def __init__(self, hub: Hub, store: Store, view: str) -> None:
        self.hub, self.store, self.view = hub, store, view
        self.rows: Delta = {}
        self.epoch: int | None = None
        self.subscription = None

    async def join(self) -> None:
        self.leave()
        self.subscription = await self.hub.subscribe(
            1,
            self.view,
            self.view,
            allowed=MINE if self.view == "owned" else None,
            since=self.epoch,
            wake=lambda: None,
        )

    def leave(self) -> None:
        if self.subscription is not None:
            self.read()
            self.hub.unsubscribe(self.subscription)
            self.subscription = None

    def read(self) -> None:
        if self.subscription is None:
            return
        for message in self.subscription.take():
            match message:
                case protocol.Snapshot():
                    self.rows = {}
                    for row in message.rows:
                        accumulate(self.rows, tuple(row), 1)
                    self.epoch = message.epoch
                case protocol.Delta():
                    assert message.prev == self.epoch
                    for weight, *row in message.changes:
                        accumulate(self.rows, tuple(row), weight)
                    self.epoch = message.epoch
                case protocol.Closed():
                    self.rows, self.epoch = {}, None
                    continue
            assert self.rows == self.expected(message.epoch), message

    def expected(self, epoch: int) -> Delta:
        rows = self.store.at[epoch].get(self.view, {})
        if self.view == "owned":
            return {row: weight for row, weight in rows.items() if row[0] in MINE}
        return rows


async def settle(hub: Hub, head: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while hub.history.head != head:  # noqa: ASYNC110  # the hub has nobody to tell
            await asyncio.sleep(0.002)


STEP = st.one_of(
    st.tuples(
        st.just("change"),
        st.sampled_from(VIEWS),
        st.tuples(st.sampled_from("ab"), st.integers(0, 3)),
        st.sampled_from([-2, -1, 1, 2]),
    ),
    st.tuples(st.just("begin"), st.sampled_from(VIEWS)),
    st.tuples(st.just("end"), st.sampled_from(VIEWS)),
    st.tuples(st.just("restart")),
    st.tuples(st.just("join"), st.integers(0, 3)),
    st.tuples(st.just("leave"), st.integers(0, 3)),
    st.tuples(st.just("read"), st.integers(0, 3)),
    st.tuples(st.just("pause")),
)


async def play(url: str, steps: list[tuple]) -> None:
    name = f"hub-{secrets.token_hex(6)}"
    store = Store(RedisResults(url, name))
    for view in VIEWS:
        store.begin(view, {("a", 0): 1, ("b", 1): 2})
    hub = Hub(AsyncResults(url, name), EnginePulse(url, name), SocketInterests(list))
    # Two connections at once must not start two followers.
    await asyncio.gather(hub.attach(lambda: None), hub.attach(lambda: None))
    clients = [Client(hub, store, VIEWS[i % 2]) for i in range(4)]
    joining: set[asyncio.Task] = set()
    head = store.write()
    try:
        for step in steps:
            match step:
                case ("change", view, row, weight):
                    head = store.change(view, row, weight)
                case ("begin", view):
                    head = store.begin(view, {("a", 5): 1})
                case ("end", view) if view in store.rows:
                    head = store.write(ViewChange(view, closed=True))
                case ("restart",):
                    head = store.restart()
                case ("join", number):
                    await clients[number].join()
                case ("leave", number):
                    clients[number].leave()
                case ("read", number):
                    clients[number].read()
                case ("pause",):
                    await asyncio.sleep(0.004)
        await settle(hub, head)
        for client in clients:
            client.read()
            if client.subscription is None:
                continue
            there = client.view in store.rows
            assert client.rows == (client.expected(head) if there else {})
    finally:
        await asyncio.gather(*joining)
        await hub.close()
        store.results.close()


@given(st.lists(STEP, max_size=40))
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_every_client_folds_to_the_store(redis_url, steps):
    asyncio.run(play(redis_url, steps))


def test_a_view_that_does_not_exist_yet_is_waited_for(redis_url):
    async def story() -> None:
        name = f"hub-{secrets.token_hex(6)}"
        store = Store(RedisResults(redis_url, name))
        hub = Hub(
            AsyncResults(redis_url, name), EnginePulse(redis_url, name), SocketInterests(list)
        )
        await hub.attach(lambda: None)
        client = Client(hub, store, "plain")
        await client.join()
        assert client.subscription.take() == []
        await settle(hub, store.begin("plain", {("a", 1): 1}))
        client.read()
        assert client.rows == {("a", 1): 1}
        client.leave()
        assert hub.views == {}  # nobody follows, nothing is kept
        await hub.close()

    asyncio.run(story())


def test_who_leaves_before_a_view_is_there_leaves_nothing_behind(redis_url):
    async def story() -> None:
        name = f"hub-{secrets.token_hex(6)}"
        store = Store(RedisResults(redis_url, name))
        head = store.begin("plain", {("a", 1): 1})
        hub = Hub(
            AsyncResults(redis_url, name), EnginePulse(redis_url, name), SocketInterests(list)
        )
        client = Client(hub, store, "plain")
        joining = asyncio.create_task(client.join())
        await asyncio.sleep(0)
        joining.cancel()
        await hub.attach(lambda: None)  # only now the view can be read
        await settle(hub, head)
        async with asyncio.timeout(PATIENCE_S):
            while hub._loading:  # noqa: ASYNC110  # nobody is told
                await asyncio.sleep(0.002)
        assert (hub.views, hub._awaited, hub._subscriptions) == ({}, {}, {})
        await client.join()
        assert list(hub.views) == ["plain"]
        client.leave()
        assert (hub.views, hub._awaited, hub._subscriptions) == ({}, {}, {})
        await hub.close()

    asyncio.run(story())


def test_a_wiped_store_resets_clients(redis_url):
    async def story() -> None:
        name = f"hub-{secrets.token_hex(6)}"
        store = Store(RedisResults(redis_url, name))
        for n in range(5):
            store.begin("plain", {("a", n): 1})
        hub = Hub(
            AsyncResults(redis_url, name), EnginePulse(redis_url, name), SocketInterests(list)
        )
        await hub.attach(lambda: None)
        client = Client(hub, store, "plain")
        await client.join()
        client.read()
        assert client.epoch == 5
        keys = list(store.results._redis.scan_iter(f"{name}:*"))
        store.results._redis.delete(*keys)
        store.rows, store.batch = {}, 0
        await settle(hub, store.begin("plain", {("new", 1): 1}))
        client.read()
        assert (client.epoch, client.rows) == (1, {("new", 1): 1})
        await hub.close()

    asyncio.run(story())


def test_a_client_that_never_reads_holds_no_more_than_the_view(redis_url):
    async def story() -> None:
        name = f"hub-{secrets.token_hex(6)}"
        store = Store(RedisResults(redis_url, name))
        store.begin("plain", {})
        hub = Hub(
            AsyncResults(redis_url, name), EnginePulse(redis_url, name), SocketInterests(list)
        )
        await hub.attach(lambda: None)
        client = Client(hub, store, "plain")
        await client.join()
        client.read()
        head = 0
        for step in range(60):
            new = {("a", 100 * step + i): 1 for i in range(100)}
            old = {("a", 100 * (step - 1) + i): -1 for i in range(100)} if step else {}
            head = store.write(ViewChange("plain", {**new, **old}))
            await settle(hub, head)
            assert len(client.subscription._waiting) <= 2_000
        client.read()
        assert client.epoch == head
        await hub.close()

    asyncio.run(story())


def test_history_forgets_the_oldest():
    history = History()
    for number in range(1, KEEP_EPOCHS + 11):
        history.add(protocol_epoch(number))
    assert history.after(9) is None
    assert [epoch.number for epoch in history.after(KEEP_EPOCHS + 8)] == [
        KEEP_EPOCHS + 9,
        KEEP_EPOCHS + 10,
    ]
    assert history.after(KEEP_EPOCHS + 11) is None


def protocol_epoch(number: int):
    return pytest.importorskip("aspen.results.protocol").Epoch(number, number, 0.0, ())
