"""Constant: one value, with a little noise.

────────
"""

from __future__ import annotations

from random import Random

from sensors_sim.waveforms.base import Parameters, Sample, Waveform, WaveformField


def start(parameters: Parameters, rng: Random) -> Sample:
    """Begin: every sample is the value plus normal noise."""
    value, noise = parameters["value"], parameters["noise"]

    def sample(_: float) -> float:
        return float(value + rng.gauss(0.0, noise))

    return sample


CONSTANT = Waveform(
    "constant",
    "constant value",
    {
        "value": WaveformField("what it measures", in_unit=True),
        "noise": WaveformField("standard deviation of the noise", 0.0),
    },
    start,
)
