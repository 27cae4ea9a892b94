"""The Celery application: what is due now and then, and may take long. No view waits for it.

Never a task per reading: readings go to the log directly, and time comes from `manage.py clock`.
"""

from __future__ import annotations

import os
from typing import Any, cast

import django
from celery import Celery
from celery.beat import Scheduler

from smartcis.services.heartbeat import beat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartcis.settings")
django.setup()

app = Celery("smartcis")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["smartcis"])

# A beat that could not be worked off in time is stale: the next one does the same.
app.conf.beat_schedule = {
    name: {
        "task": f"smartcis.{name}",
        "schedule": period_s,
        "options": {"expires": max(period_s, 1.0)},
    }
    for name, period_s in (
        ("poll_sources", 2.0),
        ("keep_targets", 0.25),
        ("sweep_routes", 30.0),
        ("rename_visitors", 60.0),
        ("collect_deliveries", 1.0),
        ("send_deliveries", 1.0),
        ("sweep_deliveries", 3600.0),
        ("reconsider_placements", 15.0),
    )
}
app.conf.beat_max_loop_interval = 0.25


class Schedule(Scheduler):  # type: ignore[misc]  # untyped
    """A schedule in memory, since all of it comes round soon; it beats at each turn."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Sends what is due; returns the seconds until something is."""
        beat()
        return cast("float", super().tick(*args, **kwargs))


app.conf.beat_scheduler = Schedule
