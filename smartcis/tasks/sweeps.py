"""Sweeps that nobody in particular asks for. Celery closes stale database connections itself."""

from __future__ import annotations

from celery import shared_task

from smartcis.actions.rename_visitors import rename_visitors as rename
from smartcis.actions.sweep_outbox import sweep_outbox
from smartcis.actions.sweep_routes import sweep_routes as sweep_idle_routes


@shared_task(name="smartcis.relay_outbox")
def relay_outbox() -> int:
    """Sends edits to the log that were committed while the log was away."""
    return sweep_outbox()


@shared_task(name="smartcis.sweep_routes")
def sweep_routes() -> int:
    """Ends walks whose browser has gone."""
    return sweep_idle_routes()


@shared_task(name="smartcis.rename_visitors")
def rename_visitors() -> int:
    """Assigns every visitor the name for today."""
    return rename()
