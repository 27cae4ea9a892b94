"""A running query goes into the network and comes back; nobody sees it but in where it runs."""

from __future__ import annotations

import pytest
from placements.rig import NOW_S, PERIOD_S, ROOMS, WARM_AND_LIT, Running, by_hand, lamps, put

from aspen.algebra.read import read_plan
from aspen.streamsql.statement import read_statement
from smartcis.access.owner import SYSTEM
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.register_query import register_query
from smartcis.models import NetworkPiece, Placement
from smartcis.placements.store import Reason, Variant, want
from smartcis.queries import standing_queries
from smartcis.simulation.deployment import wanted_streams

pytestmark = pytest.mark.django_db

BY_HAND = Reason("somebody said so")
SPENDING = ("mote_power.streamsql", "query_energy.streamsql")


@pytest.fixture
def query(house, building):
    """A running query over lamps and warmth, nothing else."""
    lamps()
    return register_query(read_statement(WARM_AND_LIT), SYSTEM)


def truth(lux, celsius):
    """Returns the rows the query must have."""
    return {
        (rid, lux[rid], celsius[rid]): 1 for rid in ROOMS if lux[rid] > 300 and celsius[rid] > 22
    }


class Weather:
    """What the rooms are like, epoch by epoch."""

    def __init__(self):
        self.lux = dict.fromkeys(ROOMS, 100.0)
        self.celsius = dict.fromkeys(ROOMS, 20.0)

    def turn(self, epoch):
        """Let a lamp and a heater be changed."""
        rid = ROOMS[epoch % 3]
        self.lux[rid] = float(150 + 271 * epoch % 800)
        other = ROOMS[(epoch // 2) % 3]
        self.celsius[other] = 18.0 + 1.7 * epoch % 9
        self.celsius[other] = round(self.celsius[other], 2)
        put("light", rid, self.lux[rid])
        put("temperature", other, self.celsius[other])


def test_in_and_out_with_equal_rows_at_every_epoch(query):
    running, weather = Running(), Weather()
    follower = running.look_at(query.view.name)
    inside = by_hand(read_plan(query.view.plan_text))
    places, seen = [], 0
    for epoch in range(1, 22):
        # The weather turns between the end of one epoch and the samples of the next.
        while running.now_s < NOW_S + epoch * PERIOD_S - 1.8:
            running.beat(0.8)
            follower.listen()
        if epoch > 2:
            wanted = truth(weather.lux, weather.celsius)
            assert dict(follower.rows) == wanted, epoch
            assert running.lane.rows(query.view.name) == wanted
            seen += len(wanted)
        places.append(
            "network" if Placement.objects.filter(running=[inside.names[0]]) else "engine"
        )
        if epoch == 5:
            want(query.view, inside, BY_HAND)
        if epoch == 12:
            want(query.view, Variant(), BY_HAND)
        weather.turn(epoch)
    assert places[:5] == ["engine"] * 5
    assert places.count("network") >= 5
    assert places[-6:] == ["engine"] * 6
    assert seen > 10
    assert not NetworkPiece.objects.exists()
    assert not running.runner.deployed
    assert not running.lane.errors.rows


def test_raw_streams_sleep_while_the_network_joins(query):
    running = Running()
    running.look_at(query.view.name)
    assert wanted_streams() == {"light_reading", "temperature_reading"}
    want(query.view, by_hand(read_plan(query.view.plan_text)), BY_HAND)
    running.until(lambda: not Placement.objects.get().moving)
    assert wanted_streams() == frozenset()
    running.run(10)
    before = running.pacer.sent
    running.run(20)
    assert running.pacer.sent == before
    want(query.view, Variant(), BY_HAND)
    assert wanted_streams() == {"light_reading", "temperature_reading"}
    running.until(lambda: not Placement.objects.get().moving)
    assert running.pacer.sent >= before + 2 * len(ROOMS)


def test_what_motes_spend_for_a_query_is_known_wherever_it_runs(query):
    deploy_standing_queries(
        {name: text for name, text in standing_queries().items() if name in SPENDING}
    )
    put("light", "A", 400.0)
    put("temperature", "A", 25.0)
    running = Running()
    running.look_at(query.view.name)
    assert spent(running, query) > 0.0
    want(query.view, by_hand(read_plan(query.view.plan_text)), BY_HAND)
    running.until(lambda: not Placement.objects.get().moving, beat_s=1.0)
    running.run(60, beat_s=2.5)
    inside = spent(running, query)
    assert inside > 0.0
    piece = NetworkPiece.objects.get()
    assert piece.energy_mj > 0.0
    assert inside / 3 < piece.mj_per_s < inside * 3  # of the last 20 s, and of the last minute


def spent(running, query):
    """Let two minutes pass; give the power of all motes for a query, mW."""
    running.run(125, beat_s=2.5)
    [(view, power_mw, sent_bytes_per_s, motes)] = running.lane.rows("query_energy")
    assert view == query.view.name
    assert sent_bytes_per_s > 0.0
    assert motes <= 2 * len(ROOMS)
    per_mote = running.lane.rows("mote_power")
    assert sum(row[5] for row in per_mote) == pytest.approx(power_mw)
    return power_mw
