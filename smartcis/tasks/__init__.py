"""Celery's tasks: thin, each calls one action."""

from smartcis.tasks.deliveries import collect_deliveries, send_deliveries, sweep_deliveries
from smartcis.tasks.engine import supervise_engine
from smartcis.tasks.placements import reconsider_placements
from smartcis.tasks.sources import poll_sources
from smartcis.tasks.sweeps import relay_outbox, rename_visitors, sweep_routes
from smartcis.tasks.time import tick

__all__ = [
    "collect_deliveries",
    "poll_sources",
    "reconsider_placements",
    "relay_outbox",
    "rename_visitors",
    "send_deliveries",
    "supervise_engine",
    "sweep_deliveries",
    "sweep_routes",
    "tick",
]
