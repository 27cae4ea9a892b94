"""Save a sensor with its changes, or say what of it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartcis.actions.support.checked import checked
from smartcis.models import Sensor


def save_sensor(sensor: Sensor, changes: Mapping[str, Any]) -> Sensor:
    """Returns the sensor, changed and saved.

    Args:
        changes: of kind, waveform, parameters, fault, fault_amount, period_s, enabled, simulated.

    Raises:
        Invalid: nothing could be measured like this.
    """
    for name, value in changes.items():
        setattr(sensor, name, value)
    with checked(changes):
        sensor.clean()
        sensor.locate()
        sensor.full_clean(validate_unique=False)
        sensor.save()
    return sensor
