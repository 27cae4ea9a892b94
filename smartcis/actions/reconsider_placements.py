"""Reconsider where queries run, and take back the answers of pieces that say nothing any more."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.conf import settings
from django.utils import timezone

from aspen.errors import AspenError
from smartcis.models import MaintainedView, NetworkPiece
from smartcis.placements.decide import decide
from smartcis.placements.device_streams import DEVICE_STREAMS
from smartcis.placements.measured import measured_statistics
from smartcis.placements.store import silence
from smartcis.placements.streams import streams_of

OFF = "off"
EPOCHS_SILENT = 4  # one may be late, one lost with a base station
LEAST_SILENCE_S = 60.0

logger = structlog.get_logger(__name__)


def reconsider_placements() -> int:
    """Decide anew for every submitted query that reads motes.

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


def patience(period_s: float) -> timedelta:
    """Returns how long a piece may say nothing before its answer counts no longer."""
    return timedelta(seconds=max(LEAST_SILENCE_S, EPOCHS_SILENT * period_s))


def silence_pieces() -> int:
    """Take back the rows of pieces that have not answered for some epochs.

    Whoever runs the network may be gone: an old answer must not pass for a new one.

    Returns:
        How many were silent.
    """
    now = timezone.now()
    silent = 0
    for piece in NetworkPiece.objects.filter(live=True, answered_at__isnull=False):
        assert piece.answered_at is not None
        if piece.answer and now - piece.answered_at > patience(piece.period_s):
            silence(piece.name)
            silent += 1
            logger.warning("piece silent", piece=piece.name)
    return silent
