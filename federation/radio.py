"""Radio: what handing a frame on is expected to take, and how often it is sent.

A frame that is not acknowledged is sent again, so a link's expected transmissions multiply bytes,
energy and time. Idle listening is charged to no fragment: motes look at the channel whatever runs.

Law: more payload, a sleepier receiver or a worse link never takes less.
Source: `aspen.motes.radio` for one transmission; ETX (De Couto et al., MobiCom 2003).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from aspen.motes import radio
from aspen.motes.hardware import GREATEST_TRIES, RADIO_TX_MA, WAKE_S

TX_MA = RADIO_TX_MA[0]
"""Current while sending, where nobody says how loud the motes are."""


@dataclass(frozen=True, slots=True)
class RadioFrame:
    """One transmission of one frame, or the sum of several.

    Args:
        size_bytes: on the air; strobes repeat it and are counted as time and energy only.
        energy_mj: of the sender and of everybody who hears it.
        lasts_ms: from the decision to send to the last bit.
    """

    size_bytes: float = 0.0
    energy_mj: float = 0.0
    lasts_ms: float = 0.0

    def times(self, many: float) -> RadioFrame:
        """Returns what it takes so often."""
        return RadioFrame(many * self.size_bytes, many * self.energy_mj, many * self.lasts_ms)


def total(frames: Iterable[RadioFrame]) -> RadioFrame:
    """Returns what some frames take, one after the other."""
    every = list(frames)
    return RadioFrame(
        sum(one.size_bytes for one in every),
        sum(one.energy_mj for one in every),
        sum(one.lasts_ms for one in every),
    )


@lru_cache(maxsize=4096)
def unicast(payload_bytes: float, wake_s: float = WAKE_S, tx_ma: float = TX_MA) -> RadioFrame:
    """Returns the price of one attempt to hand a payload to one neighbour.

    Args:
        wake_s: between two looks of the receiver at the channel; 0 when it always listens.
    """
    one = radio.unicast(payload_bytes, tx_ma, wake_s)
    return RadioFrame(one.size_bytes, one.sent_mj + one.heard_mj, 1000 * one.duration_s)


def broadcast(
    payload_bytes: float, hearers: float, wake_s: float = WAKE_S, tx_ma: float = TX_MA
) -> RadioFrame:
    """Returns the price of one broadcast; nobody acknowledges it.

    Args:
        hearers: motes expected to receive it: each pays for it.
        wake_s: of the sleepiest of them.
    """
    one = radio.broadcast(payload_bytes, tx_ma, wake_s)
    return RadioFrame(one.size_bytes, one.sent_mj + hearers * one.heard_mj, 1000 * one.duration_s)


def tries(etx: float) -> float:
    """Returns the transmissions a frame is expected to take; no more than so many are made.

    Args:
        etx: one over the chance that frame and acknowledgement both arrive, at least 1.
    """
    return etx * (1.0 - (1.0 - 1.0 / etx) ** GREATEST_TRIES)
