"""Door: a way in from outside, with what it usually takes; and what is counted at it."""

from __future__ import annotations

import base64
import random
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.mutations import Mutator

TELL_S = 5.0
STALLED_CPU_S = 30.0  # of one input; on this side of it nobody waits for a reader


class Fault(AssertionError):
    """An input was neither taken nor refused as it should be."""


class Stalled(BaseException):
    """An input kept its reader for longer than anybody waits."""


@dataclass(frozen=True, slots=True)
class Door:
    """One way in.

    Args:
        seeds: what it takes.
        enter: hands an input in; returns what came of it in a word, raises for a fault.
        words: what means something to it.
        forms: see `Mutator`.
    """

    seeds: Sequence[bytes]
    enter: Callable[[bytes], str]
    words: Sequence[bytes] = ()
    forms: Sequence[str] = ("words", "lines", "bytes")


@dataclass(slots=True)
class Counts:
    """What came of a door's inputs.

    Args:
        outcomes: how often each word came back: taken, or the code of an error.
        faults: by exception and place: how often, and the first input that did it.
        slowest_cpu_s: of one input.
    """

    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: dict[str, dict[str, Any]] = field(default_factory=dict)
    slowest_cpu_s: float = 0.0
    took_s: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Returns them for a report."""
        return {
            "inputs": self.inputs,
            "took_s": round(self.took_s, 1),
            "slowest_cpu_s": round(self.slowest_cpu_s, 2),
            "outcomes": dict(self.outcomes.most_common(12)),
            "faults": self.faults,
        }


def fuzz(
    door: Door,
    inputs: int,
    seed: str,
    *,
    seconds: float = float("inf"),
    tell: Callable[[Counts], object] = lambda _counts: None,
) -> Counts:
    """Hands in so many inputs drawn from a seed.

    Args:
        seconds: after that long no further input is drawn.
        tell: hears every few seconds what was counted.
    """
    mutator = Mutator(door.seeds, door.words, door.forms, random.Random(seed))
    counts, began = Counts(), time.monotonic()
    told_s = began
    for _ in range(inputs):
        counts.took_s = time.monotonic() - began
        if counts.took_s > seconds:
            break
        if time.monotonic() - told_s > TELL_S:
            told_s = time.monotonic()
            tell(counts)
        data = mutator.draw()
        before = time.process_time()
        try:
            with _watched():
                outcome = door.enter(data)
        except (Exception, Stalled) as fault:  # noqa: BLE001  # every one is what is looked for
            outcome = "fault"
            place = _place(fault)
            known = counts.faults.setdefault(
                place, {"times": 0, "input": base64.b64encode(data[:20_000]).decode()}
            )
            known["times"] += 1
            known.setdefault("trace", traceback.format_exc()[-3_000:])
        counts.slowest_cpu_s = max(counts.slowest_cpu_s, time.process_time() - before)
        counts.outcomes[outcome] += 1
        counts.inputs += 1
    tell(counts)
    return counts


@contextmanager
def _watched() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Stalled

    old = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, STALLED_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


def _place(fault: BaseException) -> str:
    frames = traceback.extract_tb(fault.__traceback__)
    ours = [one for one in frames if "site-packages" not in one.filename] or frames
    last = ours[-1]
    words = str(fault)[:160] if isinstance(fault, Fault) else ""
    where = last.filename.partition("/wt/")[2] or last.filename
    return f"{type(fault).__name__} {words} at {where.rpartition('/')[2]}:{last.lineno}"
