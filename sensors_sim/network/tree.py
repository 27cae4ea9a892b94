"""Tree: every mote keeps the cheapest way to a base station, and heals it.

    base ◄── 1.0 ── a ◄── 1.3 ── b      cost(b) = 1.3 + cost(a); a dies: b hears c and moves over

Law: with every link whole, each mote that can reach a base has a parent, and following parents
ends at a base. A packet is at one node at a time, unless an acknowledgement was lost.
Source: [CTP]; estimates after [4bit]; ways down as in RPL's storing mode (RFC 6550, section 9.7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aspen.motes.hardware import BACKOFF_S, FRAME_BYTES, GREATEST_HOPS
from aspen.motes.protocol import FAIR_ETX
from aspen.motes.radio import BYTE_S
from sensors_sim.constants import (
    GREATEST_DETOURS,
    PARENT_SWITCH_ETX,
    QUEUE_PACKETS,
    TRICKLE_REDUNDANCY,
    WORST_ETX,
)
from sensors_sim.network.ether import Ether
from sensors_sim.network.events import Events
from sensors_sim.network.mote import NOWHERE, Mote, Neighbour
from sensors_sim.network.packet import ONCE_ONLY, Packet, PacketKind
from sensors_sim.network.trickle import Trickle

BEACON_PAYLOAD_BYTES = 11  # cost 2, hops 1, parent 2, programs' version 2, time 4
SEEN_PACKETS = 64
PULL_LEAST_S = 2.0
ANSWER_S = 0.05  # who asks for beacons listens this long
FRAME_S = BACKOFF_S + (FRAME_BYTES + 15) * BYTE_S  # a usual frame to a radio that is on

Beacon = tuple[int, float, int, int, int, bool]
"""Number, cost, hops, parent, last change applied, whether an answer is asked for."""


@dataclass(eq=False)
class Tree:
    """Routing for all motes.

    Args:
        take: gets what reached its target.
        lost: gets what was given up.
        intercept: may take a packet that only passes through a mote; says whether it did.
        stale: a beacon showed that one of two motes lacks programs: (mote, other's version).
        moved: a mote has another parent.
    """

    events: Events
    ether: Ether
    motes: list[Mote]
    take: Callable[[Mote, Packet], None]
    lost: Callable[[Packet], None]
    intercept: Callable[[Mote, Packet], bool]
    stale: Callable[[Mote, int], None]
    moved: Callable[[Mote], None]

    def __post_init__(self) -> None:
        self.trickle = Trickle(self.events, self._fire)

    # Beacons.

    def _fire(self, mote: Mote) -> None:
        """Beacon; a mote without a way has nothing to offer, and asks after a while."""
        if mote.parent >= 0 or mote.base:
            if mote.overheard < TRICKLE_REDUNDANCY:
                self._speak(mote)
        elif mote.interval_s > PULL_LEAST_S:
            self.pull(mote)

    def _speak(self, mote: Mote, *, pull: bool = False, awake_only: bool = False) -> None:
        mote.beacons += 1
        content = (mote.beacons, mote.cost, mote.hops, mote.parent, mote.installed, pull)
        self.ether.broadcast(
            mote,
            PacketKind.BEACON,
            0,
            BEACON_PAYLOAD_BYTES,
            self._hear,
            content,
            awake_only=awake_only,
        )

    def pull(self, mote: Mote) -> None:
        """Ask the neighbours for their beacons, not too often: first those that never sleep."""
        if mote.base or self.events.now_s < mote.asks_s:
            return
        mote.asks_s = self.events.now_s + PULL_LEAST_S
        mote.listening = True
        self._speak(mote, pull=True, awake_only=True)
        due_s = self.events.now_s + 2 * ANSWER_S
        self.events.at_mote(mote, due_s, self._answered, True)

    def _answered(self, mote: Mote, again: bool) -> None:  # noqa: FBT001  # an event's data
        mote.listening = False
        if mote.parent < 0:
            self.choose(mote)
        if mote.parent < 0 and again:
            mote.listening = True
            self._speak(mote, pull=True)
            due_s = mote.busy_s + 2 * ANSWER_S
            self.events.at_mote(mote, due_s, self._answered, False)

    def _answer(self, mote: Mote, puller: Mote) -> None:
        """Tell one who asked, and listens, about the way from here."""
        if not mote.alive or mote.cost == NOWHERE:
            return
        mote.beacons += 1
        content = (mote.beacons, mote.cost, mote.hops, mote.parent, mote.installed, False)
        packet = Packet(
            PacketKind.BEACON, 0, mote.index, mote.beacons, b"\0" * BEACON_PAYLOAD_BYTES
        )

        def told(dst: Mote, src: Mote, _packet: Packet) -> None:
            if dst.alive:
                self._hear(dst, src, content)

        def unheard(_src: Mote, _dst: Mote, _packet: Packet) -> None:
            pass

        self.ether.unicast(mote, puller, packet, told, unheard, awake=True)

    def _hear(self, mote: Mote, src: Mote, beacon: Beacon) -> None:
        number, cost, hops, parent, installed, pull = beacon
        known = mote.neighbours.get(src.index)
        if known is None:
            known = Neighbour(src.links[mote.index].signal_dbm, number)
            known.cost, known.hops, known.parent = cost, hops, parent
            mote.neighbours[src.index] = known
        else:
            known.beacon(number, cost, hops, parent)
        if pull and mote.cost < NOWHERE:
            wait_s = ANSWER_S * mote.rng.random()
            self.events.at(self.events.now_s + wait_s, self._answer, mote, src)
        if installed == mote.installed:
            mote.overheard += 1
        else:
            self.trickle.reset(mote)
            self.stale(mote, installed)
        if mote.base or (mote.listening and mote.parent < 0):
            return
        if src.index == mote.parent:
            mote.clock.synchronise(self.events.now_s, src.clock)
            self.choose(mote)
        elif parent != mote.index and cost < NOWHERE:
            through = cost + self._step(known, src)
            if through < mote.cost - PARENT_SWITCH_ETX or mote.parent < 0:
                self.choose(mote)

    # Parents.

    def _step(self, known: Neighbour, to: Mote) -> float:
        """Returns the cost of one link: transmissions, and the strobing before each."""
        return known.etx * (1.0 + to.spec.wake_s / 2 / FRAME_S)

    def choose(self, mote: Mote) -> None:
        """Take the cheapest neighbour as parent; keep the present one if it is nearly as good."""
        best, best_cost, present = -1, NOWHERE, NOWHERE
        for index, known in mote.neighbours.items():
            if known.etx >= WORST_ETX or known.parent == mote.index or known.cost == NOWHERE:
                continue
            cost = known.cost + self._step(known, self.motes[index])
            if index == mote.parent:
                present = cost
            if cost < best_cost:
                best, best_cost = index, cost
        if present < NOWHERE and present - best_cost < PARENT_SWITCH_ETX:
            best, best_cost = mote.parent, present
        changed = best != mote.parent
        mote.parent, mote.cost = best, best_cost
        mote.hops = mote.neighbours[best].hops + 1 if best >= 0 else 0
        if not changed:
            return
        if best < 0:
            self.pull(mote)
            return
        mote.clock.synchronise(self.events.now_s, self.motes[best].clock)
        self.moved(mote)
        waiting, mote.queue = mote.queue, []
        for packet in waiting:
            self.send(mote, packet)

    # Packets.

    def send(self, mote: Mote, packet: Packet) -> None:
        """Send a packet on its way from a mote: towards its target, or up."""
        if packet.target == mote.index or (packet.target < 0 and mote.base):
            self.take(mote, packet)
            return
        if packet.hops >= GREATEST_HOPS:
            self.lost(packet)
            return
        towards = self._next(mote, packet)
        if towards is None:
            if mote.base:
                self.take(mote, packet)  # nobody knows a way down: the base decides
            elif len(mote.queue) >= QUEUE_PACKETS:
                self.lost(mote.queue.pop(0))
                mote.queue.append(packet)
            else:
                mote.queue.append(packet)
            if not mote.base:
                self.pull(mote)
            return
        packet.cost = mote.cost
        known = mote.neighbours.get(towards.index)
        tries, acknowledged = self.ether.unicast(mote, towards, packet, self._arrive, self._fail)
        if known is not None:
            known.tried(tries, acknowledged=acknowledged)
        if acknowledged and towards.index == mote.parent:
            mote.clock.synchronise(self.events.now_s, towards.clock)

    def _next(self, mote: Mote, packet: Packet) -> Mote | None:
        if packet.target >= 0:
            direct = mote.neighbours.get(packet.target)
            if direct is not None and direct.etx < FAIR_ETX:
                return self.motes[packet.target]
            child = mote.down.get(packet.target)
            if child is not None:
                return self.motes[child]
        return self.motes[mote.parent] if mote.parent >= 0 else None

    def _arrive(self, mote: Mote, src: Mote, packet: Packet) -> None:
        if not mote.alive:
            self.lost(packet)
            return
        key = (packet.origin, packet.number, packet.hops)
        if key in mote.seen:
            return
        mote.seen[key] = None
        if len(mote.seen) > SEEN_PACKETS:
            del mote.seen[next(iter(mote.seen))]
        if mote.down.get(packet.target) == src.index:
            del mote.down[packet.target]  # the child sent it back: the way down is gone
        if src.index != mote.parent:
            mote.down[packet.origin] = src.index
        if packet.target < 0 and not mote.base and packet.cost <= mote.cost:
            self.trickle.reset(mote)  # the child believes itself nearer the base: a loop
        if packet.path is not None:
            packet.path.append(src.index)
        if packet.target == mote.index or (packet.target < 0 and mote.base):
            self.take(mote, packet)
        elif not self.intercept(mote, packet):
            self.send(mote, packet)

    def _fail(self, mote: Mote, towards: Mote, packet: Packet) -> None:
        if not mote.alive:
            self.lost(packet)
            return
        if mote.down.get(packet.target) == towards.index:
            del mote.down[packet.target]
        if not mote.base:
            self.choose(mote)
        if packet.kind in ONCE_ONLY or packet.detours >= GREATEST_DETOURS:
            self.lost(packet)
            return
        packet.detours += 1
        self.send(mote, packet)
