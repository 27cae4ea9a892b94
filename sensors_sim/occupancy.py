"""Occupancy: who sits at which machine, so that its seat and its processor tell one story.

Each machine alternates between free and taken, for exponentially distributed times; a few compute
on when nobody is there. Every machine draws from its own stream of chance: adding one machine
changes no other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

MEAN_TAKEN_S = 600.0
MEAN_FREE_S = 480.0
LEAST_STAY_S = 30.0
IDLE_W, BUSY_W = 45.0, 120.0  # a desktop computer [own]
COMPUTES_ALONE = 0.04  # share of free spells in which a job runs on
COMPUTES_FROM_PCT = 90.0  # busier than anybody who sits there makes it
LEAST_PERSON_KG, GREATEST_PERSON_KG = 48.0, 105.0


@dataclass
class Workplace:
    """A machine and its seat.

    Args:
        until_s: when this spell ends.
        weight_kg: of whoever sits there; 0 when nobody does.
        busy_pct: what the processor does on average in this spell.
    """

    mid: str
    rng: Random
    until_s: float
    weight_kg: float = 0.0
    busy_pct: float = 3.0

    @property
    def taken(self) -> bool:
        """Whether somebody sits there."""
        return self.weight_kg > 0.0

    def turn(self, at_s: float) -> None:
        """End the spell: a free seat is taken, a taken one left."""
        self._begin(at_s, taken=not self.taken)

    def _begin(self, at_s: float, *, taken: bool) -> None:
        mean_s = MEAN_TAKEN_S if taken else MEAN_FREE_S
        self.until_s = at_s + LEAST_STAY_S + self.rng.expovariate(1.0 / mean_s)
        if taken:
            self.weight_kg = self.rng.uniform(LEAST_PERSON_KG, GREATEST_PERSON_KG)
            self.busy_pct = self.rng.uniform(8.0, 55.0)
        else:
            self.weight_kg = 0.0
            alone = self.rng.random() < COMPUTES_ALONE
            self.busy_pct = 96.0 if alone else self.rng.uniform(1.0, 6.0)

    def seat_kg(self, rng: Random) -> float:
        """Weigh the seat: a person shifts, an empty cushion drifts a little."""
        if self.taken:
            return self.weight_kg + rng.gauss(0.0, 1.5)
        return abs(rng.gauss(0.0, 0.3))

    def cpu_pct(self, rng: Random) -> float:
        """Measure the processor: log-normal bursts around the spell's average."""
        if self.busy_pct > COMPUTES_FROM_PCT:
            return self.busy_pct + rng.gauss(0.0, 1.5)
        return min(78.0, self.busy_pct * math.exp(rng.gauss(0.0, 0.35)))

    def watts(self, rng: Random) -> float:
        """Meter the plug: what a desktop takes idle, and more the harder it computes."""
        return IDLE_W + BUSY_W * self.cpu_pct(rng) / 100.0 + rng.gauss(0.0, 0.5)


def workplace_of(mid: str, seed: int, at_s: float = 0.0) -> Workplace:
    """Begin a machine's story somewhere in the middle of a spell."""
    rng = Random(f"{seed}/machine/{mid}")
    workplace = Workplace(mid, rng, at_s)
    taken = rng.random() < MEAN_TAKEN_S / (MEAN_TAKEN_S + MEAN_FREE_S)
    workplace._begin(at_s, taken=taken)  # noqa: SLF001  # the constructor of its own module
    return workplace
