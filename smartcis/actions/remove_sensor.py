"""Remove a sensor."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.models import Sensor
from smartcis.models.lookup import found


def remove_sensor(sid: str, owner: Owner) -> None:
    """Removes a sensor.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such sensor.
    """
    owner.require_staff("change sensors")
    found(Sensor, sid, "sensor").delete()
