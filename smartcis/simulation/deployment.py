"""Deployment: the streams that running queries ask the devices for.

Law: a stream is wanted exactly when some maintained view scans it; nobody's sensors stay silent.
Only whether a stream is wanted is taken from an order, not its predicate: a view registered later
starts from the newest reading of each sensor, which must have been sent.
"""

from __future__ import annotations

from aspen.algebra.read import read_plan
from federation.deploy import deploy
from federation.place import place
from federation.split import split
from smartcis.actions.catalog import live_catalog
from smartcis.models import MaintainedView

STATUS = "mote_status"  # no device measures it: the motes tell it of themselves


def wanted_streams() -> frozenset[str]:
    """Give the device streams the maintained views read, and `mote_status` if one does."""
    catalog = live_catalog()
    texts = MaintainedView.objects.filter(error__isnull=True).values_list("plan_text", flat=True)
    fragments = [split(place(read_plan(text), catalog)) for text in texts]
    orders = deploy(fragments, catalog).orders
    reads = {name for one in fragments for name in one.engine.reads}
    return frozenset(order.stream for order in orders if order.needed) | (reads & {STATUS})
