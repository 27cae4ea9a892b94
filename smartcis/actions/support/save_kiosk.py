"""Save a kiosk with its changes, or say what of it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartcis.actions.support.checked import checked
from smartcis.models import Kiosk, RoutingNode
from smartcis.models.lookup import found


def save_kiosk(kiosk: Kiosk, changes: Mapping[str, Any]) -> Kiosk:
    """Returns the kiosk, changed and saved.

    Args:
        changes: of name, node and simulated.

    Raises:
        NotFound: no such walking point.
        Invalid: it cannot be like this.
    """
    for name, value in changes.items():
        if name == "node":
            kiosk.node = found(RoutingNode, value, "walking point")
        else:
            setattr(kiosk, name, value)
    with checked(changes):
        kiosk.full_clean(validate_unique=False)
        kiosk.save()
    return kiosk
