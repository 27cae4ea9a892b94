"""Square: high for a share of each cycle, low for the rest, like a lamp or a chair.

┌──┐ ┌──┐
┘  └─┘  └
"""

from __future__ import annotations

from sensors_sim.waveforms.base import NOISE, Parameters, Waveform, WaveformField, noisy


def level(parameters: Parameters, at_s: float) -> float:
    """Returns the value at a time; a cycle starts at `phase_s`, high first."""
    phase = ((at_s - parameters["phase_s"]) / parameters["cycle_s"]) % 1.0
    return float(parameters["high" if phase < parameters["share"] else "low"])


SQUARE = Waveform(
    "square",
    "on and off",
    {
        "high": WaveformField("the value while on", in_unit=True),
        "low": WaveformField("the value while off", in_unit=True),
        "cycle_s": WaveformField("seconds from one switching on to the next", 60.0, least=1.0),
        "share": WaveformField("share of the cycle spent on, 0 to 1", 0.5),
        "phase_s": WaveformField("seconds by which the first cycle is late", 0.0),
        "noise": NOISE,
    },
    noisy(level),
)
