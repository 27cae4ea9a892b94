"""People: the sensor measures the simulated people instead of a formula.

A seat weighs whoever sits there, the processor works for them, a receiver hears their tags. The
kernel asks its occupancy and visitors; there is nothing to sample here.
"""

from __future__ import annotations

from random import Random

from aspen.motes.kinds import DEVICE_KINDS
from sensors_sim.errors import BadParameters
from sensors_sim.waveforms.base import Parameters, Sample, Waveform


def start(parameters: Parameters, rng: Random) -> Sample:
    """Refuse: the kernel answers for people."""
    del parameters, rng
    raise BadParameters("the waveform 'people' is sampled by the kernel")


PEOPLE = Waveform(
    "people",
    "follows the simulated people",
    {},
    start,
    frozenset(kind.key for kind in DEVICE_KINDS if kind.of_people),
)
