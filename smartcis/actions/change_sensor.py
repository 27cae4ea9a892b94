"""Change what a sensor measures; the simulator notices within seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartcis.access.owner import Owner
from smartcis.actions.support.save_sensor import save_sensor
from smartcis.models import Sensor
from smartcis.models.lookup import found


def change_sensor(sid: str, changes: Mapping[str, Any], owner: Owner) -> Sensor:
    """Changes what a sensor measures.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such sensor.
        Invalid: nothing could be measured like this.
    """
    owner.require_staff("change sensors")
    return save_sensor(found(Sensor, sid, "sensor"), changes)
