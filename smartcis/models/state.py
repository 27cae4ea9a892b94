"""The whole state of the database as outbox bodies: what is sent to a new log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps

from smartcis.models.placements import NetworkPiece, piece_bodies
from smartcis.models.queries import MaintainedView
from smartcis.models.source import SourceModel

ROWS_PER_BODY = 2_000


def source_models() -> list[type[SourceModel]]:
    """Returns every concrete source model."""
    return [model for model in apps.get_models() if issubclass(model, SourceModel)]


def whole_state() -> Iterator[dict[str, Any]]:
    """All rows of all source tables and of the network's answers, then all views in order."""
    for model in source_models():
        body: list[list[Any]] = []
        stored = model._base_manager.select_related(*(model.rows_need or (None,))).order_by("pk")  # noqa: SLF001  # the manager Django itself writes through
        for one in stored.iterator(chunk_size=ROWS_PER_BODY):
            body += [[relation, 1, *row] for relation, row in one.rows()]
            if len(body) >= ROWS_PER_BODY:
                yield {"changes": body}
                body = []
        if body:
            yield {"changes": body}
    for piece in NetworkPiece.objects.filter(live=True):
        yield from piece_bodies(piece)
    views = MaintainedView.objects.filter(error__isnull=True).select_related("placement")
    for view in views.order_by("order"):
        yield view.registration()
