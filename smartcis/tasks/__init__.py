"""Celery's tasks: thin, each calls one deed."""

from smartcis.tasks.engine import supervise_engine
from smartcis.tasks.sources import poll_sources
from smartcis.tasks.sweeps import relay_outbox, sweep_routes
from smartcis.tasks.time import tick

__all__ = ["poll_sources", "relay_outbox", "supervise_engine", "sweep_routes", "tick"]
