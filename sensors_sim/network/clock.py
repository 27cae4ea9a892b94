"""Clocks: a watch crystal that runs fast or slow, set right by whatever comes from nearer the base.

    true     |----|----|----|----|
    mote     |-----|-----|---sync|----|      drift 30 ppm: 1.8 ms in a minute

Law: right after a beacon or an acknowledgement of the parent the error is the parent's plus the
jitter of one time stamp.
"""

from __future__ import annotations

from random import Random

from sensors_sim.constants import DRIFT_PPM, SYNC_JITTER_S


class Clock:
    """One mote's clock.

    Args:
        rng: gives the crystal its error.
        at_s: when it is switched on; it is set by whoever installs the mote.
        perfect: a base station's, kept by the wired network.
    """

    __slots__ = ("_error_s", "_rng", "_set_s", "drift")

    def __init__(self, rng: Random, at_s: float, *, perfect: bool = False) -> None:
        self.drift = 0.0 if perfect else rng.gauss(0.0, DRIFT_PPM) * 1e-6
        self._rng = rng
        self._error_s = 0.0
        self._set_s = at_s

    def error_s(self, now_s: float) -> float:
        """Returns how far it is ahead."""
        return self._error_s + self.drift * (now_s - self._set_s)

    def when_s(self, local_s: float, now_s: float) -> float:
        """Returns the true time at which it will show a local time."""
        return local_s - self.error_s(now_s)

    def synchronise(self, now_s: float, other: Clock) -> None:
        """Take over another clock's time, as well as a time stamp can carry it."""
        self._error_s = other.error_s(now_s) + self._rng.gauss(0.0, SYNC_JITTER_S)
        self._set_s = now_s
