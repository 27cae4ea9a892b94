"""Dissemination: programs flood outwards, each change with a version, and nobody is left behind.

    base       1 deploy q1 · 2 deploy q2 · 3 change q1 · 4 remove q2     one counter for all changes
    messages   3←0 q1 …   4←3 q2 gone                                    superseded ones stay
    mote       applied 3 ──beacon──► a neighbour that applied 4 sends 4←3

Law: every mote with a living path of links to a base ends with the base's programs; a mote never
goes back to an older version. A mote applies a message only on top of the one before it.
Source: Levis et al., Trickle, NSDI 2004 (RFC 6206); own: one version for all programs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from aspen.motes.hardware import LONGEST_PAYLOAD_BYTES
from sensors_sim.network.ether import Ether
from sensors_sim.network.events import Events
from sensors_sim.network.mote import Mote
from sensors_sim.network.packet import PacketKind

HEAD_BYTES = 7  # query 1, version 2, predecessor 2, frame 1, frames 1
ENOUGH_OFFERS = 2  # heard from others, they make one's own superfluous
OFFER_WAIT_S = 0.05
CHANGES_KEPT = 256
"""Newest changes kept although others supersede them, for motes that are on their way there."""


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A deployed, changed or removed query.

    Args:
        version: counts all changes, from 1.
        body: the program; empty when the query is gone.
    """

    version: int
    query: int
    body: bytes

    @property
    def frames(self) -> list[int]:
        """Payload bytes of each frame it takes."""
        room = LONGEST_PAYLOAD_BYTES - HEAD_BYTES
        whole, rest = divmod(len(self.body), room)
        sizes = [LONGEST_PAYLOAD_BYTES] * whole
        if rest or not whole:
            sizes.append(rest + HEAD_BYTES)
        return sizes


Message = tuple[QueryChange, int, int]
"""A change, the version it goes on top of, and the number of the frame."""


@dataclass(eq=False)
class Dissemination:
    """Brings changes to all motes.

    Args:
        fresh: a mote has something new to tell; its beacons shall be frequent.
        apply: a mote has a whole change.
    """

    events: Events
    ether: Ether
    fresh: Callable[[Mote], None]
    apply: Callable[[Mote, QueryChange], None]
    version: int = 0
    _changes: list[QueryChange] = field(default_factory=list)

    def publish(self, query: int, body: bytes, bases: list[Mote]) -> QueryChange:
        """Make a change known to the base stations, and let them tell it on."""
        self.version += 1
        change = QueryChange(self.version, query, body)
        self._changes.append(change)
        if len(self._changes) > 3 * CHANGES_KEPT:
            last, old = self._last(self._changes), self._changes[:-CHANGES_KEPT]
            self._changes[:-CHANGES_KEPT] = [c for c in old if last[c.query] == c.version]
        for base in bases:
            if base.alive:
                self._take(base, change)
                self._offer(base, change.version - 1)
        return change

    def install_all(self, mote: Mote) -> None:
        """Write the programs it lacks into a mote, as whoever installs it does."""
        for change, _ in list(self._missing(mote.installed, self.version)):
            self._take(mote, change)
        mote.installed = self.version

    def stale(self, mote: Mote, version: int) -> None:
        """A neighbour was heard to have another version: help it if it is behind."""
        if version < mote.installed:
            planned: int | None = mote.state.get("offer")
            mote.state["offer"] = version if planned is None else min(planned, version)
            if planned is None:
                wait_s = (OFFER_WAIT_S + mote.sleepiest_s) * mote.rng.random()
                self.events.at_mote(mote, self.events.now_s + wait_s, self._offer_planned)

    def _offer_planned(self, mote: Mote) -> None:
        self._offer(mote, mote.state.pop("offer"))

    def _offer(self, mote: Mote, since: int) -> None:
        """Send what a neighbour at version `since` lacks."""
        for change, before in self._missing(since, mote.installed):
            if mote.state.get("heard", {}).pop(change.version, 0) >= ENOUGH_OFFERS:
                continue
            for frame, size in enumerate(change.frames):
                self.ether.broadcast(
                    mote,
                    PacketKind.PROGRAM,
                    change.query,
                    size,
                    self._hear,
                    (change, before, frame),
                )

    def _missing(self, since: int, until: int) -> Iterator[tuple[QueryChange, int]]:
        """Returns the changes in (since, until] that no later one of them supersedes, chained."""
        begin, end = (
            bisect_right(self._changes, v, key=lambda c: c.version) for v in (since, until)
        )
        changes = self._changes[begin:end]
        last = self._last(changes)
        before = since
        for change in changes:
            if last[change.query] == change.version:
                yield change, before
                before = change.version

    @staticmethod
    def _last(changes: list[QueryChange]) -> dict[int, int]:
        """Returns the version of each query's last change."""
        return {change.query: change.version for change in changes}

    def _hear(self, mote: Mote, _src: Mote, message: Message) -> None:
        change, before, frame = message
        if frame == 0:
            heard = mote.state.setdefault("heard", {})
            heard[change.version] = heard.get(change.version, 0) + 1
            if len(heard) > CHANGES_KEPT:
                del heard[min(heard)]
        if not before <= mote.installed < change.version:
            return
        wanted = len(change.frames)
        if wanted > 1:
            frames = mote.state.setdefault("frames", {})
            got = frames.setdefault(change.version, set())
            got.add(frame)
            if len(got) < wanted:
                return
        self._take(mote, change)
        self.fresh(mote)

    def _take(self, mote: Mote, change: QueryChange) -> None:
        mote.installed = change.version
        frames = mote.state.get("frames", {})
        for version in [v for v in frames if v <= change.version]:
            del frames[version]
        self.apply(mote, change)
