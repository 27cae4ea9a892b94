"""Route requests: who asks the way to a machine. The demand relation `route_request`."""

from __future__ import annotations

import secrets

from django.db import models
from django.utils import timezone

from smartcis.models.source import SourceModel


def mint_session() -> str:
    """Makes a token for one walk; unguessable, since whoever knows it sees the walk."""
    return secrets.token_urlsafe(12)


class RouteRequest(SourceModel):
    """One visitor's standing request: keep me on the way to the nearest free machine.

    Args:
        session: the walk's token, a row's key in every view about it.
        browser: Django session key of the browser that asked; only it may see, move or end it.
        address: a digest of where that was, for limits.
        node: walking point where the visitor stands.
        last_seen: when the browser last said it was there; idle requests are swept.
    """

    relations = ("route_request",)

    session = models.CharField(max_length=32, primary_key=True, default=mint_session)
    browser = models.CharField(max_length=40, db_index=True)
    address = models.CharField(max_length=32, blank=True, default="", db_index=True)
    node = models.BigIntegerField()
    software = models.CharField(max_length=120)
    step_free = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    last_seen = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"{self.session}: {self.software} from {self.node}"
