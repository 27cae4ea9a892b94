"""An engine under test: a small world's log going in, and everything that must hold coming out."""

from __future__ import annotations

import random
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

from views import small_world as world
from waiting import until, wait_for_position

from aspen.algebra.explain import plan_text
from aspen.log import RedisLog
from aspen.model.delta import merge
from aspen.results import EpochsForgotten, RedisResults
from aspen.spark.engine import Engine

LIMIT_S = 200.0  # a busy machine; below the limit of a whole test


@dataclass
class Feed:
    """Appends a seeded random history of the small world, and knows what the views must hold."""

    log: RedisLog
    seed: int = 1
    model: world.Model = field(default_factory=world.Model)

    def __post_init__(self):
        self.random = random.Random(self.seed)

    def begin(self):
        self.log.append([*world.declarations(), *world.registrations(plan_text)])

    def operation(self):
        draw = self.random
        node, small = draw.randrange(5), draw.randrange(4)
        return draw.choice(
            [
                ("ins", "link", (node, draw.randrange(5), draw.randrange(5))),
                ("ins", "wall", (node, draw.randrange(5), draw.randrange(5))),
                ("ins", "seed", (draw.choice("ab"), node)),
                ("ins", "lit", (node,)),
                ("ins", "item", (small, draw.choice(["a", None]), small, draw.choice([0.1, None]))),
                ("ins", "pair", (small, draw.randrange(4))),
                ("del", draw.choice(["link", "link", "lit", "item", "pair"]), node),
                ("read", "reading", (small, draw.randrange(4))),
                ("tick", "", draw.randrange(1, 9)),
            ]
        )

    def more(self, count, pause_s=0.0):
        """Append `count` operations, each an append of its own."""
        for _ in range(count):
            entries = self.model.entries(self.operation())
            if entries:
                self.log.append(entries)
            time.sleep(pause_s)


class Follower(threading.Thread):
    """Hears every epoch and folds it, as a client of the live socket does."""

    def __init__(self, results: RedisResults):
        super().__init__(daemon=True)
        self.results = results
        self.numbers = []
        self.positions = []
        self.rows = {}
        self.resyncs = 0
        self.how = []
        self.over = threading.Event()
        self.start()

    def run(self):
        number = 0
        while not self.over.is_set():
            try:
                for epoch in self.results.epochs_since(number, 0.3):
                    number = epoch.number
                    self.hear(epoch)
            except EpochsForgotten:
                number = self.begin_anew(number)

    def hear(self, epoch):
        """Fold one epoch."""
        self.numbers.append(epoch.number)
        self.positions.append(epoch.position)
        self.how += [key for key in epoch.timing_ms if key.startswith("lane_")]
        for change in epoch.changes:
            assert change.error is None, change
            merge(self.rows.setdefault(change.view, {}), change.delta)

    def begin_anew(self, _number):
        """Read all views where epochs do not connect; give the epoch they are of."""
        self.resyncs += 1
        snapshots = self.results.snapshots(self.results.views())
        self.rows = {view: dict(s.rows) for view, s in snapshots.items()}
        return max((s.epoch for s in snapshots.values()), default=0)


@contextmanager
def running(config, session):
    """Run an engine in a thread."""
    said = []
    engine = Engine(config, lambda event, **fields: said.append((event, fields)), session)
    ended = []
    thread = threading.Thread(target=lambda: ended.append(engine.run()), daemon=True)
    thread.start()
    engine.said, engine.ended, engine.thread = said, ended, thread
    try:
        yield engine
    finally:
        engine.stop()
        thread.join(60)
        assert not thread.is_alive()


def caught_up(results, log):
    assert wait_for_position(results, log.head(), LIMIT_S), "the engine catches up"


def check(feed, results, follower=None):
    """Compare every view with the oracle, and the follower's fold with the store."""
    caught_up(results, feed.log)
    expected = feed.model.answers()
    snapshots = results.snapshots(results.views())
    assert {view: dict(s.rows) for view, s in snapshots.items()} == expected
    if follower is not None:
        epoch = max(s.epoch for s in snapshots.values())
        until(lambda: follower.numbers and follower.numbers[-1] >= epoch, "the follower hears all")
        assert {v: follower.rows.get(v, {}) for v in expected} == expected
        if not follower.resyncs:
            assert follower.numbers == list(range(1, len(follower.numbers) + 1))
            assert follower.positions == sorted(set(follower.positions))
