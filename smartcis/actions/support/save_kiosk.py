"""Save a kiosk with its changes, or say what of it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import F

from smartcis.access.queries import query_of
from smartcis.actions.support.checked import checked
from smartcis.errors import Invalid, NotFound
from smartcis.models import Kiosk, RoutingNode
from smartcis.models.lookup import found

POSITION = ("level_id", "x_m", "y_m")


def save_kiosk(kiosk: Kiosk, changes: Mapping[str, Any]) -> Kiosk:
    """Returns the kiosk, changed and saved.

    Args:
        changes: of name, node, bearing_deg, query and simulated; level_id, x_m and y_m together
            choose the nearest walking point.

    Raises:
        NotFound: no such walking point or query.
        Invalid: it cannot be like this.
    """
    if given := [name for name in POSITION if name in changes]:
        if "node" in changes or len(given) < len(POSITION):
            raise Invalid(
                "a kiosk hangs before a node, or at a position with level_id, x_m and y_m",
                found=", ".join(given),
            )
        kiosk.node = _nearest(*(changes[name] for name in POSITION))
    for name, value in changes.items():
        if name == "node":
            kiosk.node = found(RoutingNode, value, "walking point")
        elif name == "query":
            kiosk.query = None if value is None else query_of(value)
        elif name not in POSITION:
            setattr(kiosk, name, value)
    if kiosk.query is not None and kiosk.query.view.private:
        raise Invalid(
            "a kiosk shows everybody what it shows, and this query reads what is closed",
            found=kiosk.query.pk,
            attempt="choose a query that visitors may read",
        )
    with checked(changes):
        kiosk.full_clean(validate_unique=False)
        kiosk.save()
    return kiosk


def _nearest(level_id: str, x_m: float, y_m: float) -> RoutingNode:
    """Returns the walking point of a level that is nearest to a position, desks aside."""
    points = RoutingNode.objects.filter(level=level_id).exclude(kind="desk")
    away = (F("x_m") - x_m) * (F("x_m") - x_m) + (F("y_m") - y_m) * (F("y_m") - y_m)
    nearest = points.order_by(away, "node").first()
    if nearest is None:
        raise NotFound(f"level {level_id} has no walking point", found=level_id)
    return nearest
