"""Recorded: what was once measured in a real office, played at any speed.

Source: `sensors_sim.recordings`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sensors_sim.recordings import Series, nab_temperature, uci_light, uci_temperature
from sensors_sim.waveforms.base import Parameters, Sample, Start, Waveform, WaveformField

_FIELDS = {
    "speed": WaveformField("how many recorded seconds pass in one", 1.0, least=0.001),
    "begin_s": WaveformField("seconds of the recording to leave out", 0.0),
}


def _playing(series: Callable[[], Series]) -> Start:
    def start(parameters: Parameters, _: Random) -> Sample:
        recorded, speed, begin_s = series(), parameters["speed"], parameters["begin_s"]
        return lambda at_s: recorded.at(begin_s + at_s * speed)

    return start


NAB_TEMPERATURE = Waveform(
    "nab_temperature",
    "recorded: office temperature (NAB, hourly)",
    _FIELDS,
    _playing(nab_temperature),
    frozenset({"temperature"}),
)
UCI_TEMPERATURE = Waveform(
    "uci_temperature",
    "recorded: office temperature (UCI, by the minute)",
    _FIELDS,
    _playing(uci_temperature),
    frozenset({"temperature"}),
)
UCI_LIGHT = Waveform(
    "uci_light",
    "recorded: office light (UCI, by the minute)",
    _FIELDS,
    _playing(uci_light),
    frozenset({"light"}),
)
