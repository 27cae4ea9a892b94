"""Faults: what a simulated sensor gets wrong, so that people can see what the building makes of it.

A fault begins when it is set. It stands behind the waveform, whatever that is: the simulated people
still sit on a chair whose sensor is stuck.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

Wrong = Callable[[float, float], float | None]
"""The value reported for a true one at a time, s; None: nothing is reported."""
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to be wrong.

    Args:
        key: stable name.
        label: for people.
        amount: what its amount means; empty where it has none.
        begin: begins it at a time.
        usual: the amount where none is given.
        greatest: largest amount; the smallest is its negative, or 0 where that means nothing.
    """

    key: str
    label: str
    amount: str
    begin: Callable[[float, float, Random], Wrong]
    usual: float = 0.0
    greatest: float = 1e9


def _stuck(_amount: float, _began_s: float, _rng: Random) -> Wrong:
    held: list[float] = []

    def report(value: float, _at_s: float) -> float:
        held.append(value)
        del held[1:]
        return held[0]

    return report


def _dropout(amount: float, _began_s: float, rng: Random) -> Wrong:
    return lambda value, _: None if rng.random() < amount else value


def _drift(amount: float, began_s: float, _rng: Random) -> Wrong:
    return lambda value, at_s: value + amount * (at_s - began_s) / HOUR_S


def _noise(amount: float, _began_s: float, rng: Random) -> Wrong:
    return lambda value, _: value + rng.gauss(0.0, abs(amount))


def _offset(amount: float, _began_s: float, _rng: Random) -> Wrong:
    return lambda value, _: value + amount


FAULTS = {
    one.key: one
    for one in (
        Fault("stuck", "stuck: repeats one value", "", _stuck),
        Fault(
            "dropout",
            "dropout: readings are lost",
            "share that is lost, 0 to 1",
            _dropout,
            0.5,
            1.0,
        ),
        Fault("drift", "drift: moves away slowly", "how far in an hour, in its unit", _drift, 5.0),
        Fault("noise", "noise: jumps about", "standard deviation, in its unit", _noise, 5.0),
        Fault("offset", "offset: always off by as much", "how far off, in its unit", _offset, 5.0),
    )
}
