"""A mote's memory: what it knows of its neighbours, its route, its clock and its battery."""

from __future__ import annotations

import math
from functools import lru_cache
from random import Random
from typing import Any

from aspen.motes.radio import idle_mw
from sensors_sim.constants import ETX_KEEP, NOISE_DBM, WORST_ETX, WORST_GUESS_ETX
from sensors_sim.motes import MoteSpec
from sensors_sim.network.clock import Clock
from sensors_sim.network.links import RadioLink, log_success
from sensors_sim.network.packet import Packet

FRAME_SIZE_BYTES = 40  # a usual frame, for the first guess of a link's quality
NOWHERE = float("inf")


class Neighbour:
    """What a mote knows of one it has heard.

    Args:
        etx: expected transmissions to it and its acknowledgement.
        cost: what it says its own way to the base costs.
    """

    __slots__ = ("cost", "etx", "failing", "heard", "hops", "last", "missed", "parent")

    def __init__(self, signal_dbm: float, number: int) -> None:
        self.etx = guessed_etx(signal_dbm)
        self.cost = NOWHERE
        self.hops = 0
        self.parent = -1
        self.last = number
        self.heard = 1
        self.missed = 0
        self.failing = 0

    def beacon(self, number: int, cost: float, hops: int, parent: int) -> None:
        """Learn from a beacon, and from those that were missed since the last."""
        self.missed += max(number - self.last - 1, 0)
        self.heard += 1
        self.last = number
        self.cost, self.hops, self.parent = cost, hops, parent
        if self.etx >= WORST_ETX:
            self.etx, self.failing = WORST_ETX / 2, 0  # back from the dead, on probation
        if self.heard + self.missed >= 5:  # noqa: PLR2004  # a window of beacons [4bit]
            self.learn((self.heard + self.missed) / self.heard)
            self.heard = self.missed = 0

    def tried(self, tries: int, *, acknowledged: bool) -> None:
        """Learn from a unicast."""
        if acknowledged:
            self.failing = 0
            self.learn(float(tries))
        else:
            self.failing += tries
            self.etx = min(max(self.etx, float(self.failing)), WORST_ETX)

    def learn(self, etx: float) -> None:
        """Move the estimate towards one observation."""
        self.etx = ETX_KEEP * self.etx + (1.0 - ETX_KEEP) * etx


@lru_cache(maxsize=4096)
def guessed_etx(signal_dbm: float) -> float:
    """Guess a link by the strength of the first frame heard over it, the same both ways.

    Source: the physical layer's bit of [4bit], made gradual.
    """
    share = math.exp(log_success(signal_dbm - NOISE_DBM) * FRAME_SIZE_BYTES)
    return 1.0 / max(share * share, 1.0 / WORST_GUESS_ETX)


class Mote:
    """One node while the simulation runs.

    Args:
        index: its address on the air, two bytes.
        rng: its own chances: drift, phases, jitter.
    """

    def __init__(self, index: int, spec: MoteSpec, rng: Random, born_s: float) -> None:
        self.index = index
        self.spec = spec
        self.rng = rng
        self.born_s = born_s
        self.idle_mw = idle_mw(spec.wake_s)
        self.spent_mj = 0.0
        self.sent_bytes = 0
        self.by_query: dict[int, list[float]] = {}
        self.links: dict[int, RadioLink] = {}
        self.sleepiest_s = 0.0
        self.clock = Clock(rng, born_s, perfect=spec.base)
        self.battery_begun_mj = 0.0  # spent when its present battery was put in
        self.alive = True
        self.generation = self.reboots = 0
        self.number = 0  # kept in flash: a reboot must not repeat numbers
        self.forget()

    def forget(self) -> None:
        """Lose everything held in RAM, as a reboot does."""
        self.neighbours: dict[int, Neighbour] = {}
        self.parent = -1
        self.cost = 0.0 if self.spec.base else NOWHERE
        self.hops = 0
        self.beacons = 0
        self.busy_s = 0.0
        self.queue: list[Packet] = []
        self.seen: dict[tuple[int, int, int], None] = {}
        self.down: dict[int, int] = {}
        self.installed = 0  # the last change of programs it has applied
        self.interval_s = 0.0
        self.overheard = 0
        self.asks_s = 0.0  # until then it does not ask its neighbours again
        self.listening = False
        self.generation += 1
        self.reboots += 1
        self.state: dict[Any, Any] = {}

    @property
    def base(self) -> bool:
        """Whether it is a base station."""
        return self.spec.base

    @property
    def wake_s(self) -> float:
        """Seconds between two looks at the channel."""
        return self.spec.wake_s

    def energy_mj(self, now_s: float) -> float:
        """Returns what it has spent so far, quiet seconds included, dead ones not."""
        if not self.alive:
            return self.spent_mj
        return self.spent_mj + self.idle_mw * max(now_s - self.born_s, 0.0)

    def battery_left_mj(self, now_s: float) -> float:
        """Returns what its battery still holds; nothing once it is flat."""
        used_mj = self.energy_mj(now_s) - self.battery_begun_mj
        return max(self.spec.battery_mj - used_mj, 0.0)

    def die(self, now_s: float) -> None:
        """Stop: it neither sends nor hears nor spends."""
        self.spent_mj = self.energy_mj(now_s)
        self.alive = False

    def live(self, now_s: float) -> None:
        """Start again with a fresh battery and an empty memory."""
        self.alive = True
        self.born_s = now_s
        self.battery_begun_mj = self.spent_mj
        self.forget()

    def charge(self, query: int, sent_bytes: int, energy_mj: float) -> None:
        """Book what it spends on a query; 0 is the network itself."""
        self.spent_mj += energy_mj
        self.sent_bytes += sent_bytes
        account = self.by_query.get(query)
        if account is None:
            self.by_query[query] = [sent_bytes, energy_mj]
        else:
            account[0] += sent_bytes
            account[1] += energy_mj

    def take_number(self) -> int:
        """Returns the number of its next packet."""
        self.number += 1
        return self.number
