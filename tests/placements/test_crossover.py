"""Selectivity crosses over, and the join leaves the network and returns, live, with equal rows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from placements.rig import ROOMS, WARM_AND_LIT, Running, lamps, put

from aspen.streamsql.statement import read_statement
from federation.cost import Weights
from smartcis.access.owner import SYSTEM
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.register_query import register_query
from smartcis.models import Placement
from smartcis.placements.decide import decide
from smartcis.placements.measured import measured_statistics
from smartcis.queries import standing_queries

pytestmark = pytest.mark.django_db

WAITING_MATTERS = Weights(bytes=1.0, energy=0.0, latency=0.0075)
"""So few motes, one hop away, save little energy: bytes against waiting make a crossover."""
COUNTING = {f"{name}_histogram.streamsql" for name in ("light", "temperature")}
BEAT_S = 1.0
LOOK_S = 15.0
DARK, BRIGHT = 100.0, 500.0
COLD, WARM = 19.0, 24.0


class Day:
    """The simulator, the optimizer's looks, and a subscriber, while somebody turns the lights."""

    def __init__(self):
        lamps()
        deploy_standing_queries(
            {name: text for name, text in standing_queries().items() if name in COUNTING}
        )
        self.query = register_query(read_statement(WARM_AND_LIT), SYSTEM)
        self.running = Running()
        self.follower = self.running.look_at(self.query.view.name)
        self.lux = dict.fromkeys(ROOMS, DARK)
        self.celsius = dict.fromkeys(ROOMS, 20.0)
        self.history = []
        self.compared = 0
        self._looked_s = self._turned_s = self.running.now_s

    @property
    def placement(self):
        return Placement.objects.filter(view=self.query.view).first()

    def turn(self, lux, celsius):
        """Turn light and heating in every room."""
        self.lux, self.celsius = dict.fromkeys(ROOMS, lux), dict.fromkeys(ROOMS, celsius)
        for rid in ROOMS:
            put("light", rid, lux)
            put("temperature", rid, celsius)
        self._turned_s = self.running.now_s

    def beat(self):
        """Let a second pass; compare what is seen once everybody has sampled anew."""
        self.running.beat(BEAT_S)
        self.follower.listen()
        if self.running.now_s - self._looked_s >= LOOK_S:
            self._looked_s = self.running.now_s
            if decide(self.query.view, measured_statistics(), WAITING_MATTERS, timedelta(0)):
                self.history.append((self.placement.wanted != [], self.placement.why))
        if self.running.now_s - self._turned_s > 12.0:
            wanted = {
                (rid, self.lux[rid], self.celsius[rid]): 1
                for rid in ROOMS
                if self.lux[rid] > 300 and self.celsius[rid] > 22
            }
            assert dict(self.follower.rows) == wanted
            assert self.running.lane.rows(self.query.view.name) == wanted
            self.compared += 1

    def until(self, holds, limit_s=240.0):
        for _ in range(round(limit_s / BEAT_S)):
            if holds():
                return
            self.beat()
        raise AssertionError("it did not come about")

    def run(self, seconds):
        for _ in range(round(seconds / BEAT_S)):
            self.beat()


def runs_inside(day):
    return bool(day.placement and day.placement.running and not day.placement.moving)


def runs_outside(day):
    return bool(day.placement and not day.placement.running and not day.placement.moving)


def test_lights_on_the_join_leaves_the_network_lights_off_it_returns(house, building):
    day = Day()
    day.until(lambda: runs_inside(day))
    day.run(10)
    day.turn(BRIGHT, WARM)
    day.until(lambda: runs_outside(day))
    day.run(20)
    day.turn(DARK, COLD)
    day.until(lambda: runs_inside(day))
    day.run(20)
    assert [inside for inside, _ in day.history] == [True, False, True]
    assert "light_reading.lux > 300.0 from 0 to 1" in day.history[1][1]
    assert day.compared > 60
    assert not day.running.lane.errors.rows


def test_what_wavers_within_the_band_moves_nothing(house, building):
    day = Day()
    day.until(lambda: runs_inside(day))
    since = day.placement.since
    for _ in range(4):
        put("light", "A", BRIGHT)
        day.lux["A"] = BRIGHT
        day.run(16)
        put("light", "A", DARK)
        day.lux["A"] = DARK
        day.run(16)
    assert day.placement.since == since
    assert len(day.history) == 1
