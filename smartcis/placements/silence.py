"""Silence: pieces that have not answered for some epochs lose their rows."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.utils import timezone

from smartcis.models import NetworkPiece
from smartcis.placements.store import silence

logger = structlog.get_logger(__name__)


EPOCHS_SILENT = 4  # one may be late, one lost with a base station
LEAST_SILENCE_S = 60.0


def patience(period_s: float) -> timedelta:
    """Returns how long a piece may say nothing before its answer counts no longer."""
    return timedelta(seconds=max(LEAST_SILENCE_S, EPOCHS_SILENT * period_s))


def silence_pieces() -> int:
    """Takes back the rows of pieces that have not answered for some epochs.

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
