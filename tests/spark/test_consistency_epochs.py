"""Exactly once: what a client folds equals the oracle at *every* epoch, whatever dies meanwhile."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace

import pytest
import redis
from spark import product
from views import small_world as world

from aspen.log import RedisLog
from aspen.log.entry import Register, Tick, Transaction
from aspen.model.delta import accumulate, merge
from aspen.results import RedisResults
from aspen.results.engine_status import read_status
from aspen.results.protocol import Epoch

pytestmark = pytest.mark.spark


class Recorded:
    """A log that remembers what went in, also after it was compacted."""

    def __init__(self, log):
        self._log = log
        self.entries = []

    def append(self, entries, key=""):
        position = self._log.append(entries, key)
        first = position - len(entries) + 1
        self.entries += enumerate(entries, start=first)
        return position

    def head(self):
        return self._log.head()

    def base(self):
        return self._log.base()


@dataclass
class Whole:
    """A fresh start: all views as of one epoch."""

    number: int
    position: int
    rows: dict


class Witness(product.Follower):
    """A client that writes down everything it hears, to be held against the oracle later."""

    def __init__(self, config):
        self.heard: list[Epoch | Whole] = []
        super().__init__(RedisResults(config.results_url, config.results_name, patience_s=20))

    def hear(self, epoch):
        self.heard.append(epoch)

    def begin_anew(self, number):
        whole = self.snapshot()
        if whole is None:
            return number
        self.heard.append(whole)
        return whole.number

    def snapshot(self):
        snapshots = self.results.snapshots(list(world.VIEWS))
        if not snapshots:
            return None  # another engine begins; it has told nothing yet
        one = next(iter(snapshots.values()))
        return Whole(one.epoch, one.position, {v: dict(s.rows) for v, s in snapshots.items()})

    def reach(self, position):
        product.until(lambda: self.heard and self.heard[-1].position >= position, "it hears all")


@pytest.fixture
def witness(config):
    following = Witness(config)
    yield following
    following.over.set()
    following.join(10)


def replay(model, entry):
    """Let one log entry happen to the model."""
    if isinstance(entry, Transaction):
        for change in entry.changes:
            if change.relation == world.READING.name:
                model.arrivals.append((entry.at_s, change.row))
            else:
                accumulate(model.tables[change.relation], change.row, change.weight)
    elif isinstance(entry, Tick):
        model.now_s = entry.at_s
        model.tables["clock"] = {(entry.at_s,): 1}


def judge(heard, entries):
    """Compare the fold with the oracle at every epoch; give how many there were, and resyncs."""
    model, folded, done, last, resyncs = world.Model(), {}, 0, 0, 0
    for news in heard:
        if isinstance(news, Whole):
            folded, resyncs = {view: dict(rows) for view, rows in news.rows.items()}, resyncs + 1
            # An engine that begins anew begins at the log's base, earlier than where it was.
            model, done = world.Model(), 0
        else:
            assert news.number == last + 1, "an epoch was lost, or came twice"
            for change in news.changes:
                assert change.error is None, change
                merge(folded.setdefault(change.view, {}), change.delta)
        last = news.number
        while done < len(entries) and entries[done][0] <= news.position:
            replay(model, entries[done][1])
            done += 1
        expected = model.answers()
        registered = {e.view for _, e in entries[:done] if isinstance(e, Register)}
        for view in expected:
            right = expected[view] if view in registered else {}
            assert folded.get(view, {}) == right, (view, news.number)
    return len(heard), resyncs


def another_checkpoint(config):
    """Begin anew; not in the old place, where this JVM may still write the old query's state."""
    return replace(config, checkpoint=config.checkpoint.with_name("another"))


def kill_worker(config):
    with redis.Redis.from_url(config.results_url) as client:
        os.kill(read_status(client, config.results_name).lane_pids[0], signal.SIGKILL)


def live(session, config, feed, witness, *, rounds, steps, pauses):
    """Let an engine live with workers that are killed, stop and go on, and begin anew."""
    log = feed.log
    results = RedisResults(config.results_url, config.results_name, patience_s=20)
    for pause in range(1 + pauses):
        with product.running(config, session):
            for _ in range(rounds):
                feed.more(steps)
                product.caught_up(results, log)
                kill_worker(config)
                feed.more(steps)
            product.caught_up(results, log)
        if pause < pauses:
            feed.more(steps)
    assert log.base().position > 0, "the log was compacted meanwhile"
    config = another_checkpoint(config)
    feed.more(steps // 2)
    with product.running(config, session):
        product.caught_up(results, log)
        witness.reach(log.head())
    results.close()


@pytest.fixture
def log(config):
    return Recorded(RedisLog(config.log_url, config.log_name, patience_s=20))


def test_oracle_at_every_epoch_through_kills_snapshots_and_compaction(
    session, config, log, witness
):
    feed = product.Feed(log)
    feed.begin()
    config = replace(config, entries_per_batch=6, compact_entries=15, keep_entries=30)
    live(session, config, feed, witness, rounds=2, steps=15, pauses=0)
    epochs, resyncs = judge(witness.heard, log.entries)
    assert epochs > 15
    assert resyncs == 1, "only the lost checkpoint may show"


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 6))
def test_oracle_at_every_epoch_for_long(session, config, log, witness, seed):
    feed = product.Feed(log, seed=seed)
    feed.begin()
    config = replace(config, entries_per_batch=seed, compact_entries=25, keep_entries=40)
    live(session, config, feed, witness, rounds=6, steps=30, pauses=2)
    epochs, resyncs = judge(witness.heard, log.entries)
    assert epochs > 100
    assert resyncs == 1
