"""One subscription: what its client has been sent, and what waits to be.

A client that reads slowly takes neither memory nor time: it is only known that deltas wait. Once
its socket is free again they are summed into one, out of the epochs that the hub keeps; where those
are forgotten, or the sum is larger than the view, it is sent a fresh snapshot.

    epoch        41      42      43   │ socket free again
    waiting     +a      -a +b   +c    │ one delta  prev 40, epoch 43:  +b +c
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspen.model.delta import Delta
from aspen.results.protocol import Epoch, ViewChange
from smartcis.live import protocol
from smartcis.live.views import FoldedView, bag, restricted
from smartcis.policies import OWNER_COLUMN

WAITING_AT_LEAST = 2_000  # rows that may be sent before the view's own size is the measure

Net = Callable[[str, int, int], tuple[Delta, int] | None]
"""Gives the net change of a view after one epoch up to another; None where that is forgotten."""


class Subscription:
    """One client's interest in one view.

    Args:
        number: the client's own id for it.
        asked: the name the client used.
        view: the shared folded view.
        allowed: sessions whose rows the client may see; None when it may see all rows.
        wake: called when something waits.
        net: what the hub still knows of recent epochs.
        on_demand: whether the engine keeps the view only while somebody looks.
    """

    def __init__(
        self,
        number: int,
        asked: str,
        view: FoldedView,
        allowed: frozenset[str] | None,
        wake: Callable[[], None],
        net: Net,
        *,
        on_demand: bool = False,
    ) -> None:
        self.number = number
        self.on_demand = on_demand
        self.asked = asked
        self.view = view
        self.allowed = allowed
        self.sent = 0
        self._wake = wake
        self._net = net
        self._waiting: Delta = {}
        self._borrowed = False  # what waits is one epoch's own, which others are sent, too
        self._behind = False  # more than that waits, and is summed when it can be sent
        self._merged = 0  # epochs that changed the view since the last message
        self._whole = False
        self._resumed = False  # a resumption is confirmed even when nothing happened since
        self._ended = False
        self._told = False  # the client shows something of the view
        self._news: list[protocol.ServerMessage] = []
        self._stamp = (0, 0, 0.0)

    def begin(self, since: int | None) -> None:
        """Queues the first message: what happened since, or everything."""
        self._told = since is not None
        if not self.view.present:
            if since is not None:
                self._close()  # what the client still shows is gone
                self._wake()
            return
        if self.view.error is not None:
            self._news.append(protocol.WireError.of(self.view.error, self.number))
        # Which sessions a client had at `since` is not known any more: owned views start whole.
        missed = None
        if since is not None and self.allowed is None:
            missed = self._net(self.view.name, since, self.view.epoch)
        if since is None or missed is None:
            self._whole = bool(self.view.columns)
        else:
            self.sent = since
            (self._waiting, self._merged), self._borrowed = missed, False
            self._resumed = True
            self._stamp = (self.view.epoch, self.view.position, self.view.at_s)
        if self.waits:
            self._wake()

    def heard(self, epoch: Epoch, change: ViewChange) -> None:
        """Queues one epoch's change; the view has folded it in already."""
        if change.closed:
            self._forget_waiting()
            self._whole, self._resumed = False, False
            self._close()
        elif change.columns:
            self._forget_waiting()
            self._whole, self._ended = True, False
            # One that came back before its end was told has not ended.
            self._news = [one for one in self._news if not isinstance(one, protocol.Closed)]
        if change.error is not None:
            self._news.append(protocol.WireError.of(change.error, self.number))
        seen = self._seen(change.delta)
        began = bool(change.columns or change.closed)
        self._merged = 0 if began else self._merged + bool(seen)
        if not self._whole and not change.closed:
            self._wait(seen)
            self._stamp = (epoch.number, epoch.position, epoch.at_s)
        if self.waits:
            self._wake()

    def _wait(self, seen: Delta) -> None:
        if not self._waiting:
            self._waiting, self._borrowed, self._behind = seen, True, False
        elif seen:
            self._behind = True

    def _forget_waiting(self) -> None:
        self._waiting, self._behind = {}, False

    def _sum_up(self) -> None:
        """Makes one delta of all that wait, or lets the whole view be sent."""
        if self._behind and not self._whole:
            found = self._net(self.view.name, self.sent, self._stamp[0])
            if found is None:
                self._whole = True
            else:
                self._waiting, self._borrowed = self._seen(found[0]), False
        if len(self._waiting) > max(WAITING_AT_LEAST, 2 * len(self.view.rows)):
            self._whole = True
        self._behind = False

    def reload(self) -> None:
        """Queues a snapshot: the hub lost the thread, or the view came back."""
        self._forget_waiting()
        self._resumed = False
        self._whole = self.view.present
        self._ended &= not self.view.present
        # One that nobody has heard of yet is about to begin.
        if not self.view.present and self._told:
            self._close()
        self._wake()

    def allow(self, allowed: frozenset[str]) -> None:
        """Widens what the client may see; it hears of the new rows by a snapshot."""
        if self.allowed is None or allowed <= self.allowed:
            return
        self.allowed |= allowed  # never narrowed: the rows of an ended walk must still be deleted
        if self.view.present:
            self.reload()

    def _close(self) -> None:
        """Sends once that the view has ended; one kept on demand begins with its first follower."""
        if not self._ended and (self._told or not self.on_demand):
            self._news.append(protocol.Closed(self.number, self.asked))
        self._ended = True

    @property
    def waits(self) -> bool:
        """Whether there is anything to send."""
        return bool(self._news or self._whole or self._waiting or self._resumed)

    def take(self) -> list[protocol.ServerMessage]:
        """Returns what waits, as messages; they count as sent."""
        messages, self._news = self._news, []
        view = self.view
        self._sum_up()
        if self._whole:
            seen = self._seen(view.rows)
            messages.append(
                protocol.Snapshot(
                    id=self.number,
                    view=self.asked,
                    columns=[protocol.ViewColumn(*column) for column in view.columns],
                    epoch=view.epoch,
                    position=view.position,
                    at_s=view.at_s,
                    merged=self._merged,
                    complete_since_s=view.complete_since_s,
                    more=False,
                    rows=view.shared() if seen is view.rows else bag(seen),
                )
            )
            self.sent = view.epoch
        elif self._waiting or self._resumed:
            epoch, position, at_s = self._stamp
            messages.append(
                protocol.Delta(
                    id=self.number,
                    prev=self.sent,
                    epoch=epoch,
                    position=position,
                    at_s=at_s,
                    merged=self._merged,
                    more=False,
                    changes=self._changes(),
                )
            )
            self.sent = epoch
        self._forget_waiting()
        self._whole, self._resumed, self._merged = False, False, 0
        self._told |= bool(messages)
        return messages

    def _changes(self) -> list[Any]:
        if self._borrowed and self.allowed is None:
            return self.view.changes(self._waiting)
        return [(weight, *row) for row, weight in self._waiting.items()]

    def _seen(self, rows: Delta) -> Delta:
        if self.allowed is None:
            return rows
        return restricted(rows, self.view.index_of(OWNER_COLUMN), self.allowed)
