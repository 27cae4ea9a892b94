"""Look at devices: those that a source heard, placed or not."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.models import SeenDevice, Source
from smartcis.models.lookup import found


def look_at_devices(source_id: str, owner: Owner) -> list[SeenDevice]:
    """Returns the devices of a source, those heard last first.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such source.
    """
    owner.require_staff("see what sources sent")
    return list(SeenDevice.objects.filter(source=found(Source, source_id, "source")))
