"""Health of the sources, from the view `source_status`."""

from __future__ import annotations

from dataclasses import dataclass

import redis
import structlog
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from aspen.errors import AspenError
from smartcis import composition
from smartcis.models import Source
from smartcis.wrappers.kinds import kind_of

VIEW = "source_status"
UNKNOWN = "unknown"

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """One source and how it is.

    Args:
        state: live, late, dead, off, or unknown while the engine has not said yet.
        since_s: live: heard without a gap since then; else heard last; None when unknown.
        reason: what is wrong, empty for nothing.
        relations: what it feeds, by name.
        capabilities: what it can do for a query.
        refused: messages of it that could not be used.
    """

    source: Source
    state: str
    since_s: float | None
    reason: str
    relations: tuple[str, ...]
    capabilities: tuple[str, ...]
    refused: int


def source_health(chosen: QuerySet[Source] | None = None) -> list[SourceHealth]:
    """Returns sources with their health.

    Args:
        chosen: which; None for all.
    """
    known = _states()
    found = []
    counted = Coalesce("state__refused", 0)
    stored = Source.objects.all() if chosen is None else chosen
    stored = stored.select_related("machine").prefetch_related("mappings")
    for one in stored.annotate(refused=counted):
        state, since_s, reason = known.get(one.source, (UNKNOWN, None, ""))
        if not one.enabled:
            state, since_s, reason = "off", None, ""
        found.append(SourceHealth(one, state, since_s, reason, *declared(one), one.refused))
    return found


def declared(source: Source) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the relations a source feeds and its capabilities, as its wrapper declares them."""
    kind = kind_of(source.kind)
    try:
        wrapper = kind(source.reader_settings())
    except AspenError:
        return kind.feeds, ()  # its settings are broken, which its health says
    relations = tuple(relation.name for relation in wrapper.relations)
    return relations, tuple(sorted(one.value for one in kind.capabilities))


def _states() -> dict[str, tuple[str, float | None, str]]:
    try:
        snapshot = composition.results().snapshot(VIEW)
    except redis.RedisError as error:
        logger.warning("source health unknown", reason=str(error))
        return {}
    if snapshot is None or snapshot.error is not None:
        return {}
    names = [column[0] for column in snapshot.columns]
    found: dict[str, tuple[str, float | None, str]] = {}
    for row in snapshot.rows:
        one = dict(zip(names, row, strict=True))
        found[str(one["source"])] = (
            str(one["state"]),
            float(one["since_s"] or 0.0),
            str(one["reason"]),
        )
    return found
