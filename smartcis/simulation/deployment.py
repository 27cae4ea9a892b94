"""Deployment: the streams that running queries ask the devices for, row by row.

Law: a stream is wanted exactly when some maintained view scans it, or shall scan it once it has
moved out of the network; nobody's sensors stay silent otherwise.
A standing view that is kept on demand asks for nothing while nobody looks.
Only whether a stream is wanted is taken from a plan, not its predicate: a view registered later
starts from the newest reading of each sensor, which must have been sent.
"""

from __future__ import annotations

from redis.exceptions import RedisError

from smartcis import composition
from smartcis.models import MaintainedView
from smartcis.placements.device_streams import reads_of, streams_of
from smartcis.queries import LISTENING, ON_DEMAND

STATUS = "mote_status"  # no device measures it: the motes tell it of themselves
FROM_INSIDE = frozenset({"host_load", "host_process"})  # nor these: programs on the machines do


def awake() -> frozenset[str]:
    """Returns the standing views kept on demand that somebody looks at now.

    While the results cannot be read nobody sees anything either.
    """
    try:
        return ON_DEMAND.intersection(composition.results().views())
    except RedisError:
        return frozenset()


def wanted_streams() -> frozenset[str]:
    """Returns the device streams the maintained views read, and what is told besides if one does.

    Views that only listen to what others ask for wake nobody.
    """
    idle = LISTENING | (ON_DEMAND - awake())
    views = MaintainedView.objects.filter(error__isnull=True).exclude(name__in=idle)
    wanted: set[str] = set()
    for view in views.select_related("placement"):
        for text in {view.running_text, view.wanted_text}:
            wanted |= streams_of(text) | (reads_of(text) & ({STATUS} | FROM_INSIDE))
    return frozenset(wanted)
