"""A small house of motes with virtual time, a real log, a lane, and somebody who follows a view."""

from __future__ import annotations

import itertools
import secrets
from collections import Counter
from dataclasses import replace

from aspen.algebra.explain import plan_text
from aspen.algebra.expr import Col
from aspen.algebra.plan import Join, Plan, Project, Scan, Window, children, with_children
from aspen.log.entry import Interest, Tick
from aspen.model.schema import Column, Relation, SourceKind
from aspen.runtime.lane import Lane
from federation.fragment import NetworkFragment
from smartcis import composition
from smartcis.ingest.readings import append_readings
from smartcis.ingest.relay import relay
from smartcis.models import OutboxEntry, Sensor, Unit
from smartcis.placements.store import Variant
from smartcis.simulation.deployment import wanted_streams
from smartcis.simulation.pacer import Pacer
from smartcis.simulation.world import world

NOW_S = 1_795_000_000.0
PERIOD_S = 20.0
ROOMS = ("A", "B", "hall")
WARM_AND_LIT = """
    SELECT l.rid, l.lux, t.celsius
    FROM light_reading [PARTITION BY sid ROWS 1 RANGE 120 SECONDS] l
    JOIN temperature_reading [PARTITION BY sid ROWS 1 RANGE 120 SECONDS] t ON t.rid = l.rid
    WHERE l.lux > 300.0 AND t.celsius > 22.0
"""


def lamps(period_s: float = 4.0) -> None:
    """Put a lamp's and a warmth's sensor into every room, and take all others away."""
    Sensor.objects.all().delete()
    for rid in ROOMS:
        for kind, value in (("light", 100.0), ("temperature", 20.0)):
            sensor = Sensor(
                kind=kind,
                unit=Unit.objects.get(pk=rid),
                waveform="constant",
                parameters={"value": value, "noise": 0.0},
                period_s=period_s,
            )
            sensor.full_clean(exclude=["sid", "level", "node", "unit", "x_m", "y_m"])
            sensor.save()


def put(kind: str, rid: str, value: float) -> None:
    """Change what a room's sensor measures."""
    sensor = Sensor.objects.get(kind=kind, unit_id=rid)
    sensor.parameters = {"value": value, "noise": 0.0}
    sensor.save()


def by_hand(plan: Plan, method: str = "pairwise", name: str = "net_0123456789") -> Variant:
    """Returns the variant in which the motes run everything below the outermost projection."""
    inside = plan
    while not isinstance(inside, Join):
        (inside,) = children(inside)
    kept = [c for c in inside.columns if not c.name.endswith("at_s")]
    plain = tuple(Column(f"c{place}", c.type, c.unit, c.nullable) for place, c in enumerate(kept))
    outputs = tuple((one, Col(c.name)) for one, c in zip(plain, kept, strict=True))
    motes = Project(_without_windows(inside), outputs)
    scan = Scan(name, "n", tuple(replace(c, name=f"n.{c.name}") for c in plain))
    back = Project(
        scan, tuple((c, Col(f"n.{one.name}")) for c, one in zip(kept, plain, strict=True))
    )
    relation = Relation(name, plain, SourceKind.TABLE)
    engine = _replaced(plan, inside, back)
    return Variant(
        (
            NetworkFragment(
                name, relation, motes, inside, PERIOD_S, method, keys=8, shares=(0.3, 0.3)
            ),
        ),
        plan_text(engine),
    )


def _without_windows(plan: Plan) -> Plan:
    if isinstance(plan, Window):
        return plan.child
    return with_children(plan, tuple(_without_windows(child) for child in children(plan)))


def _replaced(plan: Plan, old: Plan, new: Plan) -> Plan:
    if plan == old:
        return new
    return with_children(plan, tuple(_replaced(child, old, new) for child in children(plan)))


class Follower:
    """Folds what a subscriber of one view is told, and checks that it could be told so.

    Law: no row is taken back that was not given; epochs come without a gap.
    """

    def __init__(self, view: str) -> None:
        self.view = view
        self.rows: Counter = Counter()
        self.epoch = 0
        self.changes = 0

    def listen(self) -> None:
        for epoch in composition.results().epochs_since(self.epoch, 0.0):
            assert epoch.number == self.epoch + 1
            self.epoch = epoch.number
            for change in epoch.changes:
                if change.view != self.view:
                    continue
                assert change.error is None
                if change.closed:
                    self.rows.clear()
                for row, weight in change.delta.items():
                    self.rows[row] += weight
                    self.changes += 1
                    assert self.rows[row] >= 0, row
                    if not self.rows[row]:
                        del self.rows[row]


class Running:
    """The simulator's process, relay and engine, turned by hand."""

    def __init__(self, seed: int = 2026) -> None:
        self.now_s = NOW_S
        self.log = composition.log()
        self.lane = Lane()
        self._seed = seed
        self._generation, self._batch = secrets.token_hex(4), itertools.count(1)
        self._ticked_s = 0.0
        relay(self.log, now_s=lambda: self.now_s)
        self.start()

    def start(self) -> None:
        """Begin the simulator's process, or begin it anew after it died."""
        self.pacer = Pacer(
            world(), self._seed, self._append, wanted_streams, clock=lambda: self.now_s
        )
        self.pacer.beat()

    def _append(self, readings, key):
        append_readings(self.log, readings, key=key, now_s=self.now_s)

    @property
    def runner(self):
        return self.pacer.runner

    @property
    def network(self):
        return self.pacer.building.network

    def look_at(self, view: str) -> Follower:
        """Let somebody look at a view for ever."""
        self.log.append([Interest(self.now_s, view, "test", 1e9)])
        return Follower(view)

    def beat(self, seconds: float = 0.5, *, simulating: bool = True) -> None:
        """Let a little time pass for everybody."""
        self.now_s += seconds
        if simulating:
            self.pacer.beat()
        self.turn()

    def turn(self) -> None:
        """Relay, tick, and let the engine fold what came."""
        if OutboxEntry.objects.filter(position=None).exists():
            relay(self.log, now_s=lambda: self.now_s)
        if self.now_s - self._ticked_s >= 1.0:
            self._ticked_s = self.now_s
            self.log.append([Tick(self.now_s)])
        entries = self.log.read(self.lane.position, self.log.head())
        if entries:
            changes = self.lane.apply(entries)
            composition.results().write(
                self._generation,
                next(self._batch),
                self.lane.position,
                entries[-1][1].at_s,
                changes,
                {},
            )

    def run(self, seconds: float, beat_s: float = 0.5, **options) -> None:
        """Let time pass."""
        for _ in range(round(seconds / beat_s)):
            self.beat(beat_s, **options)

    def until(self, holds, limit_s: float = 400.0, beat_s: float = 0.5) -> None:
        """Let time pass until something holds.

        Raises:
            AssertionError: it did not within so much virtual time.
        """
        for _ in range(round(limit_s / beat_s)):
            if holds():
                return
            self.beat(beat_s)
        raise AssertionError("it did not come about")
