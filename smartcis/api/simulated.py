"""What of a building is simulated, in words for those who look at it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from smartcis.models import Kiosk, Machine, Reservation, Sensor, Visitor

EVERY, SOME = "every", "some"
KINDS = (
    (
        Machine,
        "machine",
        ngettext_lazy("%(every)d machine", "%(every)d machines", EVERY),
        ngettext_lazy("%(some)d of %(every)d machine", "%(some)d of %(every)d machines", EVERY),
    ),
    (
        Sensor,
        "sensor",
        ngettext_lazy("%(every)d sensor", "%(every)d sensors", EVERY),
        ngettext_lazy("%(some)d of %(every)d sensor", "%(some)d of %(every)d sensors", EVERY),
    ),
    (
        Kiosk,
        "kiosk",
        ngettext_lazy("%(every)d kiosk", "%(every)d kiosks", EVERY),
        ngettext_lazy("%(some)d of %(every)d kiosk", "%(some)d of %(every)d kiosks", EVERY),
    ),
    (
        Reservation,
        "reservation",
        ngettext_lazy("%(every)d reservation", "%(every)d reservations", EVERY),
        ngettext_lazy(
            "%(some)d of %(every)d reservation", "%(some)d of %(every)d reservations", EVERY
        ),
    ),
    (
        Visitor,
        "visitor",
        ngettext_lazy("%(every)d visitor", "%(every)d visitors", EVERY),
        ngettext_lazy("%(some)d of %(every)d visitor", "%(some)d of %(every)d visitors", EVERY),
    ),
)
"""What can be simulated: its name, all of them in words, and some of them in words."""


def simulated_counts() -> list[dict[str, Any]]:
    """Returns of which kinds something is simulated: how many, and how many there are."""
    counts = []
    for model, kind, *_said in KINDS:
        made_up = model.objects.filter(simulated=True).count()
        if made_up:
            every = model.objects.count()
            counts.append({"kind": kind, "simulated": made_up, "total": every})
    return counts


def simulated_note(counts: list[dict[str, Any]]) -> str:
    """Returns what is simulated, in words; where some of a kind are real, of how many.

    Args:
        counts: as `simulated_counts` gives them.
    """
    words = {kind: said for _model, kind, *said in KINDS}
    parts = []
    for one in counts:
        made_up, every = one["simulated"], one["total"]
        all_of_them, some_of_them = words[one["kind"]]
        said = all_of_them if made_up == every else some_of_them
        parts.append(said % {"some": made_up, "every": every})
    if not parts:
        return _("Nothing here is simulated.")
    return _("Simulated: {things}.").format(things=", ".join(parts))
