"""Crash schedules: a pipeline in memory and virtual time, cut at every point a process may die at.

    log ─ range planned ─ lane ─ state written ─ epoch published ─ batch committed
        0               1      2               3                 4

Each schedule is its seed: what happens in the small world, how the log is cut into batches, where
the process dies and whether the worker's memory goes with it. After every batch: views equal the
recomputation, what a client folded equals them, and every entry was told exactly once.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest
from spark.test_lane_processor import Worker, first_batch, folded_by
from views import small_world as world

from aspen.log.entry import encode
from aspen.model.delta import merge
from aspen.runtime.lane import Lane

SCHEDULES, NIGHTLY_SCHEDULES = 6, 2_000
BATCHES = 8
POINTS = ("planned", "in the lane", "state written", "published")


class Died(Exception):
    """The process is gone."""


@dataclass
class Pipeline:
    """Log, state store, results and offsets of one engine; what is here survives a death."""

    dice: random.Random
    worker: Worker
    log: list[bytes] = field(default_factory=first_batch)
    planned: tuple[int, int] | None = None
    committed: int = 0
    batch: int = 0
    published: int = -1
    told: Counter[int] = field(default_factory=Counter)
    folded: dict = field(default_factory=dict)

    def step(self, dies: str = "") -> None:
        """Run a batch, or the one again that was under way."""
        if self.planned is None:
            self.planned = (self.committed, self.dice.randint(self.committed + 1, len(self.log)))
        if dies == "planned":
            raise Died
        begin, end = self.planned
        before = self.worker.history()
        self.worker.position = begin
        if dies == "in the lane":
            self._die_in_the_lane(begin, end)
        row = self.worker.run(self.log[begin:end], self.dice.randrange(2))
        if dies == "state written":
            # State of a batch that was not committed is not what the next one begins with.
            self.worker.tester.updateListState("history", self.worker.key, before)
            raise Died
        if self.published < self.batch:
            self.published = self.batch
            self.told.update(range(begin, end))
            for view, delta in folded_by(row).items():
                merge(self.folded.setdefault(view, {}), delta)
        if dies == "published":
            self.worker.tester.updateListState("history", self.worker.key, before)
            raise Died
        self.committed, self.planned, self.batch = end, None, self.batch + 1

    def _die_in_the_lane(self, begin: int, end: int) -> None:
        """Apply half of the entries, in a worker that is then gone or not."""
        half = begin + (end - begin) // 2
        before = self.worker.history()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Lane, "_apply", _half(half))
            try:
                self.worker.run(self.log[begin:end], self.dice.randrange(2))
            except Died:
                self.worker.tester.updateListState("history", self.worker.key, before)
                raise


def _half(upto):
    whole = Lane._apply

    def apply(lane, entries, **options):
        whole(lane, [one for one in entries if one[0] <= upto], **options)
        if entries and entries[-1][0] > upto:
            raise Died
        return whole(lane, entries, **options)

    return apply


def run(seed: int) -> Counter[str]:
    """Run one schedule; returns where it died."""
    dice, deaths = random.Random(seed), Counter()
    pipeline = Pipeline(dice, Worker(compact_entries=dice.choice([6, 12, 5_000])))
    model = world.Model()
    while pipeline.committed < len(pipeline.log) or pipeline.batch < BATCHES:
        if pipeline.batch < BATCHES:
            for _ in range(dice.randint(1, 5)):
                entries = model.entries(operation(dice))
                pipeline.log += [encode(entry) for entry in entries or model.entries(TICK)]
        dies = dice.choice(("", *POINTS))
        try:
            pipeline.step(dies)
        except Died:
            deaths[dies] += 1
            if dice.random() < 0.7:
                pipeline.worker.residents = [{}]
    assert pipeline.told == Counter(range(len(pipeline.log)))
    for view, rows in model.answers().items():
        assert pipeline.folded.get(view, {}) == rows, (seed, view)
    return deaths


TICK = ("tick", "", 1)


def operation(dice: random.Random) -> tuple:
    """Draw what happens next."""
    node, small = dice.randrange(5), dice.randrange(4)
    return dice.choice(
        [
            ("ins", "link", (node, dice.randrange(5), dice.randrange(5))),
            ("ins", "wall", (node, dice.randrange(5), dice.randrange(5))),
            ("ins", "seed", (dice.choice("ab"), node)),
            ("ins", "lit", (node,)),
            ("ins", "pair", (small, dice.randrange(4))),
            ("del", dice.choice(["link", "lit", "pair"]), node),
            ("read", "reading", (small, dice.randrange(4))),
            ("tick", "", dice.randrange(1, 9)),
        ]
    )


def test_law_no_schedule_loses_doubles_or_changes_anything():
    deaths = sum(map(run, range(SCHEDULES)), Counter())
    assert set(deaths) == set(POINTS)


@pytest.mark.nightly
@pytest.mark.parametrize("tenth", range(10))
def test_law_nor_does_any_of_thousands(tenth):
    part = NIGHTLY_SCHEDULES // 10
    for seed in range(SCHEDULES + tenth * part, SCHEDULES + (tenth + 1) * part):
        run(seed)


def test_a_schedule_is_its_seed():
    assert run(7) == run(7)


def test_a_pipeline_that_tells_twice_is_found_out(monkeypatch):
    def forgetful(self, dies=""):
        self.published = -1
        return step(self, dies)

    step = Pipeline.step
    monkeypatch.setattr(Pipeline, "step", forgetful)
    with pytest.raises(AssertionError):
        for seed in range(SCHEDULES):
            run(seed)
