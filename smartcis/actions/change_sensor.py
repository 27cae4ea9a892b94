"""Add, change and remove sensors; the simulator notices within seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from smartcis.access.owner import Owner
from smartcis.errors import Invalid, Refused, unknown
from smartcis.models import Machine, Sensor, Unit

CHANGEABLE = ("kind", "waveform", "parameters", "period_s", "enabled")


def add_sensor(kind: str, owner: Owner, *, rid: str = "", mid: str = "", **settings: Any) -> Sensor:
    """Add a simulated sensor to a room or a machine.

    Args:
        kind: one of `aspen.motes.kinds.DEVICE_KINDS`.
        owner: staff.
        rid: the room, for kinds that watch a room.
        mid: the machine, for kinds that watch a machine.
        settings: waveform, parameters, period_s, enabled.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such room or machine.
        Invalid: nothing could be measured like this.
    """
    _require(owner)
    sensor = Sensor(kind=kind)
    if mid:
        sensor.machine = Machine.objects.filter(pk=mid).first()
        if sensor.machine is None:
            raise unknown("machine", mid, Machine.objects.values_list("pk", flat=True))
    elif rid:
        unit = Unit.objects.filter(pk=rid).first()
        if unit is None:
            raise unknown("room", rid, Unit.objects.values_list("pk", flat=True))
        sensor.unit = unit
    return _saved(sensor, settings)


def change_sensor(sid: str, changes: Mapping[str, Any], owner: Owner) -> Sensor:
    """Change what a sensor measures.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such sensor.
        Invalid: nothing could be measured like this.
    """
    _require(owner)
    return _saved(_sensor(sid), changes)


def remove_sensor(sid: str, owner: Owner) -> None:
    """Remove a sensor.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such sensor.
    """
    _require(owner)
    _sensor(sid).delete()


def _require(owner: Owner) -> None:
    if not owner.staff:
        raise Refused("only staff may change sensors", attempt="log in as staff")


def _sensor(sid: str) -> Sensor:
    sensor = Sensor.objects.filter(pk=sid).first()
    if sensor is None:
        raise unknown("sensor", sid, Sensor.objects.values_list("pk", flat=True))
    return sensor


def _saved(sensor: Sensor, changes: Mapping[str, Any]) -> Sensor:
    for name, value in changes.items():
        if name not in CHANGEABLE:
            raise Invalid(f"a sensor has no {name!r} to change", found=name, exists=CHANGEABLE)
        setattr(sensor, name, value)
    try:
        sensor.clean()
        sensor.place()
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
