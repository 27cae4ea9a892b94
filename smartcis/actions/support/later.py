"""Later: have a worker do what takes long, once the transaction is committed."""

from __future__ import annotations

from celery import current_app
from django.db import transaction


def have_done(task: str, *arguments: object) -> None:
    """Asks for a task of `smartcis.tasks`, by its name there."""
    transaction.on_commit(lambda: current_app.send_task(f"smartcis.{task}", arguments))
