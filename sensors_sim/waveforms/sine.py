"""Sine: a value that swings around a middle, like a day's temperature.

╭─╮   ╭
│ │   │
   ╰─╯
"""

from __future__ import annotations

import math

from sensors_sim.waveforms.base import NOISE, Parameters, Waveform, WaveformField, noisy


def swing(parameters: Parameters, at_s: float) -> float:
    """Returns the value at a time; at `phase_s` it passes its middle, rising."""
    swung = math.sin(math.tau * (at_s - parameters["phase_s"]) / parameters["cycle_s"])
    return float(parameters["middle"] + parameters["amplitude"] * swung)


SINE = Waveform(
    "sine",
    "sine wave",
    {
        "middle": WaveformField("the value it swings around", in_unit=True),
        "amplitude": WaveformField("how far it swings to either side", 1.0),
        "cycle_s": WaveformField("seconds for one swing there and back", 600.0, least=1.0),
        "phase_s": WaveformField("seconds by which the swing is late", 0.0),
        "noise": NOISE,
    },
    noisy(swing),
)
