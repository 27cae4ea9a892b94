"""Turn the simulated lights: every light sensor, or a share of them, sees so much from now on."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.actions.change_sensor import change_sensor
from smartcis.errors import Invalid
from smartcis.models import Sensor

CONSTANT = "constant"


def turn_lights(lux: float, owner: Owner, *, share: float = 1.0) -> int:
    """Sets what the simulated light sensors see.

    Args:
        share: part of them, 0 to 1, the first by name.

    Returns:
        How many were set.

    Raises:
        Refused: the owner is no staff.
        Invalid: no light is like this.
    """
    if not 0.0 <= share <= 1.0:
        raise Invalid("a share lies between 0 and 1", found=f"{share:g}")
    found = Sensor.objects.filter(kind="light", simulated=True, enabled=True).order_by("sid")
    sids = list(found.values_list("sid", flat=True))
    turned = sids[: round(share * len(sids))]
    for sid in turned:
        parameters = {"value": lux, "noise": 0.0}
        change_sensor(sid, {"waveform": CONSTANT, "parameters": parameters}, owner)
    return len(turned)
