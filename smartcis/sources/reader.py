"""Reader: one polled source, taken up where the last poll left it.

SourceState ── pulse, memory ── poll ── pulse, memory ── SourceState
                                  └── heartbeat ── log
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connections

from aspen.errors import AspenError
from aspen.log.redis_log import RedisLog
from smartcis.models import Reservation, SoftwareInstall, Source, SourceRow, SourceState
from smartcis.sources.memory import keep, recall, say
from smartcis.sources.sink import SourceSink
from smartcis.wrappers.base import Poller
from smartcis.wrappers.kinds import KINDS, kind_of

AT_ONCE = 4  # sources that keep us waiting do not keep the others waiting
WARNINGS_KEPT = 50


def poll_due(log: RedisLog) -> int:
    """Polls every source whose time has come, some at once; withdraw what is switched off.

    Returns:
        How many were polled.
    """
    now_s = time.time()
    polled = [kind.key for kind in KINDS if issubclass(kind, Poller)]
    withdraw_disabled()
    waiting = Source.objects.filter(enabled=True, kind__in=polled).select_related("state")
    due = [source for source in waiting if now_s - _asked_s(source) >= source.period_s]
    if len(due) == 1:
        poll_source(due[0], log)
    elif due:

        def poll(source: Source) -> None:
            try:
                poll_source(source, log)
            finally:
                connections.close_all()  # this thread's own

        with ThreadPoolExecutor(min(AT_ONCE, len(due))) as pool:
            list(pool.map(poll, due))
    return len(due)


def _asked_s(source: Source) -> float:
    try:
        return source.state.asked_s
    except SourceState.DoesNotExist:
        return 0.0


def poll_source(source: Source, log: RedisLog, clock: Callable[[], float] = time.time) -> bool:
    """Polls one source, and say in the log how it is.

    Returns:
        Whether it answered.
    """
    now_s = clock()
    state, pulse = recall(source)
    sink = SourceSink(source.source, log, clock)
    answered, warnings = False, list(state.warnings)
    try:
        poller = kind_of(source.kind)(source.reader_settings(state.memory), clock)
        assert isinstance(poller, Poller)
    except AspenError as fault:
        pulse.trouble(f"{fault.code}: {fault.message}")
    else:
        poller.pulse = pulse
        answered = poller.ask(sink)
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
