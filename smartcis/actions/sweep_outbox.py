"""Sweep the outbox: send what a commit could not, drop what was sent long ago."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from smartcis.ingest.relay import relay_now
from smartcis.models import OutboxEntry

KEPT = timedelta(days=1)


def sweep_outbox() -> int:
    """Relays what waits and drops entries sent more than a day ago.

    Returns:
        How many database transactions were relayed.
    """
    appended = relay_now()
    old = timezone.now() - KEPT
    OutboxEntry.objects.filter(position__isnull=False, created_at__lt=old).delete()
    return appended
