"""Square: high for a share of each cycle, low for the rest, like a lamp or a chair.

┌──┐ ┌──┐
┘  └─┘  └
"""

from __future__ import annotations

from random import Random

from sensors_sim.waveforms.base import Parameters, Sample, Waveform, WaveformField


def start(parameters: Parameters, rng: Random) -> Sample:
    """Begin: a cycle starts at time `phase_s`, high first."""
    high, low, share = parameters["high"], parameters["low"], parameters["share"]
    cycle_s, phase_s, noise = parameters["cycle_s"], parameters["phase_s"], parameters["noise"]

    def sample(at_s: float) -> float:
        phase = ((at_s - phase_s) / cycle_s) % 1.0
        return float((high if phase < share else low) + rng.gauss(0.0, noise))

    return sample


SQUARE = Waveform(
    "square",
    "on and off",
    {
        "high": WaveformField("the value while on", in_unit=True),
        "low": WaveformField("the value while off", in_unit=True),
        "cycle_s": WaveformField("seconds from one switching on to the next", 60.0, least=1.0),
        "share": WaveformField("share of the cycle spent on, 0 to 1", 0.5),
        "phase_s": WaveformField("seconds by which the first cycle is late", 0.0),
        "noise": WaveformField("standard deviation of the noise", 0.0),
    },
    start,
)
