"""Keep the engine running."""

from __future__ import annotations

import os
from functools import cache

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown
from django.conf import settings

from smartcis.services.child import PARENT_VARIABLE
from smartcis.services.engine_supervisor import EngineSupervisor, engine_command
from smartcis.services.parent import end_with_parent

PATIENCE_S = 10.0


@cache
def supervisor() -> EngineSupervisor:
    """Returns this process's supervisor."""
    return EngineSupervisor(
        settings.REDIS_URL,
        settings.RESULTS_NAME,
        engine_command(settings.BASE_DIR / "manage.py"),
        settings.VAR / "logs" / "engine.log",
        os.environ,
    )


@shared_task(name="smartcis.supervise_engine")
def supervise_engine() -> str:
    """Starts an engine when none is at work, kill one that hangs."""
    return supervisor().look()


@worker_ready.connect
def _begin(**_: object) -> None:
    """Begins at once: Spark takes longer to start than anything else."""
    parent = os.environ.get(PARENT_VARIABLE)
    if parent:
        end_with_parent(int(parent), supervisor().stop, PATIENCE_S)
    supervisor().look()


@worker_shutdown.connect
def _end(**_: object) -> None:
    supervisor().stop()
