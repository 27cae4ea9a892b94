"""Reader: one polled source, taken up where the last poll left it.

SourceState ── pulse, memory ── poll ── pulse, memory ── SourceState
                                  └── heartbeat ── log
"""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.db.models import F
from django.db.models.functions import Coalesce

from aspen.errors import AspenError
from aspen.log.redis_log import RedisLog
from smartcis.models import Reservation, SoftwareInstall, Source, SourceRow, SourceState
from smartcis.sources.memory import keep, recall, say
from smartcis.sources.sink import SourceSink
from smartcis.wrappers.base import Poller
from smartcis.wrappers.kinds import KINDS, kind_of

WARNINGS_KEPT = 50

logger = structlog.get_logger(__name__)


def due_sources(now_s: float) -> list[str]:
    """Returns the polled sources whose time has come."""
    polled = [kind.key for kind in KINDS if issubclass(kind, Poller)]
    found = Source.objects.filter(enabled=True, kind__in=polled)
    asked = found.annotate(asked_s=Coalesce("state__asked_s", 0.0))
    return list(asked.filter(asked_s__lte=now_s - F("period_s")).values_list("pk", flat=True))


def poll_if_due(source: str, log: RedisLog) -> int:
    """Polls a source if its time has come.

    Returns:
        How many were polled.
    """
    if source not in due_sources(time.time()):
        return 0
    poll_source(Source.objects.get(pk=source), log)
    return 1


def poll_source(source: Source, log: RedisLog, clock: Callable[[], float] = time.time) -> bool:
    """Polls one source, and say in the log how it is.

    Returns:
        Whether it answered.
    """
    now_s = clock()
    state, pulse = recall(source)
    # Before asking: a reader that has to be killed is not begun again at once.
    SourceState.objects.filter(pk=source.pk).update(asked_s=now_s)
    sink = SourceSink(source.source, log, clock)
    answered, warnings = False, list(state.warnings)
    try:
        poller = kind_of(source.kind)(source.reader_settings(state.memory), clock)
        assert isinstance(poller, Poller)
    except AspenError as fault:
        pulse.trouble(f"{fault.code}: {fault.message}")
    else:
        poller.pulse = pulse
        try:
            answered = poller.ask(sink)
        except SoftTimeLimitExceeded:
            pulse.trouble("it takes too long to read")
            logger.warning("poll ended", source=source.pk)
        warnings = list(poller.warnings)
    say(pulse, sink, now_s)
    state.asked_s, state.warnings = now_s, warnings[:WARNINGS_KEPT]
    keep(state, pulse)
    return answered


def withdraw_disabled() -> int:
    """Removes what sources said that are switched off now: nobody keeps it true.

    Returns:
        How many rows went.
    """
    gone = 0
    for model in (Reservation, SoftwareInstall, SourceRow):
        found = model.objects.filter(source__enabled=False)
        if found.exists():
            gone += found.delete()[0]
    # Switched on again it is read afresh.
    SourceState.objects.filter(source__enabled=False).exclude(memory={}).update(
        memory={}, asked_s=0.0
    )
    return gone
