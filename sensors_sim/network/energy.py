"""Energy: what a frame, a computation, a sample and a quiet second cost a mote, in millijoules.

    sending n bytes to a sleeper   ▂▂▂▂▂▂▂▂▂▂▂▂▂███  strobes half its wake interval, then n bytes
    its radio                      ▁_____▁_____▁███  a look now and then, then n bytes

Law: a mote's account only grows; the accounts of all queries and kinds add up to what radios spent.
Source: [TelosB], [CC2420], [BoX-MAC] in `sensors_sim.constants`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sensors_sim.constants import (
    ACK_BYTES,
    BACKOFF_S,
    CHECK_S,
    CYCLES_PER_OPERATOR,
    FRAME_BYTES,
    MCU_ACTIVE_MA,
    MCU_HZ,
    OTHER_SAMPLE_MA_S,
    RADIO_BITS_PER_S,
    RADIO_RX_MA,
    SAMPLE_MA_S,
    SLEEP_MA,
    SUPPLY_V,
    TURNAROUND_S,
)

BYTE_S = 8 / RADIO_BITS_PER_S
RX_MW = RADIO_RX_MA * SUPPLY_V
OPERATOR_MJ = MCU_ACTIVE_MA * SUPPLY_V * CYCLES_PER_OPERATOR / MCU_HZ


@dataclass(frozen=True, slots=True)
class Transfer:
    """One attempt to hand a frame to one neighbour.

    Args:
        duration_s: from the decision to send to the end of the acknowledgement.
        sent_mj: spent by the sender.
        heard_mj: spent by the receiver.
        size_bytes: of the frame on the air; strobes repeat it and are counted as time only.
    """

    duration_s: float
    sent_mj: float
    heard_mj: float
    size_bytes: int


def transfer(payload_bytes: int, tx_ma: float, wake_s: float) -> Transfer:
    """Price one attempt of a unicast.

    Args:
        payload_bytes: without headers.
        tx_ma: current while sending.
        wake_s: between two looks of the receiver at the channel; 0 when it always listens.
    """
    size = FRAME_BYTES + payload_bytes
    air_s, ack_s, strobe_s = size * BYTE_S, ACK_BYTES * BYTE_S, wake_s / 2
    tx_mw = tx_ma * SUPPLY_V
    return Transfer(
        BACKOFF_S + strobe_s + air_s + TURNAROUND_S + ack_s,
        (strobe_s + air_s) * tx_mw + (TURNAROUND_S + ack_s) * RX_MW,
        air_s * RX_MW + ack_s * tx_mw,
        size,
    )


def broadcast(payload_bytes: int, tx_ma: float, wake_s: float) -> Transfer:
    """Price one broadcast: it lasts until the sleepiest neighbour has looked; nobody answers."""
    size = FRAME_BYTES + payload_bytes
    air_s = size * BYTE_S
    return Transfer(
        BACKOFF_S + wake_s + air_s,
        (wake_s + air_s) * tx_ma * SUPPLY_V,
        air_s * RX_MW,
        size,
    )


def idle_mw(wake_s: float) -> float:
    """Returns what a mote draws while nothing happens: asleep, with looks at the channel."""
    if wake_s <= 0.0:
        return RX_MW
    share = min(CHECK_S / wake_s, 1.0)
    return share * RX_MW + (1.0 - share) * SLEEP_MA * SUPPLY_V


def sample_mj(device: str) -> float:
    """Returns the energy of one sample of a device kind."""
    current_ma, powered_s = SAMPLE_MA_S.get(device, OTHER_SAMPLE_MA_S)
    return (current_ma + MCU_ACTIVE_MA) * SUPPLY_V * powered_s


@dataclass(slots=True)
class Account:
    """What something has cost so far: frames, bytes on the air, energy of senders and receivers."""

    frames: int = 0
    sent_bytes: int = 0
    energy_mj: float = 0.0

    def add(self, frames: int, sent_bytes: int, energy_mj: float) -> None:
        """Charge it."""
        self.frames += frames
        self.sent_bytes += sent_bytes
        self.energy_mj += energy_mj


@dataclass(slots=True)
class Ledger:
    """The network's books: by kind of message and by query; query 0 is the network itself."""

    entries: dict[tuple[str, int], Account] = field(default_factory=dict)

    def charge(self, kind: str, query: int, frames: int, sent_bytes: int, energy_mj: float) -> None:
        """Write one exchange into the books."""
        account = self.entries.get((kind, query))
        if account is None:
            account = self.entries[kind, query] = Account()
        account.add(frames, sent_bytes, energy_mj)

    @property
    def by_kind(self) -> dict[str, Account]:
        """What every kind of message has cost so far."""
        found: dict[str, Account] = {}
        for (kind, _), one in self.entries.items():
            found.setdefault(kind, Account()).add(one.frames, one.sent_bytes, one.energy_mj)
        return found

    @property
    def by_query(self) -> dict[int, Account]:
        """What every query has cost so far."""
        found: dict[int, Account] = {}
        for (_, query), one in self.entries.items():
            found.setdefault(query, Account()).add(one.frames, one.sent_bytes, one.energy_mj)
        return found

    def of_query(self, query: int) -> dict[str, Account]:
        """What the messages of one query have cost so far, by kind."""
        return {kind: replace(one) for (kind, owner), one in self.entries.items() if owner == query}
