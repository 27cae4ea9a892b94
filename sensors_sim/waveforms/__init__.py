"""The shapes a simulated sensor can follow; a tuple, so nothing registers itself."""

from __future__ import annotations

from typing import Any

from aspen.motes.kinds import DeviceKind
from sensors_sim.errors import BadParameters, UnknownWaveform
from sensors_sim.waveforms.base import Parameters, Waveform, check_parameters
from sensors_sim.waveforms.constant import CONSTANT
from sensors_sim.waveforms.people import PEOPLE
from sensors_sim.waveforms.random_walk import RANDOM_WALK
from sensors_sim.waveforms.recorded import NAB_TEMPERATURE, UCI_LIGHT, UCI_TEMPERATURE
from sensors_sim.waveforms.replay import REPLAY
from sensors_sim.waveforms.sine import SINE
from sensors_sim.waveforms.square import SQUARE

WAVEFORMS: dict[str, Waveform] = {
    shape.key: shape
    for shape in (
        PEOPLE,
        CONSTANT,
        SINE,
        SQUARE,
        RANDOM_WALK,
        REPLAY,
        NAB_TEMPERATURE,
        UCI_TEMPERATURE,
        UCI_LIGHT,
    )
}


def waveform(key: str) -> Waveform:
    """Look a waveform up.

    Raises:
        UnknownWaveform: nobody wrote it.
    """
    if key not in WAVEFORMS:
        raise UnknownWaveform(f"there is no waveform {key!r}", found=key, exists=list(WAVEFORMS))
    return WAVEFORMS[key]


def checked(key: str, device: DeviceKind, given: Parameters) -> dict[str, Any]:
    """Returns a waveform's parameters for a device, defaults filled in.

    Raises:
        BadParameters: unfit for the device, misspelt, missing or out of range.
        UnknownWaveform: nobody wrote it.
    """
    shape = waveform(key)
    if not shape.fits(device):
        fitting = [other.key for other in WAVEFORMS.values() if other.fits(device)]
        raise BadParameters(
            f"a {device.name.lower()} sensor cannot follow the waveform {key}; "
            f"it can follow {', '.join(fitting)}",
            found=key,
            exists=fitting,
        )
    return check_parameters(shape, device, given)
