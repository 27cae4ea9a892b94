"""Deployment: the streams that running queries ask the devices for, row by row.

Law: a stream is wanted exactly when some maintained view scans it, or shall scan it once it has
moved out of the network; nobody's sensors stay silent otherwise.
Only whether a stream is wanted is taken from a plan, not its predicate: a view registered later
starts from the newest reading of each sensor, which must have been sent.
"""

from __future__ import annotations

from smartcis.models import MaintainedView
from smartcis.placements.device_streams import reads_of, streams_of
from smartcis.queries import LISTENING

STATUS = "mote_status"  # no device measures it: the motes tell it of themselves


def wanted_streams() -> frozenset[str]:
    """Returns the device streams the maintained views read, and `mote_status` if one does.

    Views that only listen to what others ask for wake nobody.
    """
    views = MaintainedView.objects.filter(error__isnull=True).exclude(name__in=LISTENING)
    wanted: set[str] = set()
    for view in views.select_related("placement"):
        for text in {view.running_text, view.wanted_text}:
            wanted |= streams_of(text) | (reads_of(text) & {STATUS})
    return frozenset(wanted)
