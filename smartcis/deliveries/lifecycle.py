"""Lifecycle: when the alarm of one key begins and ends, by what is seen of it and log time alone.

    seen        cool  HOT  HOT        between  cool          (gone)               HOT
    at_s        0     10   25         50       60            130                  500
    30 s hot          ├── held ─▶ 40: raised   │             │                    │
    60 s cool                                  ├─▶ 120: cleared                   │
    300 s gone                                               ├─▶ 430: silent ── 500: heard

Law:        a moment at which nothing is seen changes nothing that a later one would not: what was
            seen holds until something else is, and whatever is due happens at the time it is due.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from aspen.streamsql.alarm_rule import AlarmRule


class Seen(Enum):
    """What a key's rows say."""

    HOT = "raises"
    COOL = "clears"
    BETWEEN = "neither"
    GONE = "no row, or no known value"


class AlarmStep(Enum):
    """What happens to a key."""

    RAISED = "raised"
    CLEARED = "cleared"
    SILENT = "no data"
    HEARD = "data again"


@dataclass(frozen=True, slots=True)
class Watch:
    """A key between two moments.

    Args:
        raised: whether its alarm stands.
        silent: whether its alarm about no data stands.
        hot_s: since when it raises without a break, while its alarm does not stand; else None.
        cool_s: since when it clears without a break, while its alarm stands; else None.
        gone_s: since when nothing is known of it, where the rule asks for that; else None.
    """

    raised: bool = False
    silent: bool = False
    hot_s: float | None = None
    cool_s: float | None = None
    gone_s: float | None = None


Happened = tuple[AlarmStep, float]
"""A step, and the log time at which it was due."""


def see(watch: Watch, rule: AlarmRule, seen: Seen, at_s: float) -> tuple[Watch, list[Happened]]:
    """Takes in what is seen of a key from `at_s` on; first what was due until then."""
    watch, before = settle(watch, rule, at_s)
    if seen is Seen.GONE and rule.silent_s is None:
        seen = Seen.COOL
    gone = seen is Seen.GONE
    heard: list[Happened] = [(AlarmStep.HEARD, at_s)] if watch.silent and not gone else []
    watch = Watch(
        raised=watch.raised,
        silent=watch.silent and gone,
        hot_s=_since(watch.hot_s, at_s) if seen is Seen.HOT and not watch.raised else None,
        cool_s=_since(watch.cool_s, at_s) if seen is Seen.COOL and watch.raised else None,
        gone_s=_since(watch.gone_s, at_s) if gone else None,
    )
    watch, after = settle(watch, rule, at_s)
    return watch, before + heard + after


def settle(watch: Watch, rule: AlarmRule, until_s: float) -> tuple[Watch, list[Happened]]:
    """Lets happen what is due until a log time, in the order in which it is due."""
    happened = sorted(
        (one for one in _coming(watch, rule) if one[1] <= until_s), key=lambda one: one[1]
    )
    for step, _ in happened:
        if step is AlarmStep.RAISED:
            watch = replace(watch, raised=True, hot_s=None)
        elif step is AlarmStep.CLEARED:
            watch = replace(watch, raised=False, cool_s=None)
        else:
            watch = replace(watch, silent=True)
    return watch, happened


def due_s(watch: Watch, rule: AlarmRule) -> float | None:
    """Returns when something happens to a key of which nothing else is seen; None for never."""
    return min((at_s for _, at_s in _coming(watch, rule)), default=None)


def _coming(watch: Watch, rule: AlarmRule) -> Iterator[Happened]:
    if watch.hot_s is not None:
        yield AlarmStep.RAISED, watch.hot_s + rule.raise_s
    if watch.cool_s is not None:
        yield AlarmStep.CLEARED, watch.cool_s + rule.clear_s
    if watch.gone_s is not None and not watch.silent and rule.silent_s is not None:
        yield AlarmStep.SILENT, watch.gone_s + rule.silent_s


def _since(since_s: float | None, at_s: float) -> float:
    return at_s if since_s is None else since_s
