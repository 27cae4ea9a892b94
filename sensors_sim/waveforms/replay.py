"""Replay: a recorded series, repeated from its start when it ends."""

from __future__ import annotations

from random import Random

from sensors_sim.waveforms.base import Parameters, Sample, Waveform, WaveformField


def start(parameters: Parameters, _rng: Random) -> Sample:
    """Begin with the first recorded value; no noise is added to what was recorded."""
    values, step_s = parameters["values"], parameters["step_s"]
    return lambda at_s: float(values[int(at_s // step_s) % len(values)])


REPLAY = Waveform(
    "replay",
    "recorded series",
    {
        "values": WaveformField("the recorded values", in_unit=True, is_list=True),
        "step_s": WaveformField("seconds between two recorded values", 10.0, least=0.1),
    },
    start,
)
