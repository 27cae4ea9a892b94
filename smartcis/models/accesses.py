"""Accesses: which of the staff looked at what is personal, and when."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import F
from django.utils import timezone

ONE_LOOK = timedelta(minutes=15)
"""Who looks again within that time has not looked twice: a page polls."""

WHAT_LENGTH = 2_000


class StaffAccess(models.Model):
    """One look at personal data.

    Args:
        user: who; null once the account is gone, and for a command on the server itself.
        account: the name it had then.
        how: followed, asked once, registered.
        what: the relation, view or text.
        at: when it began.
        last_at: when it was last repeated.
        times: how often.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    account = models.CharField(max_length=150)
    how = models.CharField(max_length=20)
    what = models.CharField(max_length=WHAT_LENGTH)
    at = models.DateTimeField(default=timezone.now, db_index=True)
    last_at = models.DateTimeField(default=timezone.now)
    times = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ("-at",)
        verbose_name = "look of staff at visitors"
        verbose_name_plural = "looks of staff at visitors"

    def __str__(self) -> str:
        return f"{self.account} {self.how} {self.what[:60]}"


def note_access(user_id: int | None, account: str, how: str, what: str) -> None:
    """Notes that somebody of the staff looks at personal data."""
    now, what = timezone.now(), what[:WHAT_LENGTH]
    account = account or "console"
    again = StaffAccess.objects.filter(
        account=account, how=how, what=what, last_at__gt=now - ONE_LOOK
    ).order_by("-at")[:1]
    seen = StaffAccess.objects.filter(pk__in=list(again.values_list("pk", flat=True)))
    if not seen.update(last_at=now, times=F("times") + 1):
        StaffAccess.objects.create(user_id=user_id, account=account, how=how, what=what)
