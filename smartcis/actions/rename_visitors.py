"""Rename visitors: a new pseudonym for everybody, once a day and all at once."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from smartcis.models import Visitor
from smartcis.models.visitors import mint_pseudonym

AT_HOUR = 4
"""In the house's own time: few people are about then, so that few can be seen to change name."""


def rename_visitors(now: datetime | None = None) -> int:
    """Assigns each visitor who has none yet the name for today, in one transaction.

    Args:
        now: in the house's time zone; the clock's if left out.

    Returns:
        How many were renamed.
    """
    today = ((now or timezone.localtime()) - timedelta(hours=AT_HOUR)).date()
    with transaction.atomic():
        stale = list(Visitor.objects.select_for_update().filter(named_on__lt=today))
        for visitor in stale:
            visitor.pseudonym, visitor.named_on = mint_pseudonym(), today
            visitor.save(update_fields=["pseudonym", "named_on"])
    return len(stale)
