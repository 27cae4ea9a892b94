"""What of a building is simulated, in words for those who look at it."""

from __future__ import annotations

from smartcis.models import Kiosk, Machine, Reservation, Sensor, Visitor

KINDS = (
    (Machine, "machine", "machines"),
    (Sensor, "sensor", "sensors"),
    (Kiosk, "kiosk", "kiosks"),
    (Reservation, "reservation", "reservations"),
    (Visitor, "visitor", "visitors"),
)


def simulated_note() -> str:
    """Returns what is simulated, counted; where some of a kind are real, of how many."""
    parts = []
    for model, singular, plural in KINDS:
        every = model.objects.count()
        made_up = model.objects.filter(simulated=True).count()
        if made_up:
            number = f"{made_up}" if made_up == every else f"{made_up} of {every}"
            parts.append(f"{number} {singular if every == 1 else plural}")
    return f"Simulated: {', '.join(parts)}." if parts else "Nothing here is simulated."
