"""Memory: what is known of a source between two looks at it, by whichever process looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import structlog
from django.db import transaction

from aspen.errors import AspenError
from aspen.log.redis_log import RedisLog
from smartcis.models import Source, SourceState
from smartcis.sources.sink import SourceSink
from smartcis.wrappers.errors import LogAway
from smartcis.wrappers.pulse import Pulse

KNOWN = ("asked_s", "since_s", "heard_s", "beat_s", "reason", "warnings", "memory")

logger = structlog.get_logger(__name__)


def recall(source: Source) -> tuple[SourceState, Pulse]:
    """Returns what is known of a source, and its pulse."""
    state, _ = SourceState.objects.get_or_create(source=source)
    pulse = Pulse(
        source.source,
        source.period_s,
        source.added_at.timestamp(),
        since_s=state.since_s,
        heard_s=state.heard_s,
        beat_s=state.beat_s,
        reason=state.reason,
    )
    return state, pulse


def say(pulse: Pulse, sink: SourceSink, now_s: float) -> bool:
    """Appends a heartbeat if one is due.

    Returns:
        Whether one was.
    """
    row = pulse.due(now_s)
    if row is None:
        return False
    try:
        sink.beat(row)
    except LogAway as away:
        pulse.unsaid()
        logger.warning("heartbeat not said", source=pulse.source, reason=away.message)
    return True


def keep(state: SourceState, pulse: Pulse) -> None:
    """Stores what is known of a source, unless it has been removed meanwhile."""
    state.since_s, state.heard_s = pulse.since_s, pulse.heard_s
    state.beat_s, state.reason = max(pulse.beat_s, 0.0), pulse.reason
    with transaction.atomic():
        if Source.objects.select_for_update().filter(pk=state.source_id).exists():
            state.save(update_fields=KNOWN)


@contextmanager
def calls_of(
    sources: Sequence[Source], log: RedisLog, *, clock: Callable[[], float] = time.time
) -> Iterator[None]:
    """Notes that the gateways of sources called, or why what they brought was refused."""
    fault: AspenError | None = None
    try:
        yield
    except AspenError as refused:
        fault = refused
        raise
    finally:
        for source in sources:
            state, pulse = recall(source)
            if fault is None:
                pulse.heard(clock())
            else:
                pulse.trouble(f"{fault.code}: {fault.message}")
            if say(pulse, SourceSink(source.source, log, clock), clock()):
                keep(state, pulse)
