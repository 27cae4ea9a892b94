"""Hub: one per event loop; follows the result store and fans epochs out to subscriptions.

    store ──follow──► history ──► folded views (only those somebody follows) ──► subscriptions

Law: what a subscription has been given folds to the store's view at the epoch of the last
message, each epoch once, in order.
Atomic by construction: an epoch is folded and handed to every subscription without an await.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import redis
import redis.asyncio
import structlog

from aspen.model.delta import Delta
from aspen.results import AsyncResults, EpochsForgotten
from aspen.results.protocol import Epoch
from smartcis.live.interest import SocketInterests
from smartcis.live.pulse import EnginePulse
from smartcis.live.subscription import Subscription
from smartcis.live.views import FoldedView, History

RESUME_EPOCHS = 256  # what a freshly started process can still resume clients from
RETRY_S = 0.5
POLL_S = 2.0  # below the Redis client's own timeout of five seconds

Wake = Callable[[], None]
logger = structlog.get_logger(__name__)


class Hub:
    """Everything the sockets of one event loop share.

    Args:
        results: the store.
        pulse: reads how the engine is.
        interests: tells the engine which views are followed.
    """

    def __init__(
        self, results: AsyncResults, pulse: EnginePulse, interests: SocketInterests
    ) -> None:
        self.pulse = pulse
        self.interests = interests
        self.history = History()
        self.views: dict[str, FoldedView] = {}
        self._results = results
        self._subscriptions: defaultdict[str, set[Subscription]] = defaultdict(set)
        self._awaited: Counter[str] = Counter()
        self._loading: dict[str, asyncio.Task[FoldedView]] = {}
        self._connections: set[Wake] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._following = asyncio.Event()

    async def attach(self, wake: Wake) -> None:
        """Adds a connection; the first one starts the hub.

        Args:
            wake: called when the engine's state changes.
        """
        self._connections.add(wake)
        if not self._tasks:
            # No await before this: two connections at once would start two followers.
            self._tasks = [
                asyncio.create_task(self._run(), name="hub"),
                asyncio.create_task(self.pulse.run(self._wake_all), name="pulse"),
                asyncio.create_task(self.interests.run(), name="interests"),
            ]
            await self.pulse.read()

    def detach(self, wake: Wake) -> None:
        """Removes a connection. The hub keeps following, so that it can resume it later."""
        self._connections.discard(wake)

    async def close(self) -> None:
        """Ends the hub's tasks."""
        waiting: set[asyncio.Task[Any]] = {*self._tasks, *self._loading.values()}
        while waiting:
            # More than once: the Redis client may lose a cancellation that meets its own timeout.
            for task in waiting:
                task.cancel()
            _, waiting = await asyncio.wait(waiting, timeout=0.1)
        self._tasks = []
        await self._results.close()
        await self.pulse.close()

    async def subscribe(
        self,
        number: int,
        asked: str,
        name: str,
        *,
        allowed: frozenset[str] | None,
        since: int | None,
        wake: Wake,
        on_demand: bool = False,
    ) -> Subscription:
        """Follows a view; a view that does not exist yet is waited for.

        Args:
            number: the client's id for the subscription.
            asked: the name it used.
            name: the view's name.
            allowed: sessions whose rows it may see, None for all rows.
            since: last epoch it has.
            wake: called when messages wait.
            on_demand: whether the engine keeps it only while somebody looks.
        """
        if on_demand:
            self.interests.take(name)
        self._awaited[name] += 1
        try:
            view = await self._view(name)
            subscription = Subscription(
                number, asked, view, allowed, wake, self._net, on_demand=on_demand
            )
            self._subscriptions[name].add(subscription)
        except asyncio.CancelledError:
            if on_demand:
                self.interests.drop(name)
            raise
        finally:
            self._awaited[name] -= 1
            self._drop_unfollowed(name)
        subscription.begin(since)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Ends a subscription; a view nobody follows is dropped."""
        name = subscription.view.name
        followers = self._subscriptions[name]
        if subscription.on_demand and subscription in followers:
            self.interests.drop(name)
        followers.discard(subscription)
        self._drop_unfollowed(name)

    def _net(self, name: str, since: int, upto: int) -> tuple[Delta, int] | None:
        return self.history.net(name, since, upto)  # it is another one after a new beginning

    def _drop_unfollowed(self, name: str) -> None:
        """Drops a view that nobody follows and nobody waits for."""
        if not self._awaited[name]:
            del self._awaited[name]
            if not self._subscriptions[name]:
                del self._subscriptions[name]
                self.views.pop(name, None)

    async def _view(self, name: str) -> FoldedView:
        if name in self.views:
            return self.views[name]
        if name not in self._loading:
            task = asyncio.create_task(self._load(name))
            self._loading[name] = task
            task.add_done_callback(lambda _: self._loading.pop(name, None))
        # Shielded: that one client leaves must not take the view from another who waits for it.
        return await asyncio.shield(self._loading[name])

    async def _load(self, name: str) -> FoldedView:
        """Reads a view and brings it to the history's head."""
        while True:
            await self._following.wait()
            try:
                before = (await self._results.head())[0]
                snapshot = await self._results.snapshot(name)
            except (redis.RedisError, OSError) as error:
                logger.warning("view not loaded", view=name, reason=str(error))
                await asyncio.sleep(RETRY_S)
                continue
            view = FoldedView(name, epoch=before)
            if snapshot is not None:
                view.load(snapshot)
            if view.epoch >= self.history.head:
                missed: list[Epoch] = []
            else:
                kept = self.history.after(view.epoch)
                if kept is None:
                    continue  # the history was cut meanwhile: read again
                missed = list(kept)
            for epoch in missed:
                for change in epoch.changes:
                    if change.view == name:
                        view.apply(change)
                view.stamp(epoch)
            if self._awaited[name]:  # it may be that all who waited have left
                self.views[name] = view
            return view

    async def _run(self) -> None:
        fresh = True
        while True:
            try:
                if fresh:
                    await self._begin()
                    fresh = False
                self._following.set()
                async for epoch in self._results.follow(self.history.head, POLL_S):
                    self._fold(epoch)
            except EpochsForgotten:
                # Another generation of the engine, or a wiped store: epochs do not connect.
                fresh = not await self._start_over()
            except (redis.RedisError, OSError) as error:
                logger.warning("result store unreachable", reason=str(error))
                await asyncio.sleep(RETRY_S)

    async def _begin(self) -> None:
        head = (await self._results.head())[0]
        self.history = History(max(0, head - RESUME_EPOCHS))
        try:
            await self._results.epochs_since(self.history.head)
        except EpochsForgotten:
            self.history = History(head)

    async def _start_over(self) -> bool:
        """Takes every followed view anew and notifies its followers.

        Returns:
            Whether the store answered.
        """
        try:
            head = (await self._results.head())[0]
            names = list(self.views)
            snapshots = await self._results.snapshots(names)
        except (redis.RedisError, OSError) as error:
            logger.warning("result store unreachable", reason=str(error))
            await asyncio.sleep(RETRY_S)
            return False
        logger.info("live hub starts over", epoch=head)
        self.history = History(head)
        for name in names:
            view = self.views.get(name)
            if view is None:
                continue  # its last follower left meanwhile
            snapshot = snapshots.get(name)
            if snapshot is None:
                view.forget()
                view.epoch = head
            else:
                view.load(snapshot)
            for subscription in self._subscriptions[name]:
                subscription.reload()
        return True

    def _fold(self, epoch: Epoch) -> None:
        """Folds one epoch into history and views, and notifies the subscriptions. Never awaits."""
        self.history.add(epoch)
        # A view read after this epoch was written has it already.
        behind = {name: view for name, view in self.views.items() if view.epoch < epoch.number}
        for view in behind.values():
            view.stamp(epoch)
        for change in epoch.changes:
            view_or_none = behind.get(change.view)
            if view_or_none is None:
                continue
            view_or_none.apply(change)
            for subscription in self._subscriptions[change.view]:
                subscription.heard(epoch, change)

    def _wake_all(self) -> None:
        for wake in tuple(self._connections):
            wake()


_HUBS: dict[asyncio.AbstractEventLoop, Hub] = {}


def hub_of(make: Callable[[], Hub]) -> Hub:
    """Returns the running event loop's hub, made on first use (no lifespan hook is needed)."""
    loop = asyncio.get_running_loop()
    for closed in [other for other in _HUBS if other.is_closed()]:
        del _HUBS[closed]
    if loop not in _HUBS:
        _HUBS[loop] = make()
    return _HUBS[loop]
