"""Reconsider where queries run, and take back the answers of pieces that say nothing any more."""

from __future__ import annotations

import structlog
from django.conf import settings

from aspen.errors import AspenError
from smartcis.models import MaintainedView
from smartcis.placements.decide import decide
from smartcis.placements.device_streams import DEVICE_STREAMS, streams_of
from smartcis.placements.measured import measured_statistics
from smartcis.placements.silence import silence_pieces

OFF = "off"

logger = structlog.get_logger(__name__)


def reconsider_placements() -> int:
    """Decides anew for every submitted query that reads motes.

    Standing queries stay in the engine: the map shows a change within a second, epochs do not.

    Returns:
        How many shall move.
    """
    silence_pieces()
    if settings.PLACEMENT == OFF:
        return 0
    views = MaintainedView.objects.filter(standing=False, error__isnull=True)
    reading = [
        one
        for one in views.select_related("placement")
        if streams_of(one.plan_text) & DEVICE_STREAMS.keys()
    ]
    if not reading:
        return 0
    known = measured_statistics()
    moving = 0
    for view in reading:
        try:
            moving += decide(view, known)
        except AspenError as error:
            logger.warning("query not placed", view=view.name, reason=error.message)
    return moving
