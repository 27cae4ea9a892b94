"""What a waveform is: parameters with bounds, and a way to sample it over simulated time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from aspen.motes.kinds import DeviceKind
from sensors_sim.errors import BadParameters

Sample = Callable[[float], float]
Parameters = Mapping[str, Any]
Start = Callable[[Parameters, Random], Sample]


@dataclass(frozen=True, slots=True)
class WaveformField:
    """One parameter of a waveform.

    Args:
        meaning: for the help text, with its unit.
        default: used when it is not given; None when it must be.
        in_unit: whether it is a value of the device, bounded by the device's range.
        is_list: a list of numbers instead of one.
        least: smallest number allowed when it is not a value of the device.
    """

    meaning: str
    default: float | None = None
    in_unit: bool = False
    is_list: bool = False
    least: float = 0.0


@dataclass(frozen=True, slots=True)
class Waveform:
    """One shape a simulated sensor can follow.

    Args:
        key: stable name.
        label: for people.
        fields: its parameters by name.
        start: begins a sampling at simulated time 0; the returned function is called with
            non-decreasing times in seconds.
        kinds: device kinds it suits; empty for all that measure a plain value.
    """

    key: str
    label: str
    fields: Mapping[str, WaveformField]
    start: Start
    kinds: frozenset[str] = frozenset()

    def fits(self, device: DeviceKind) -> bool:
        """Returns whether a sensor of this kind can follow it."""
        return device.key in self.kinds if self.kinds else not device.hears_tags


NOISE = WaveformField("standard deviation of the noise", 0.0)


def noisy(shape: Callable[[Parameters, float], float]) -> Start:
    """Returns what samples a function of time, with normal noise on it."""

    def start(parameters: Parameters, rng: Random) -> Sample:
        noise = parameters["noise"]
        return lambda at_s: float(shape(parameters, at_s) + rng.gauss(0.0, noise))

    return start


def check_parameters(waveform: Waveform, device: DeviceKind, given: Parameters) -> dict[str, Any]:
    """Returns the parameters with defaults filled in.

    Raises:
        BadParameters: misspelt, missing, no number, or out of range.
    """
    if not isinstance(given, Mapping):
        raise BadParameters("parameters are a JSON object", exists=list(waveform.fields))
    for name in given:
        if name not in waveform.fields:
            raise BadParameters(
                f"the waveform {waveform.key} has no parameter {name!r}; "
                f"it has {', '.join(waveform.fields) or 'none'}",
                found=str(name),
                exists=list(waveform.fields),
            )
    full: dict[str, Any] = {}
    for name, field in waveform.fields.items():
        value = given.get(name, field.default)
        if value is None:
            raise BadParameters(
                f"the waveform {waveform.key} needs {name}: {field.meaning}", exists=[name]
            )
        if field.is_list:
            if not isinstance(value, list | tuple) or not value:
                raise BadParameters(f"{name} is a list of numbers", found=repr(value))
            full[name] = [_number(name, one, field, device) for one in value]
        else:
            full[name] = _number(name, value, field, device)
    return full


def _number(name: str, value: Any, field: WaveformField, device: DeviceKind) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadParameters(f"{name} is a number: {field.meaning}", found=repr(value))
    low, high = (device.least, device.greatest) if field.in_unit else (field.least, math.inf)
    if not low <= value <= high:
        upper = f" and at most {high:g}" if math.isfinite(high) else ""
        unit = f" {device.unit}" if field.in_unit else ""
        raise BadParameters(
            f"{name} must be at least {low:g}{upper}{unit}",
            found=f"{value:g}",
        )
    return float(value)
