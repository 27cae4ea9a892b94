"""Ether: hands frames over, draws which are lost, and charges both ends for every attempt.

    sender    ▁▂strobe▂▂███frame▁▁      a lost frame or acknowledgement is repeated, at most 8 times
    receiver  ▁▁▁▁▁▁▁▁▁▁███frame█ack

Deliberately absent: collisions. Backoff is charged as time; two frames never destroy each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Any

from aspen.motes.hardware import ACK_BYTES, GREATEST_TRIES, LONGEST_PAYLOAD_BYTES
from aspen.motes.radio import Transfer, broadcast, unicast
from sensors_sim.network.energy import Ledger
from sensors_sim.network.events import Events
from sensors_sim.network.mote import Mote
from sensors_sim.network.packet import Packet, PacketKind

Trace = Callable[[str], None]
Arrive = Callable[[Mote, Mote, Packet], None]
Hear = Callable[[Mote, Mote, Any], None]

_unicast, _broadcast = lru_cache(4096)(unicast), lru_cache(4096)(broadcast)


class Ether:
    """The shared medium.

    Args:
        motes: by index; dead ones hear nothing.
        tx_ma: current of every radio while sending.
        trace: gets one line per exchange, or None.
    """

    def __init__(
        self,
        events: Events,
        motes: list[Mote],
        rng: Random,
        tx_ma: float,
        trace: Trace | None = None,
    ) -> None:
        self.ledger = Ledger()
        self.trace = trace
        self._events = events
        self._motes = motes
        self._chance = rng.random
        self._tx_ma = tx_ma

    def price(self, payload_bytes: int, wake_s: float) -> Transfer:
        """Returns what one attempt of a unicast costs."""
        return _unicast(payload_bytes, self._tx_ma, wake_s)

    def hop_mj(self, mote: int, payload_bytes: int) -> float:
        """Returns the energy of handing one payload to a mote: both ends, one attempt."""
        size = min(payload_bytes, LONGEST_PAYLOAD_BYTES)
        price = self.price(size, self._motes[mote].wake_s)
        return price.sent_mj + price.heard_mj

    def unicast(
        self,
        src: Mote,
        dst: Mote,
        packet: Packet,
        arrive: Arrive,
        fail: Arrive,
        *,
        awake: bool = False,
    ) -> tuple[int, bool]:
        """Hand a packet to one neighbour.

        `arrive` is called once if any attempt got through; `fail` if none was acknowledged; both
        when only the acknowledgements were lost.

        Args:
            awake: whether the receiver is known to listen, so that no strobing is needed.

        Returns:
            The attempts, and whether one was acknowledged.
        """
        size = packet.payload_bytes
        price = self.price(size, 0.0 if awake else dst.spec.wake_s)
        link, back = src.links.get(dst.index), dst.links.get(src.index)
        there = 0.0 if link is None or not dst.alive else math.exp(link.log_byte * price.size_bytes)
        return_ = 0.0 if back is None else math.exp(back.log_byte * ACK_BYTES)
        chance = self._chance
        tries = arrived = 0
        acknowledged = False
        while tries < GREATEST_TRIES and not acknowledged:
            tries += 1
            if there >= 1.0 or chance() < there:
                arrived = arrived or tries
                acknowledged = return_ >= 1.0 or chance() < return_
        now_s = self._events.now_s
        begin_s = max(now_s, src.busy_s)
        src.busy_s = begin_s + tries * price.duration_s
        query = packet.query
        heard_mj = tries * price.heard_mj if dst.alive else 0.0
        sent_mj = tries * price.sent_mj
        sent_bytes = tries * int(price.size_bytes)
        src.charge(query, sent_bytes, sent_mj)
        if heard_mj:
            dst.charge(query, 0, heard_mj)
        self.ledger.charge(packet.kind.value, query, tries, sent_bytes, sent_mj + heard_mj)
        if self.trace is not None:
            self.trace(
                f"{begin_s:.6f} {packet.kind.value} q{query} {src.index}>{dst.index} "
                f"{price.size_bytes}B x{tries} {'ok' if acknowledged else 'lost'} "
                f"{packet.payload.hex()}\n"
            )
        if arrived:
            self._events.at(begin_s + arrived * price.duration_s, arrive, dst, src, packet.copied())
        if not acknowledged:
            self._events.at(src.busy_s, fail, src, dst, packet)
        return tries, acknowledged

    def broadcast(
        self,
        src: Mote,
        kind: PacketKind,
        query: int,
        payload_bytes: int,
        hear: Hear,
        content: Any,
        *,
        awake_only: bool = False,
    ) -> None:
        """Send to everybody in range; `hear` gets the content for each mote that got it.

        Args:
            awake_only: send once, without strobing: whoever sleeps misses it.
        """
        strobing_s = 0.0 if awake_only else src.sleepiest_s
        price = _broadcast(payload_bytes, self._tx_ma, strobing_s)
        now_s = self._events.now_s
        begin_s = max(now_s, src.busy_s)
        src.busy_s = begin_s + price.duration_s
        awake: list[Mote] = []
        asleep: list[Mote] = []
        size, chance, motes = int(price.size_bytes), self._chance, self._motes
        for index, link in src.links.items():
            if link.log_byte == 0.0 or chance() < math.exp(link.log_byte * size):
                dst = motes[index]
                if dst.alive and not (awake_only and dst.spec.wake_s):
                    (asleep if dst.spec.wake_s else awake).append(dst)
                    dst.charge(query, 0, price.heard_mj)
        src.charge(query, size, price.sent_mj)
        self.ledger.charge(
            kind.value, query, 1, size, price.sent_mj + (len(awake) + len(asleep)) * price.heard_mj
        )
        if self.trace is not None:
            ears = ",".join(str(one.index) for one in (*awake, *asleep))
            self.trace(f"{begin_s:.6f} {kind.value} q{query} {src.index}>* {size}B {ears}\n")
        if awake:  # they hear the first strobe
            first_s = src.busy_s - strobing_s
            self._events.at(first_s, self._deliver, src, awake, hear, content)
        if asleep:
            self._events.at(src.busy_s, self._deliver, src, asleep, hear, content)

    @staticmethod
    def _deliver(src: Mote, heard: list[Mote], hear: Hear, content: Any) -> None:
        for dst in heard:
            if dst.alive:
                hear(dst, src, content)
