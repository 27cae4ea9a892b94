"""Sine: a value that swings around a middle, like a day's temperature.

╭─╮   ╭
│ │   │
   ╰─╯
"""

from __future__ import annotations

import math
from random import Random

from sensors_sim.waveforms.base import Parameters, Sample, Waveform, WaveformField


def start(parameters: Parameters, rng: Random) -> Sample:
    """Begin: at time `phase_s` the swing passes its middle, rising."""
    middle, amplitude = parameters["middle"], parameters["amplitude"]
    cycle_s, phase_s, noise = parameters["cycle_s"], parameters["phase_s"], parameters["noise"]

    def sample(at_s: float) -> float:
        swing = math.sin(math.tau * (at_s - phase_s) / cycle_s)
        return float(middle + amplitude * swing + rng.gauss(0.0, noise))

    return sample


SINE = Waveform(
    "sine",
    "sine wave",
    {
        "middle": WaveformField("the value it swings around", in_unit=True),
        "amplitude": WaveformField("how far it swings to either side", 1.0),
        "cycle_s": WaveformField("seconds for one swing there and back", 600.0, least=1.0),
        "phase_s": WaveformField("seconds by which the swing is late", 0.0),
        "noise": WaveformField("standard deviation of the noise", 0.0),
    },
    start,
)
