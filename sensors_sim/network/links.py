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
from random import Random
from typing import Protocol

import numpy as np
import shapely

from sensors_sim.constants import (
    ASYMMETRY_DB,
    AT_ONE_METRE_DB,
    FLOOR_DB,
    FLOOR_EXPONENT_B,
    NOISE_DBM,
    PATH_LOSS_EXPONENT,
    RADIO_TX_MA,
    SHADOWING_DB,
)
from sensors_sim.motes import MoteSpec, Wall

STOREY_M = 4.0
LEAST_SHARE = 0.1  # links that lose more than nine in ten beacons do not count
BEACON_BYTES = 36
_SIGNS = [((-1) ** k * math.comb(16, k), 1.0 / k - 1.0) for k in range(2, 17)]


def log_success(snr_db: float) -> float:
    """Give ln of the chance that one byte arrives whole."""
    snr = 10.0 ** (snr_db / 10.0)
    wrong = 8 / 15 / 16 * sum(sign * math.exp(20.0 * snr * power) for sign, power in _SIGNS)
    return 8.0 * math.log1p(-min(max(wrong, 0.0), 0.5))


@dataclass(frozen=True, slots=True)
class Link:
    """A direction between two motes.

    Args:
        log_byte: ln of the chance that one byte arrives; 0 for a link that loses nothing.
        signal_dbm: strength at the receiver.
    """

    log_byte: float
    signal_dbm: float = 0.0

    def share(self, size_bytes: int) -> float:
        """Give the share of frames of a size that arrive, 0 to 1."""
        return math.exp(self.log_byte * size_bytes)


class LinkModel(Protocol):
    """Says who hears whom."""

    @property
    def tx_ma(self) -> float:
        """Current while transmitting."""
        ...

    def links(
        self, motes: Sequence[MoteSpec], walls: Sequence[Wall], seed: int, only: str = ""
    ) -> dict[tuple[str, str], Link]:
        """Give the directed links, in an order that depends on nothing but the arguments.

        Args:
            only: give the links of this mote alone; empty for all.
        """
        ...


@dataclass(frozen=True, slots=True)
class Ideal:
    """Every frame arrives within a range on the same storey, none beyond. For laws and tests."""

    range_m: float = 30.0

    @property
    def tx_ma(self) -> float:
        """At full power."""
        return RADIO_TX_MA[0]

    def links(
        self, motes: Sequence[MoteSpec], walls: Sequence[Wall], seed: int, only: str = ""
    ) -> dict[tuple[str, str], Link]:
        """Join every pair near enough."""
        del walls, seed
        return {
            (one.mote, other.mote): Link(0.0)
            for one, other, _ in near_pairs(motes, self.range_m, 0, only)
        }


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
    ) -> dict[tuple[str, str], Link]:
        """Weigh every pair near enough."""
        pairs = [p for p in near_pairs(motes, self.range_m, 2, only) if p[0].mote < p[1].mote]
        crossed = walls_crossed([(one, other) for one, other, _ in pairs], walls)
        found: dict[tuple[str, str], Link] = {}
        for (one, other, away_m), walls_db in zip(pairs, crossed, strict=True):
            chance = Random(f"{seed}/link/{one.mote}/{other.mote}")
            loss_db = (
                AT_ONE_METRE_DB
                + 10.0 * PATH_LOSS_EXPONENT * math.log10(max(away_m, 1.0))
                + walls_db
                + ceilings_db(abs(one.storey - other.storey))
                + chance.gauss(0.0, self.shadowing_db)
                + self.fade_db
            )
            for src, dst in ((one, other), (other, one)):
                signal_dbm = self.power_dbm - loss_db + chance.gauss(0.0, ASYMMETRY_DB)
                link = Link(log_success(signal_dbm - NOISE_DBM), signal_dbm)
                if link.share(BEACON_BYTES) >= LEAST_SHARE:
                    found[src.mote, dst.mote] = link
        return found


def ceilings_db(storeys: int) -> float:
    """Give the loss through so many ceilings."""
    if storeys == 0:
        return 0.0
    power = (storeys + 2) / (storeys + 1) - FLOOR_EXPONENT_B
    return float(FLOOR_DB * storeys**power)


def near_pairs(
    motes: Sequence[MoteSpec], range_m: float, storeys: int, only: str
) -> list[tuple[MoteSpec, MoteSpec, float]]:
    """Give ordered pairs within a range, with their distance in metres, in order of the motes."""
    cells: dict[tuple[int, int], list[int]] = {}
    for index, mote in enumerate(motes):
        cell = (int(mote.x_m // range_m), int(mote.y_m // range_m))
        cells.setdefault(cell, []).append(index)
    found = []
    around_only = next((one for one in motes if one.mote == only), None)
    for mote in motes:
        if around_only is not None and (
            abs(mote.x_m - around_only.x_m) > range_m or abs(mote.y_m - around_only.y_m) > range_m
        ):
            continue
        cx, cy = int(mote.x_m // range_m), int(mote.y_m // range_m)
        around = [
            i for dx in (-1, 0, 1) for dy in (-1, 0, 1) for i in cells.get((cx + dx, cy + dy), ())
        ]
        for index in sorted(around):
            other = motes[index]
            if other is mote or (only and only not in (mote.mote, other.mote)):
                continue
            up = abs(other.storey - mote.storey)
            if up > storeys or (up == 0 and other.level != mote.level):
                continue
            away_m = math.dist(
                (mote.x_m, mote.y_m, STOREY_M * mote.storey),
                (other.x_m, other.y_m, STOREY_M * other.storey),
            )
            if away_m <= range_m:
                found.append((mote, other, away_m))
    return found


def walls_crossed(pairs: Sequence[tuple[MoteSpec, MoteSpec]], walls: Sequence[Wall]) -> list[float]:
    """Give the loss in dB through the walls each pair sees on its own level."""
    loss = np.zeros(len(pairs))
    by_level: dict[str, list[Wall]] = {}
    for wall in walls:
        by_level.setdefault(wall.level, []).append(wall)
    for level, standing in by_level.items():
        here = [i for i, (one, other) in enumerate(pairs) if one.level == other.level == level]
        if not here:
            continue
        tree = shapely.STRtree(
            shapely.linestrings([[(w.x1_m, w.y1_m), (w.x2_m, w.y2_m)] for w in standing])
        )
        sights = shapely.linestrings(
            [[(pairs[i][0].x_m, pairs[i][0].y_m), (pairs[i][1].x_m, pairs[i][1].y_m)] for i in here]
        )
        seen, crossed = tree.query(sights, predicate="intersects")
        losses = np.array([wall.loss_db for wall in standing])
        np.add.at(loss, np.array(here)[seen], losses[crossed])
    return [float(one) for one in loss]
