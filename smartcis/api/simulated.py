"""What of a building is simulated, in words for those who look at it."""

from __future__ import annotations

from typing import Any

from smartcis.models import Kiosk, Machine, Reservation, Sensor, Visitor

KINDS = (
    (Machine, "machine", "machines"),
    (Sensor, "sensor", "sensors"),
    (Kiosk, "kiosk", "kiosks"),
    (Reservation, "reservation", "reservations"),
    (Visitor, "visitor", "visitors"),
)


def simulated_counts() -> list[dict[str, Any]]:
    """Returns of which kinds something is simulated: how many, and how many there are."""
    counts = []
    for model, singular, _ in KINDS:
        made_up = model.objects.filter(simulated=True).count()
        if made_up:
            every = model.objects.count()
            counts.append({"kind": singular, "simulated": made_up, "total": every})
    return counts


def simulated_note(counts: list[dict[str, Any]]) -> str:
    """Returns what is simulated, in words; where some of a kind are real, of how many.

    Args:
        counts: as `simulated_counts` gives them.
    """
    plurals = {singular: plural for _, singular, plural in KINDS}
    parts = []
    for one in counts:
        made_up, every = one["simulated"], one["total"]
        number = f"{made_up}" if made_up == every else f"{made_up} of {every}"
        parts.append(f"{number} {one['kind'] if every == 1 else plurals[one['kind']]}")
    return f"Simulated: {', '.join(parts)}." if parts else "Nothing here is simulated."
