"""Place a device that was heard: it gets a sensor for each quantity, and its readings are taken."""

from __future__ import annotations

from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.actions.support.save_sensor import save_sensor
from smartcis.errors import Invalid
from smartcis.models import Machine, SeenDevice, Sensor, Unit
from smartcis.models.lookup import found
from smartcis.models.sensor_kinds import kind_named

USUAL_PERIOD_S = 900.0  # of a device that was heard once
LEAST_PERIOD_S = 10.0


@transaction.atomic
def place_device(seen: SeenDevice, owner: Owner, *, rid: str = "", mid: str = "") -> list[Sensor]:
    """Adds the sensors that a device lacks, and moves those it has, to a room or a machine.

    Each is expected as often as the longest silence of the device that was noted.

    Args:
        owner: staff.
        rid: the room.
        mid: the machine; it stands before a room.

    Returns:
        Those that were added.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such room or machine.
        Invalid: neither was said, or a kind of sensor that does not stand there.
    """
    owner.require_staff("place devices")
    if not rid and not mid:
        raise Invalid("choose a room or a machine", found=str(seen))
    seen.machine = found(Machine, mid, "machine") if mid else None
    seen.unit = seen.machine.unit if seen.machine is not None else found(Unit, rid, "room")
    seen.save(update_fields=("unit", "machine"))
    there = {one.sid: one for one in Sensor.objects.filter(sid__in=seen.sids().values())}
    for sensor in there.values():
        sensor.unit, sensor.machine = seen.unit, seen.machine
        save_sensor(sensor, {})
    made = []
    for quantity, sid in seen.sids().items():
        if sid in there:
            continue
        kind = kind_named(quantity)
        expected_s = max(seen.longest_s, LEAST_PERIOD_S) if seen.longest_s else USUAL_PERIOD_S
        period_s = min(max(expected_s, kind.least_period_s), kind.greatest_period_s)
        sensor = Sensor(sid=sid, kind=quantity, simulated=False)
        sensor.unit, sensor.machine = seen.unit, seen.machine
        made.append(save_sensor(sensor, {"period_s": period_s}))
    return made
