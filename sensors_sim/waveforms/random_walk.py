"""Random walk: drifts by chance and is drawn back to a middle the stronger the further it went.

Source: own; the discrete Ornstein-Uhlenbeck process, so that it does not wander off for ever.
"""

from __future__ import annotations

import math
from random import Random

from sensors_sim.waveforms.base import Parameters, Sample, Waveform, WaveformField


def start(parameters: Parameters, rng: Random) -> Sample:
    """Begin at the middle."""
    middle, spread, memory_s = parameters["middle"], parameters["spread"], parameters["memory_s"]
    value = float(middle)
    last_s = 0.0

    def sample(at_s: float) -> float:
        nonlocal value, last_s
        kept = math.exp(-(at_s - last_s) / memory_s)
        value = middle + (value - middle) * kept + rng.gauss(0.0, spread) * math.sqrt(1 - kept**2)
        last_s = at_s
        return float(value)

    return sample


RANDOM_WALK = Waveform(
    "random_walk",
    "random walk",
    {
        "middle": WaveformField("the value it returns to", in_unit=True),
        "spread": WaveformField("standard deviation over a long time", 1.0),
        "memory_s": WaveformField(
            "seconds after which it has mostly forgotten where it was", 300.0, least=1.0
        ),
    },
    start,
)
