"""Tokens: what programs show instead of a password; each may do one thing, and ends."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _

from smartcis.models.wrapped import Source

PUSH_DAYS = 365
ACCOUNT_DAYS = 90
LONGEST_DAYS = 3_650
USE_NOTED_S = 600.0  # a gateway calls many times a second; when it did so last is for people


class AccessToken(models.Model):
    """A token, known by its hash.

    Args:
        name: who uses it, in words.
        digest: SHA-512 of the token; the token itself is shown once and kept nowhere.
        begins: its first characters, by which people tell tokens apart.
        scope: what it may do.
        sources: ids of the sources it pushes for; none: readings alone.
        user: whose rights it has, for the scope `account`; None for the others.
        expires_at: it is refused from then on.
        used_at: when it was used last, within ten minutes.
    """

    class Scope(models.TextChoices):
        """What a token may do; nothing else."""

        PUSH = "push", "push readings, and rows of its sources"
        METRICS = "metrics", "read the metrics of operation"
        ACCOUNT = "account", "all that its account may do"

    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=128, unique=True, editable=False)
    begins = models.CharField(max_length=8, editable=False)
    scope = models.CharField(max_length=10, choices=Scope.choices, default=Scope.PUSH)
    sources = models.JSONField(default=list, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    made_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("name", "pk")

    def __str__(self) -> str:
        return f"{self.name} ({self.begins}…)"

    def clean(self) -> None:
        """Refuses a token that could do nothing, or for ever.

        Raises:
            ValidationError: per field.
        """
        pushing = list(Source.objects.filter(kind="push").values_list("pk", flat=True))
        strange = [one for one in self.sources if one not in pushing]
        if strange:
            raise ValidationError(
                {
                    "sources": _("no pushing source: %(found)s; there are %(all)s")
                    % {"found": strange[0], "all": ", ".join(pushing)}
                }
            )
        if self.sources and self.scope != self.Scope.PUSH:
            raise ValidationError({"sources": _("only a token that pushes speaks for sources")})
        now = timezone.now()
        if self.expires_at and not now < self.expires_at <= now + timedelta(LONGEST_DAYS, 60):
            raise ValidationError({"expires_at": _("within the next %d days") % LONGEST_DAYS})

    def note_use(self) -> None:
        """Remembers that it was used."""
        now = timezone.now()
        if self.used_at is None or (now - self.used_at).total_seconds() > USE_NOTED_S:
            AccessToken.objects.filter(pk=self.pk).update(used_at=now)


def digest_of(token: str) -> str:
    """Returns what is kept of a token: it is random enough that nobody guesses it from a hash."""
    return hashlib.sha512(token.encode()).hexdigest()
