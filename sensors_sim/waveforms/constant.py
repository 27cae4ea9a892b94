"""Constant: one value, with a little noise.

────────
"""

from __future__ import annotations

from sensors_sim.waveforms.base import NOISE, Waveform, WaveformField, noisy

CONSTANT = Waveform(
    "constant",
    "constant value",
    {"value": WaveformField("what it measures", in_unit=True), "noise": NOISE},
    noisy(lambda parameters, _: parameters["value"]),
)
