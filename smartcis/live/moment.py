"""Moment: of which epoch all views are that a client has, taken together.

    take    machine_state 42 · more    nearest_destination 42    machine_state 43
    waits   nearest_destination        nothing                   nothing
            half of a moment           all of it                 all of the next

Law: when the last message said that no more follows, the client's views are the hub's as they stood
when that message was taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from smartcis.live.protocol import Delta, ServerMessage, Snapshot, Status
from smartcis.live.subscription import Subscription


class Moment:
    """What one client has been told.

    Args:
        subscriptions: its subscriptions as they are now, by their numbers.
    """

    def __init__(self, subscriptions: Mapping[int, Subscription]) -> None:
        self._subscriptions = subscriptions
        self._midway = False

    def messages(self) -> Iterator[ServerMessage]:
        """Yields what waits, of each subscription when its turn comes.

        Who reads slowly takes the next one late; meanwhile the subscriptions sum up.
        """
        for subscription in tuple(self._subscriptions.values()):
            for message in subscription.take() if subscription.waits else ():
                if isinstance(message, Snapshot | Delta):
                    self._midway = self._more
                    yield replace(message, more=self._midway)
                else:
                    yield message

    def status(self, pulse: Status) -> Status:
        """Returns the heartbeat, which ends a moment that nothing else does."""
        self._midway &= self._more
        return replace(pulse, more=self._midway)

    @property
    def dangling(self) -> bool:
        """Whether more was announced that came to nothing."""
        return self._midway and not self._more

    @property
    def _more(self) -> bool:
        return any(one.waits for one in self._subscriptions.values())
