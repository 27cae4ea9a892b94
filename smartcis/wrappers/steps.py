"""Steps: what reading a calendar may cost, counted before and while it is expanded.

    event ── dates and characters ── parse ── rule: a step per day it looks at ── occurrences
                 steps │                            steps │                          steps │
                       └──────────────── of the event, of the feed ─────────────────────────┘

Law:        an event that asks for more than `OF_AN_EVENT` is broken, a feed that asks for more
            than `OF_A_FEED` is down; neither has cost more than that when it is refused.
Algorithm:  a rule asks for its calendar month by month, also where no day fits (30 February); each
            time the days of it are paid for. The library takes no budget: its month is replaced by
            one that counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from dateutil import rrule  # type: ignore[import-untyped]  # it has none

from smartcis.wrappers.errors import BrokenEvent, SourceDown

OF_AN_EVENT = 300_000  # a day each: eight centuries of days, thirty years of hours
OF_A_FEED = 6_000_000
OF_A_DATE = 300
OF_AN_OCCURRENCE = 200
OF_PARSING = 500
CHARACTERS = 2  # of a text, per step of parsing it
TIMES_A_DAY = 96  # every quarter of an hour
RULE_LENGTH = 500
LONGEST_SERIES_S = 31 * 24 * 3600.0  # longer events that repeat would all overlap

_DAYS = {rrule.YEARLY: 366}
_RULE = re.compile(r"^RRULE[^:\n]*:(.*)$", re.MULTILINE | re.IGNORECASE)
_DATES = re.compile(r"^(?:RDATE|EXDATE)[^:\n]*:(.*)$", re.MULTILINE | re.IGNORECASE)
_TIMES = re.compile(r"BY(?:HOUR|MINUTE|SECOND)=([^;]*)", re.IGNORECASE)
_OFTEN = re.compile(r"FREQ=(SECONDLY|MINUTELY|HOURLY)", re.IGNORECASE)


class Steps:
    """What is left of a feed's budget."""

    def __init__(self) -> None:
        self._of_feed, self._of_event = OF_A_FEED, 0

    def spend(self, steps: int) -> None:
        """Pays.

        Raises:
            BrokenEvent: the event asks for more than an event may.
            SourceDown: the feed asks for more than a feed may.
        """
        if steps > self._of_event:
            self._of_event = 0
            raise BrokenEvent("it takes too much work to find when it happens")
        self._of_event -= steps
        self._of_feed -= steps
        if self._of_feed < 0:
            raise SourceDown("the calendar takes too much work to read", found="many events")

    @contextmanager
    def event(self) -> Iterator[None]:
        """Lets rules spend as much as one event may."""
        self._of_event = OF_AN_EVENT
        token = _SPENT.set(self)
        try:
            yield
        finally:
            _SPENT.reset(token)

    def look(self, text: str) -> None:
        """Refuses by its text what would take too much, and pays for parsing it.

        Raises:
            BrokenEvent: it happens more often in a day than anything does in a building.
        """
        for rule in _RULE.findall(text):
            _check_rule(rule)
        dates = sum(line.count(",") + 1 for line in _DATES.findall(text))
        self.spend(OF_PARSING + len(text) // CHARACTERS + OF_A_DATE * dates)


_SPENT: ContextVar[Steps | None] = ContextVar("steps", default=None)


def _check_rule(rule: str) -> None:
    if len(rule) > RULE_LENGTH:
        raise BrokenEvent("its rule is too long", found=f"{len(rule)} characters")
    often = _OFTEN.search(rule)
    times = 24 if often and often[1].upper() == "HOURLY" else 1
    for values in _TIMES.findall(rule):
        times *= values.count(",") + 1
    if times > TIMES_A_DAY or (often and often[1].upper() != "HOURLY"):
        word = often[1].lower() if often else f"{times} times a day"
        raise BrokenEvent(f"it repeats {word}")


class _PaidMonth(rrule._iterinfo):  # type: ignore[misc]  # noqa: SLF001
    def rebuild(self, year: int, month: int) -> None:
        spent = _SPENT.get()
        if spent is not None:
            spent.spend(_cost(self.rrule))
        super().rebuild(year, month)


def _cost(rule: Any) -> int:
    """Returns the days, or times in them, that a rule looks at until it asks again."""
    days = _DAYS.get(rule._freq, 31)  # noqa: SLF001
    if rule._freq == rrule.HOURLY:  # noqa: SLF001
        times = 24 // max(1, int(rule._interval))  # noqa: SLF001
    else:
        times = len(rule._timeset or ())  # noqa: SLF001
    return days * max(1, times)


rrule._iterinfo = _PaidMonth  # noqa: SLF001
