"""Radio: what one frame over one link takes in bytes, energy and time, and how often it is sent.

    unicast     ▁backoff▁▂▂strobe▂▂███frame▁ack      half the receiver's wake interval of strobes
    broadcast   ▁backoff▁▂▂▂▂▂▂▂▂▂▂▂▂▂███frame       a whole one: the sleepiest must have looked

A frame that is not acknowledged is sent again, so a link's expected transmissions multiply both.
Idle listening is charged to nobody: motes look at the channel whatever runs.

Law: more payload, a sleepier receiver or a worse link never takes less.
Source: constants as named; BoX-MAC (Moss and Levis, SING-08-00) for strobes; ETX (De Couto et al.,
MobiCom 2003) for repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

SUPPLY_V = 3.0  # two AA cells, TelosB data sheet (Crossbow 6020-0094-01)
RADIO_TX_MA = 17.4  # CC2420 data sheet (SWRS041), transmit at 0 dBm
RADIO_RX_MA = 18.8  # CC2420 data sheet, receive
RADIO_BITS_PER_S = 250_000  # IEEE 802.15.4 at 2.4 GHz
MCU_MA = 1.8  # TelosB data sheet, microcontroller active
MCU_HZ = 4_000_000  # MSP430F1611 at its usual DCO setting; own choice, up to 8 MHz
CYCLES_PER_OPERATOR = 100  # own guess: soft-float comparison on a 16-bit core; ±50 %

FRAME_BYTES = 26  # 802.15.4: 6 PHY + 11 MAC, short addresses; 9 network (CTP, TEP 123, 3.2)
ACK_BYTES = 15  # 802.15.4: 6 PHY + 5 acknowledgement; own: 4 for a time stamp
PAYLOAD_BYTES = 107  # aMaxPHYPacketSize 127 less MAC and network headers
BACKOFF_MS = 2.24  # IEEE 802.15.4 CSMA-CA: mean 3.5 initial backoff periods of 0.32 ms, twice
TURNAROUND_MS = 0.192  # 802.15.4: 12 symbols from transmitting to receiving
WAKE_S = 0.25  # own choice: a mote on batteries looks at the channel four times a second
GREATEST_TRIES = 8  # own choice: transmissions of one frame over one link

# One sample, by device kind: milliampere and seconds while the sensor is powered.
SAMPLE_MA_S = {
    "temperature": (0.55, 0.320),  # Sensirion SHT1x data sheet, 14 bit
    "light": (0.7, 0.010),  # photodiode on the ADC; own guess
    "seat": (2.0, 0.020),  # load cell bridge of 1.5 kΩ at 3 V, settling; own guess
    "energy": (1.0, 0.050),  # metering chip's register over a bus; own guess
    "door": (0.001, 0.001),  # reed switch; own guess
    "rfid": (0.0, 0.0),  # what the radio hears anyway
    "cpu": (0.0, 0.0),  # a soft sensor costs the machine, no battery
}
OTHER_SAMPLE_MA_S = (1.0, 0.020)  # own guess for a device that the table does not know

BYTE_MS = 8 * 1000 / RADIO_BITS_PER_S
RX_MW = RADIO_RX_MA * SUPPLY_V
TX_MJ_PER_BYTE = RADIO_TX_MA * SUPPLY_V * BYTE_MS / 1000
RX_MJ_PER_BYTE = RX_MW * BYTE_MS / 1000
OPERATOR_MJ = MCU_MA * SUPPLY_V * CYCLES_PER_OPERATOR / MCU_HZ


@dataclass(frozen=True, slots=True)
class Frame:
    """One transmission of one frame.

    Args:
        size_bytes: on the air; strobes repeat it and are counted as time and energy only.
        energy_mj: of the sender and of everybody who hears it.
        lasts_ms: from the decision to send to the last bit.
    """

    size_bytes: float
    energy_mj: float
    lasts_ms: float


@lru_cache(maxsize=4096)
def unicast(payload_bytes: float, wake_s: float = WAKE_S, tx_ma: float = RADIO_TX_MA) -> Frame:
    """Price one attempt to hand a payload to one neighbour.

    Args:
        wake_s: between two looks of the receiver at the channel; 0 when it always listens.
    """
    size = FRAME_BYTES + payload_bytes
    air_s, ack_s, strobe_s = size * BYTE_MS / 1000, ACK_BYTES * BYTE_MS / 1000, wake_s / 2
    tx_mw = tx_ma * SUPPLY_V
    sent_mj = (strobe_s + air_s) * tx_mw + (TURNAROUND_MS / 1000 + ack_s) * RX_MW
    heard_mj = air_s * RX_MW + ack_s * tx_mw
    lasts_ms = BACKOFF_MS + TURNAROUND_MS + 1000 * (strobe_s + air_s + ack_s)
    return Frame(size, sent_mj + heard_mj, lasts_ms)


def broadcast(
    payload_bytes: float, hearers: float, wake_s: float = WAKE_S, tx_ma: float = RADIO_TX_MA
) -> Frame:
    """Price one broadcast; nobody acknowledges it.

    Args:
        hearers: motes expected to receive it: each pays for it.
        wake_s: of the sleepiest of them.
    """
    size = FRAME_BYTES + payload_bytes
    air_s = size * BYTE_MS / 1000
    sent_mj = (wake_s + air_s) * tx_ma * SUPPLY_V
    return Frame(size, sent_mj + hearers * air_s * RX_MW, BACKOFF_MS + 1000 * (wake_s + air_s))


def tries(etx: float) -> float:
    """Returns the transmissions a frame is expected to take, when no more than eight are made.

    Args:
        etx: one over the chance that frame and acknowledgement both arrive, at least 1.
    """
    return etx * (1.0 - (1.0 - 1.0 / etx) ** GREATEST_TRIES)


def sample_mj(device: str) -> float:
    """Returns the energy of one sample of a device kind."""
    current_ma, powered_s = SAMPLE_MA_S.get(device, OTHER_SAMPLE_MA_S)
    return (current_ma + MCU_MA) * SUPPLY_V * powered_s
