"""Begin a view: it is saved, and the engine is sent its registration."""

from __future__ import annotations

from django.db.models import Max

from smartcis.models import MaintainedView
from smartcis.models.outbox import enqueue


def begin_view(view: MaintainedView) -> MaintainedView:
    """Saves a new view and lets the engine know it; runs in a transaction."""
    view.order = next_order()
    view.save(force_insert=True)
    enqueue(view.registration())
    return view


def next_order() -> int:
    """Returns the next number in the order of registrations."""
    highest = MaintainedView.objects.aggregate(highest=Max("order"))["highest"]
    return int(highest or 0) + 1
