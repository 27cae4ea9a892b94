"""Radio: what one frame over one link takes in bytes, energy and time.

    unicast     ▁backoff▁▂▂strobe▂▂███frame▁ack      half the receiver's wake interval of strobes
    broadcast   ▁backoff▁▂▂▂▂▂▂▂▂▂▂▂▂▂███frame       a whole one: the sleepiest must have looked

Law:    more payload or a sleepier receiver never takes less.
Source: constants as named in `aspen.motes.hardware`; BoX-MAC for strobes.
"""

from __future__ import annotations

from dataclasses import dataclass

from aspen.motes.hardware import (
    ACK_BYTES,
    BACKOFF_S,
    CHECK_S,
    CYCLES_PER_OPERATOR,
    FRAME_BYTES,
    MCU_ACTIVE_MA,
    MCU_HZ,
    RADIO_BITS_PER_S,
    RADIO_RX_MA,
    SLEEP_MA,
    SUPPLY_V,
    TURNAROUND_S,
)

BYTE_S = 8 / RADIO_BITS_PER_S
RX_MW = RADIO_RX_MA * SUPPLY_V
OPERATOR_MJ = MCU_ACTIVE_MA * SUPPLY_V * CYCLES_PER_OPERATOR / MCU_HZ


@dataclass(frozen=True, slots=True)
class Transfer:
    """One transmission of one frame.

    Args:
        duration_s: from the decision to send to the last bit, the acknowledgement included.
        sent_mj: spent by the sender.
        heard_mj: spent by each receiver.
        size_bytes: of the frame on the air; strobes repeat it and are counted as time only.
    """

    duration_s: float
    sent_mj: float
    heard_mj: float
    size_bytes: float


def unicast(payload_bytes: float, tx_ma: float, wake_s: float) -> Transfer:
    """Returns the price of one attempt to hand a payload to one neighbour.

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


def broadcast(payload_bytes: float, tx_ma: float, wake_s: float) -> Transfer:
    """Returns the price of one broadcast, which nobody acknowledges.

    Args:
        wake_s: of the sleepiest neighbour: it lasts until that one has looked.
    """
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
