"""Add a sensor to a room or a machine."""

from __future__ import annotations

from typing import Any

from smartcis.access.owner import Owner
from smartcis.actions.support.checked import refuse_taken
from smartcis.actions.support.save_sensor import save_sensor
from smartcis.models import Machine, Sensor, Unit
from smartcis.models.lookup import found


def add_sensor(
    kind: str, owner: Owner, *, sid: str = "", rid: str = "", mid: str = "", **settings: Any
) -> Sensor:
    """Adds a sensor to a room or a machine, a simulated one unless it is said.

    Args:
        kind: of the code, or a row of `sensor_kind`.
        owner: staff.
        sid: its id in every reading; a fresh one where none is said.
        rid: the room, for kinds that watch a room.
        mid: the machine, for kinds that watch a machine.
        settings: waveform, parameters, fault, fault_amount, period_s, enabled,
            simulated.

    Raises:
        Refused: the owner is no staff.
        AlreadyThere: there is one of that id.
        NotFound: no such room or machine.
        Invalid: nothing could be measured like this.
    """
    owner.require_staff("change sensors")
    refuse_taken(Sensor, sid, "sensor")
    sensor = Sensor(sid=sid, kind=kind)
    if mid:
        sensor.machine = found(Machine, mid, "machine")
    elif rid:
        sensor.unit = found(Unit, rid, "room")
    return save_sensor(sensor, settings)
