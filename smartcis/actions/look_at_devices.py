"""Look at devices: those that a source heard, placed or not."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.errors import Refused
from smartcis.models import SeenDevice, Source
from smartcis.models.lookup import found


def look_at_devices(source_id: str, owner: Owner) -> list[SeenDevice]:
    """Returns the devices of a source, those heard last first.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such source.
    """
    if not owner.staff:
        raise Refused("only staff may see what sources sent")
    source = found(Source, source_id, "source")
    return list(SeenDevice.objects.filter(source=source))
