"""Change what a sensor measures, or where; the simulator notices within seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartcis.access.owner import Owner
from smartcis.actions.support.save_sensor import save_sensor
from smartcis.models import Machine, Sensor, Unit
from smartcis.models.lookup import found


def change_sensor(sid: str, changes: Mapping[str, Any], owner: Owner) -> Sensor:
    """Changes what a sensor measures, or which room or machine it watches.

    Args:
        changes: of what `add_sensor` takes; of a room and a machine, the machine counts.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such sensor, room or machine.
        Invalid: nothing could be measured like this.
    """
    owner.require_staff("change sensors")
    sensor, settings = found(Sensor, sid, "sensor"), dict(changes)
    rid, mid = settings.pop("rid", ""), settings.pop("mid", "")
    if mid:
        sensor.machine = found(Machine, mid, "machine")
    elif rid:
        sensor.machine, sensor.unit = None, found(Unit, rid, "room")
    return save_sensor(sensor, settings)
