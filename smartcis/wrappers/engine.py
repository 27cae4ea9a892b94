"""Engine: AspEN about itself, from the results it writes.

Law:        the rows of successive polls add up to what the result store held of views over
            nothing closed: every epoch is counted once, or named as forgotten.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

import redis

from aspen.model.schema import Row
from aspen.results import EpochsForgotten
from aspen.results.protocol import Epoch, ViewChange
from smartcis import composition
from smartcis.catalog import SYSTEM
from smartcis.policies import CLOSED, reach
from smartcis.wrappers.base import Poller
from smartcis.wrappers.errors import SourceDown
from smartcis.wrappers.protocol import Append, Capability, StreamRows

Told = Sequence[tuple[Epoch, Sequence[ViewChange]]]


class EngineSource(Poller):
    """This installation's engine."""

    key = "engine"
    label = "AspEN itself"
    feeds = ("engine_load", "view_load", "sys_epochs")
    capabilities = (Capability.POLL,)

    def _read(self, append: Append, now_s: float) -> list[str]:
        memory, warnings = self.settings.memory, list[str]()
        results = composition.results()
        try:
            head, position, _ = results.head()
            known, since_s = int(memory.get("epoch", head)), float(memory.get("at_s", now_s))
            before = int(memory.get("position", position))
            try:
                found = results.epochs_since(known, 0.0)
                epochs = [one for one in found if one.number <= head]
            except EpochsForgotten:
                epochs = []
                warnings = [f"the epochs since {known} are forgotten"]
            queries = len(results.views())
        except redis.RedisError as error:
            raise SourceDown(f"the result store does not answer: {error}") from error
        first = "epoch" not in memory
        if not epochs and not first and not warnings:
            raise SourceDown(f"no epoch since {known}")
        # First what nobody can undo; a poll that fails here counts the same epochs again.
        reads = self.settings.reads()
        told = [(one, told_of(one, reads)) for one in epochs]
        span_s = now_s - since_s
        times = [ms for one in epochs if (ms := duration_ms(one)) is not None]
        row: Row = (
            self.settings.source,
            queries,
            head,
            len(epochs) / span_s if span_s > 0 else 0.0,
            statistics.median(times) if times else None,
            max(0, position - before),
            sum(abs(w) for _, changes in told for c in changes for w in c.delta.values()),
            now_s,
        )
        append(StreamRows(f"engine:{head}:{now_s}", "engine_load", [row]))
        append(StreamRows(f"views:{head}:{now_s}", "view_load", view_rows(told, now_s)))
        rows = epoch_rows(told, monitors(reads), now_s)
        append(StreamRows(f"epochs:{head}:{now_s}", "sys_epochs", rows))
        memory.update(epoch=head, at_s=now_s, position=position)
        return warnings


def told_of(epoch: Epoch, reads: Mapping[str, Sequence[str]]) -> list[ViewChange]:
    """Returns an epoch's changes of those views of which everybody may know that they changed.

    Answers to questions are none of them, nor is what rests on something closed.
    """
    return [
        change
        for change in epoch.changes
        if change.delta and change.view in reads and CLOSED.isdisjoint(reach([change.view], reads))
    ]


def duration_ms(epoch: Epoch) -> float | None:
    """The time from append to result of an epoch's newest entry, None where not measured."""
    timing = epoch.timing_ms
    if "appended_at" not in timing or "sink_at" not in timing:
        return None
    return max(0.0, timing["sink_at"] - timing["appended_at"])


def monitors(reads: Mapping[str, Sequence[str]]) -> set[str]:
    """Returns the views that watch the engine, themselves or through others.

    Args:
        reads: what each view reads.
    """
    found = {relation.name for relation in SYSTEM} | set(EngineSource.feeds)
    while True:
        more = {view for view, sources in reads.items() if not found.isdisjoint(sources)} - found
        if not more:
            return found
        found |= more


def epoch_rows(told: Told, left_out: Container[str], now_s: float) -> list[Row]:
    """Returns one row per epoch in which something changed.

    Args:
        told: epochs, and the changes that are told of each.
        left_out: views that watch the engine: a word about what they gave would make them give
            more, without end.
    """
    rows: list[Row] = []
    for epoch, changes in told:
        deltas = [change.delta for change in changes if change.view not in left_out]
        if deltas:
            came = sum(w for delta in deltas for w in delta.values() if w > 0)
            went = -sum(w for delta in deltas for w in delta.values() if w < 0)
            ms = duration_ms(epoch)
            rows.append((epoch.number, epoch.position, len(deltas), came, went, ms, now_s))
    return rows


def view_rows(told: Told, now_s: float) -> list[Row]:
    """Adds up what each view gave."""
    total: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for _, changes in told:
        for change in changes:
            counts = total[change.view]
            counts[0] += sum(w for w in change.delta.values() if w > 0)
            counts[1] -= sum(w for w in change.delta.values() if w < 0)
            counts[2] += 1
    return [(view, *counts, now_s) for view, counts in sorted(total.items())]
