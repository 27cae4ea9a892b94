"""Tables: the building and what stands in it, requests, queries, and the outbox to the log."""

from smartcis.models.outbox import LogLink, OutboxEntry
from smartcis.models.queries import MaintainedQuery, MaintainedView
from smartcis.models.routes import RouteRequest
from smartcis.models.source import SourceManager, SourceModel, SourceQuerySet

__all__ = [
    "LogLink",
    "MaintainedQuery",
    "MaintainedView",
    "OutboxEntry",
    "RouteRequest",
    "SourceManager",
    "SourceModel",
    "SourceQuerySet",
]
