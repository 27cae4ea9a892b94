"""Save a sensor with its changes, or say what of it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from smartcis.errors import Invalid
from smartcis.models import Sensor


def save_sensor(sensor: Sensor, changes: Mapping[str, Any]) -> Sensor:
    """Returns the sensor, changed and saved.

    Args:
        changes: of kind, waveform, parameters, period_s and enabled.

    Raises:
        Invalid: nothing could be measured like this.
    """
    for name, value in changes.items():
        setattr(sensor, name, value)
    try:
        sensor.clean()
        sensor.locate()
        sensor.full_clean(exclude=("sid",), validate_unique=False)
        sensor.save()
    except ValidationError as error:
        words = [f"{field}: {' '.join(texts)}" for field, texts in _texts(error).items()]
        raise Invalid("; ".join(words), found=str(dict(changes))[:80]) from error
    return sensor


def _texts(error: ValidationError) -> dict[str, list[str]]:
    if hasattr(error, "error_dict"):
        return error.message_dict
    return {"sensor": error.messages}
