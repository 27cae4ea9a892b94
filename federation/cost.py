"""Costs, with units: what it takes to bring a stream from its motes to the engine.

Figures come from data sheets where one is named; the others are our own guesses, uncalibrated
until the simulator or a real network measures them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Expr, parts
from aspen.algebra.plan import Filter, Plan, children
from aspen.model.schema import Column, Type
from federation.statistics import Statistics, share

SUPPLY_V = 3.0  # two AA cells, TelosB data sheet (Crossbow 6020-0094-01)
RADIO_TX_MA = 17.4  # CC2420 data sheet (SWRS041), transmit at 0 dBm
RADIO_RX_MA = 18.8  # CC2420 data sheet, receive
RADIO_BITS_PER_S = 250_000  # IEEE 802.15.4 at 2.4 GHz
MCU_MA = 1.8  # TelosB data sheet, microcontroller active
MCU_HZ = 4_000_000  # MSP430F1611 at its usual DCO setting; own choice, up to 8 MHz
CYCLES_PER_OPERATOR = 100  # own guess: soft-float comparison on a 16-bit core; ±50 %

FRAME_BYTES = 17  # IEEE 802.15.4: 6 PHY (preamble, delimiter, length) + 11 MAC, short addresses
TYPE_BYTES = {Type.INT: 4, Type.FLOAT: 4, Type.BOOL: 1, Type.TEXT: 8}  # own packing, ids of ≤ 8 B

HOPS = 2.5  # own guess: mean path of a mote to the gateway, a floor with hallway motes
BACKOFF_MS = 2.24  # IEEE 802.15.4 CSMA-CA: mean 3.5 initial backoff periods of 0.32 ms, twice
MICRO_BATCH_MS = 235.0  # measured: transformWithState on one key, 220 to 250 ms

_BIT_MS = 1000 / RADIO_BITS_PER_S
TX_MJ_PER_BYTE = RADIO_TX_MA * SUPPLY_V * 8 * _BIT_MS / 1000
RX_MJ_PER_BYTE = RADIO_RX_MA * SUPPLY_V * 8 * _BIT_MS / 1000
OPERATOR_MJ = MCU_MA * SUPPLY_V * CYCLES_PER_OPERATOR / MCU_HZ


@dataclass(frozen=True, slots=True)
class Cost:
    """What running something takes, per second of its life; unlike things are never added here.

    Args:
        bytes_per_s: bytes on the air, every hop counted.
        energy_mj_per_s: energy the motes spend.
        latency_ms: from measurement to the engine's answer.
    """

    bytes_per_s: float = 0.0
    energy_mj_per_s: float = 0.0
    latency_ms: float = 0.0

    def beside(self, other: Cost) -> Cost:
        """Give the cost of both at once: loads add up, the slower one is waited for."""
        return Cost(
            self.bytes_per_s + other.bytes_per_s,
            self.energy_mj_per_s + other.energy_mj_per_s,
            max(self.latency_ms, other.latency_ms),
        )

    def __str__(self) -> str:
        return (
            f"{self.bytes_per_s:.1f} B/s, {self.energy_mj_per_s:.3f} mJ/s, {self.latency_ms:.1f} ms"
        )


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each kind of cost matters; the only place where unlike things are added.

    Batteries come first: one mJ/s counts as much as 1,000 B/s or a second of waiting.
    """

    per_byte_per_s: float = 0.001
    per_mj_per_s: float = 1.0
    per_ms: float = 0.001

    def total(self, cost: Cost) -> float:
        """Give one number to compare by; it has no unit."""
        return (
            self.per_byte_per_s * cost.bytes_per_s
            + self.per_mj_per_s * cost.energy_mj_per_s
            + self.per_ms * cost.latency_ms
        )


def row_bytes(columns: Sequence[Column]) -> int:
    """Give the bytes of one row on the air, one frame per row."""
    return FRAME_BYTES + sum(TYPE_BYTES[column.type] for column in columns)


def operators(expr: Expr) -> int:
    """Count what a mote computes for one row."""
    return (1 if parts(expr) else 0) + sum(operators(part) for part in parts(expr))


def in_network(plan: Plan, stream: str, statistics: Statistics) -> Cost:
    """Give the cost of running a chain of selections on the motes and sending what is left.

    Args:
        plan: Filters and Projects over the scan of `stream`.
    """
    sampled = statistics.rate_hz(stream)
    sent = sampled
    computing_mj = 0.0
    for node in _upwards(plan):
        if isinstance(node, Filter):
            computing_mj += sent * operators(node.predicate) * OPERATOR_MJ
            sent *= statistics.shares.get(_spelt(node), share(node.predicate))
    size = row_bytes(plan.columns)
    on_air = sent * size * HOPS
    radio_mj = on_air * (TX_MJ_PER_BYTE + RX_MJ_PER_BYTE)
    hop_ms = BACKOFF_MS + size * 8 * _BIT_MS
    return Cost(on_air, computing_mj + radio_mj, HOPS * hop_ms + MICRO_BATCH_MS)


def rows_per_s(plan: Plan, stream: str, statistics: Statistics) -> float:
    """Give the rows per second a chain lets through."""
    rate = statistics.rate_hz(stream)
    for node in _upwards(plan):
        if isinstance(node, Filter):
            rate *= statistics.shares.get(_spelt(node), share(node.predicate))
    return rate


def _upwards(plan: Plan) -> list[Plan]:
    chain = [plan]
    while children(chain[-1]):
        chain.append(children(chain[-1])[0])
    return chain[::-1]


def _spelt(node: Filter) -> str:
    return expr_text(node.predicate)
