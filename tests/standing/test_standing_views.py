"""The standing views equal an oracle after every epoch, whatever happens in the building."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.log.entry import Declare, Entry, Register
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_views
from smartcis.catalog import CATALOG
from smartcis.queries import standing_queries
from standing.world import World

DEEDS = (
    "seat",
    "cpu",
    "light",
    "temperature",
    "interval",
    "rfid",
    "allow",
    "door",
    "software",
    "reserve",
    "cancel",
    "ask",
    "leave",
    "machine",
    "meter",
    "outlet",
    "inside",
    "mote",
    "air",
    "keep",
    "rule",
)
deed = st.tuples(st.sampled_from(DEEDS), st.integers(0, 11), st.integers(0, 11))
epoch = st.tuples(st.lists(deed, min_size=1, max_size=6), st.sampled_from([0, 0, 1, 7, 70]))
# Everybody sits down somewhere and asks, so that routes exist from the start.
OPENING = [
    *[("seat", i, 0) for i in range(4)],
    *[("cpu", i, 0) for i in range(4)],
    *[("temperature", i, 1) for i in range(6)],
    *[("light", i, 2) for i in range(4)],
    *[("interval", i, i) for i in range(4)],
    ("ask", 0, 0),
    ("rule", 2, 3),
    ("ask", 1, 5),
    ("keep", 0, 0),
    ("software", 0, 1),
]


class Host:
    """One lane with every standing view, fed like the engine feeds it."""

    def __init__(self, world: World) -> None:
        self.lane = Lane()
        self.position = 0
        self.folded: dict[str, dict[tuple, int]] = {}
        declares = [Declare(world.at_s, relation) for relation in CATALOG]
        registers = [
            Register(world.at_s, view.name, plan_text(view.plan))
            for view in compile_views(standing_queries(), CATALOG)
        ]
        self.feed([*declares, world.build(), *registers])

    def feed(self, entries: list[Entry]) -> None:
        """Apply entries as one epoch and fold the deltas the way a client does."""
        numbered = [(self.position + i, entry) for i, entry in enumerate(entries, start=1)]
        self.position += len(entries)
        for change in self.lane.apply(numbered):
            assert change.error is None, change.error
            rows = self.folded.setdefault(change.view, {})
            for row, weight in change.delta.items():
                rows[row] = rows.get(row, 0) + weight
                if not rows[row]:
                    del rows[row]

    def check(self, world: World) -> None:
        """Compare what a client holds with the oracle."""
        for view, rows in world.oracle.expected().items():
            assert self.folded.get(view, {}) == dict.fromkeys(rows, 1), view


histories = given(
    seed=st.integers(0, 10_000),
    epochs=st.lists(epoch, min_size=20, max_size=30),
    restart=st.integers(0, 19),
)


@settings(max_examples=12, deadline=None)
@histories
def test_oracle_equals_every_view_after_every_epoch(seed, epochs, restart):
    live_through(seed, epochs, restart)


@pytest.mark.nightly
@settings(max_examples=400, deadline=None)
@histories
def test_oracle_equals_every_view_through_ten_thousand_epochs(seed, epochs, restart):
    live_through(seed, epochs, restart)


def live_through(seed, epochs, restart):
    """Compare every view after each epoch, with one restart from a snapshot on the way."""
    world = World(seed)
    host = Host(world)
    for number, (deeds, seconds) in enumerate([(OPENING, 1), *epochs]):
        entries: list[Entry] = [world.tick(seconds)] if seconds else []
        for kind, a, b in deeds:
            world.act(kind, a, b)
            entries.append(world.commit())
        host.feed(entries)
        host.check(world)
        if number == restart:
            host.lane = Lane.restore(host.lane.snapshot())


def test_shape_a_taken_seat_moves_the_route():
    world = World(3)
    host = Host(world)
    for deed_ in OPENING:
        world.act(*deed_)
    host.feed([world.tick(1), world.commit()])
    host.check(world)
    before = host.folded["nearest_destination"]
    assert before
    taken = next(row[4] for row in before if row[4].startswith("m"))
    world.act("seat", int(taken[1:]), 1)
    host.feed([world.commit()])
    host.check(world)
    assert taken not in {row[4] for row in host.folded["nearest_destination"]}
