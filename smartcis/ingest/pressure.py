"""Pressure: readings wait outside while the engine has more to read than it should.

    log     position ├───────── backlog ─────────┤ head
                     0          allowed          │ beyond: refused, come back in n seconds

What people do (doors, reservations, queries) is always taken: it is little, and it is the truth.
"""

from __future__ import annotations

from aspen.log import RedisLog
from aspen.results import RedisResults
from smartcis.errors import ComeBack

BACKLOG_ENTRIES = 20_000
"""About a quarter of an hour of the demo's readings, and less than a minute of an engine's work."""

_ENTRIES_PER_S = 1_000  # what an engine that catches up reads at least
_LONGEST_S = 60


class Overrun(ComeBack, code="smartcis.ingest.overrun"):
    """The engine is so far behind that readings have to wait outside."""

    def __init__(self, backlog: int) -> None:
        beyond = backlog - BACKLOG_ENTRIES
        retry_s = min(_LONGEST_S, 1 + beyond // _ENTRIES_PER_S)
        super().__init__(
            "the building cannot take more readings just now",
            retry_s=retry_s,
            found=f"{backlog} entries wait for the engine",
            exists=[f"up to {BACKLOG_ENTRIES}"],
            attempt=f"keep them and send them again in {retry_s} s; nothing was taken",
        )


def check_pressure(log: RedisLog, results: RedisResults) -> None:
    """Refuses when too much of the log has not been answered yet.

    Raises:
        Overrun: says when to come back.
    """
    backlog = log.head() - results.head()[1]
    if backlog > BACKLOG_ENTRIES:
        raise Overrun(backlog)
