"""Look after queries that run inside the sensor network."""

from __future__ import annotations

from celery import shared_task

from smartcis.actions.reconsider_placements import reconsider_placements as reconsider


@shared_task(name="smartcis.reconsider_placements")
def reconsider_placements() -> int:
    """Moves queries whose placement costs too much by now; marks pieces that are silent."""
    return reconsider()
