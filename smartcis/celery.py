"""The Celery application: time for the log, sweeps, and the engine's supervision.

Never a task per reading: readings go to the log directly. Run worker and beat as one process,
`celery -A smartcis.celery worker --beat --pool threads`: the supervisor of the engine lives in it.
"""

from __future__ import annotations

import os

import django
from celery import Celery

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
        ("tick", 1.0),
        ("supervise_engine", 2.0),
        ("relay_outbox", 2.0),
        ("poll_sources", 2.0),
        ("sweep_routes", 30.0),
        ("rename_visitors", 60.0),
        ("collect_deliveries", 1.0),
        ("send_deliveries", 1.0),
        ("sweep_deliveries", 3600.0),
        ("reconsider_placements", 15.0),
    )
}
app.conf.beat_max_loop_interval = 0.5
