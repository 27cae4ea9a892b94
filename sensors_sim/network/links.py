"""Links: which mote hears which, and how often a frame of so many bytes arrives.

    loss(d) = 40.2 dB + 25 log10(d) + walls + ceilings + shadowing
    BER     = 8/15 · 1/16 · Σ_{k=2..16} (−1)^k C(16,k) exp(20 · SNR · (1/k − 1))
    PRR(n)  = (1 − BER)^(8 n)

Law: the same motes, walls and seed give the same links; a wall never makes a link better.
Source: log-distance loss with the multi-wall terms of [COST231]; bit errors of the 2.4 GHz
O-QPSK radio from IEEE 802.15.4-2006, annex E.4.1.8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import shapely
from numpy.typing import NDArray

from aspen.motes.hardware import RADIO_TX_MA
from sensors_sim.constants import (
    ASYMMETRY_DB,
    AT_ONE_METRE_DB,
    FLOOR_DB,
    FLOOR_EXPONENT_B,
    NOISE_DBM,
    PATH_LOSS_EXPONENT,
    SHADOWING_DB,
)
from sensors_sim.motes import MoteSpec, Wall

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

STOREY_M = 4.0
WORST_SNR_DB = -3.0  # below, not one frame in a thousand arrives
SNR_STEP_DB = 0.05
LEAST_SHARE = 0.1  # links that lose more than nine in ten beacons do not count
BEACON_BYTES = 36
_SIGNS = [((-1) ** k * math.comb(16, k), 1.0 / k - 1.0) for k in range(2, 17)]


def log_success(snr_db: float) -> float:
    """Returns ln of the chance that one byte arrives whole; the ratio is rounded to 0.05 dB."""
    return _log_success(round(snr_db / SNR_STEP_DB))


@lru_cache(maxsize=4096)
def _log_success(step: int) -> float:
    snr_db = step * SNR_STEP_DB
    snr = 10.0 ** (snr_db / 10.0)
    wrong = 8 / 15 / 16 * sum(sign * math.exp(20.0 * snr * power) for sign, power in _SIGNS)
    return 8.0 * math.log1p(-min(max(wrong, 0.0), 0.5))


@dataclass(frozen=True, slots=True)
class RadioLink:
    """A direction between two motes.

    Args:
        log_byte: ln of the chance that one byte arrives; 0 for a link that loses nothing.
        signal_dbm: strength at the receiver.
    """

    log_byte: float
    signal_dbm: float = 0.0

    def share(self, size_bytes: int) -> float:
        """Returns the share of frames of a size that arrive, 0 to 1."""
        return math.exp(self.log_byte * size_bytes)


@dataclass(frozen=True, slots=True)
class Radio:
    """CC2420 radios between walls.

    Args:
        power_dbm: output power, one of the data sheet's steps.
        range_m: pairs further apart are not even considered.
        shadowing_db: standard deviation per pair.
        fade_db: taken off every link, for experiments with loss.
    """

    power_dbm: int = 0
    range_m: float = 60.0
    shadowing_db: float = SHADOWING_DB
    fade_db: float = 0.0

    @property
    def tx_ma(self) -> float:
        """At the chosen power."""
        return RADIO_TX_MA[self.power_dbm]

    def links(
        self, motes: Sequence[MoteSpec], walls: Sequence[Wall], seed: int, only: str = ""
    ) -> dict[tuple[str, str], RadioLink]:
        """Returns the directed links, in an order that depends on nothing but the arguments.

        Args:
            only: give the links of this mote alone; empty for all.
        """
        one, other, away_m = near_pairs(motes, self.range_m, 2, only)
        names = [mote.mote for mote in motes]
        storeys = np.array([mote.storey for mote in motes], dtype=np.int64)
        chances = Chances(names, seed)
        apart = np.abs(storeys[one] - storeys[other])
        ceilings = np.array([ceilings_db(n) for n in range(int(apart.max(initial=0)) + 1)])
        loss_db = (
            AT_ONE_METRE_DB
            + 10.0 * PATH_LOSS_EXPONENT * np.log10(np.maximum(away_m, 1.0))
            + ceilings[apart]
            + self.shadowing_db * chances.normal(one, other, directed=False)
            + self.fade_db
        )
        there_db = loss_db - ASYMMETRY_DB * chances.normal(one, other, directed=True)
        back_db = loss_db - ASYMMETRY_DB * chances.normal(other, one, directed=True)
        # Walls are slow to count: not for pairs that would not hear each other without them.
        hopeful = np.minimum(there_db, back_db) <= self.power_dbm - NOISE_DBM - WORST_SNR_DB
        one, other = one[hopeful], other[hopeful]
        walls_db = walls_crossed(motes, one, other, walls)
        found: dict[tuple[str, str], RadioLink] = {}
        for src, dst, loss in (
            (one, other, there_db[hopeful] + walls_db),
            (other, one, back_db[hopeful] + walls_db),
        ):
            signal_dbm = self.power_dbm - loss
            for i, j, strength in zip(src.tolist(), dst.tolist(), signal_dbm.tolist(), strict=True):
                if strength - NOISE_DBM < WORST_SNR_DB:
                    continue
                link = RadioLink(log_success(strength - NOISE_DBM), strength)
                if link.share(BEACON_BYTES) >= LEAST_SHARE:
                    found[names[i], names[j]] = link
        return found


class Chances:
    """A normal draw for every pair of motes that depends on their names and a seed alone."""

    def __init__(self, names: Sequence[str], seed: int) -> None:
        digests = [blake2b(f"{seed}/{name}".encode(), digest_size=8).digest() for name in names]
        self._keys = np.frombuffer(b"".join(digests), dtype="<u8")

    def normal(self, one: Indices, other: Indices, *, directed: bool) -> Floats:
        """Returns one draw per pair; undirected ones are the same both ways.

        Source: splitmix64 [Steele et al., OOPSLA 2014] and Box-Muller.
        """
        a, b = self._keys[one], self._keys[other]
        mixed = a * np.uint64(3) + b if directed else a ^ b
        first, second = _mixed(mixed), _mixed(mixed + np.uint64(0x5851F42D4C957F2D))
        uniform = (first >> np.uint64(11)).astype(np.float64) / 2.0**53
        angle = (second >> np.uint64(11)).astype(np.float64) / 2.0**53
        normal: Floats = np.sqrt(-2.0 * np.log1p(-uniform)) * np.cos(2.0 * np.pi * angle)
        return normal


def _mixed(value: Words) -> Words:
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def ceilings_db(storeys: int) -> float:
    """Returns the loss through so many ceilings."""
    if storeys == 0:
        return 0.0
    power = (storeys + 2) / (storeys + 1) - FLOOR_EXPONENT_B
    return float(FLOOR_DB * storeys**power)


def near_pairs(
    motes: Sequence[MoteSpec], range_m: float, storeys: int, only: str = ""
) -> tuple[Indices, Indices, Floats]:
    """Returns pairs within a range, each once, with their distance in metres.

    Args:
        storeys: floors apart at most.
        only: give the pairs of this mote alone; empty for all.
    """
    x_m = np.array([mote.x_m for mote in motes])
    y_m = np.array([mote.y_m for mote in motes])
    storey = np.array([mote.storey for mote in motes], dtype=np.int64)
    level = np.unique([mote.level for mote in motes], return_inverse=True)[1]
    points = shapely.points(x_m, y_m)
    wanted = [index for index, mote in enumerate(motes) if only in ("", mote.mote)]
    # A millimetre more than the range: the distance below decides.
    found, other = shapely.STRtree(points).query(
        points[wanted], predicate="dwithin", distance=range_m + 0.001
    )
    one = np.array(wanted, dtype=np.int64)[found]
    kept = one != other if only else one < other
    one, other = one[kept], other[kept]
    up = np.abs(storey[other] - storey[one])
    away_m = np.sqrt(
        (x_m[other] - x_m[one]) ** 2 + (y_m[other] - y_m[one]) ** 2 + (STOREY_M * up) ** 2
    )
    kept = (away_m <= range_m) & (up <= storeys) & ((up > 0) | (level[other] == level[one]))
    one, other, away_m = one[kept], other[kept], away_m[kept]
    order = np.lexsort((other, one))
    return one[order], other[order], away_m[order]


def walls_crossed(
    motes: Sequence[MoteSpec], one: Indices, other: Indices, walls: Sequence[Wall]
) -> Floats:
    """Returns the loss in dB through the walls each pair sees on its own level."""
    loss = np.zeros(len(one))
    points = np.array([(mote.x_m, mote.y_m) for mote in motes])
    names = sorted({wall.level for wall in walls})
    numbers = {name: number for number, name in enumerate(names)}
    level = np.array([numbers.get(mote.level, -1) for mote in motes], dtype=np.int64)
    for number, name in enumerate(names):
        standing = [wall for wall in walls if wall.level == name]
        (here,) = np.nonzero((level[one] == number) & (level[other] == number))
        if not len(here):
            continue
        ends = [[(w.x1_m, w.y1_m), (w.x2_m, w.y2_m)] for w in standing]
        tree = shapely.STRtree(shapely.linestrings(ends))
        sights = shapely.linestrings(np.stack([points[one[here]], points[other[here]]], axis=1))
        seen, crossed = tree.query(sights, predicate="intersects")
        np.add.at(loss, here[seen], np.array([wall.loss_db for wall in standing])[crossed])
    return loss
