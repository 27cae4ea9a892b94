"""Whoever dies, the rows stay those of who lives, and nothing old passes for new."""

from __future__ import annotations

from datetime import timedelta

import pytest
from placements.rig import ROOMS, WARM_AND_LIT, Running, by_hand, lamps, put

from aspen.algebra.read import read_plan
from aspen.log.entry import Interest
from aspen.runtime.lane import Lane
from aspen.streamsql.statement import read_statement
from smartcis import composition
from smartcis.access.owner import SYSTEM
from smartcis.actions.register_query import register_query
from smartcis.actions.unregister_query import unregister_query
from smartcis.ingest.relay import relay
from smartcis.models import NetworkPiece, Placement, Sensor
from smartcis.placements.silence import silence_pieces
from smartcis.placements.store import Reason, Variant, want
from smartcis.simulation.deployment import wanted_streams

pytestmark = pytest.mark.django_db

BY_HAND = Reason("somebody said so")


class Inside:
    """A join that runs inside the network, and somebody who follows it."""

    def __init__(self):
        lamps()
        for place, rid in enumerate(ROOMS):
            put("light", rid, 400.0 + place)
            put("temperature", rid, 25.0)
        self.query = register_query(read_statement(WARM_AND_LIT), SYSTEM)
        self.view = self.query.view.name
        self.running = Running()
        self.follower = self.running.look_at(self.view)
        want(self.query.view, by_hand(read_plan(self.query.view.plan_text)), BY_HAND)
        self.until(lambda: Placement.objects.get().running and self.rooms() == set(ROOMS))

    def rooms(self):
        self.follower.listen()
        return {rid for rid, *_ in self.follower.rows}

    def until(self, holds):
        self.running.until(holds, limit_s=400.0, beat_s=1.0)


@pytest.fixture
def inside(house, building):
    return Inside()


def mote(kind, rid):
    return Sensor.objects.get(kind=kind, unit_id=rid).sid


def test_a_dead_mote_is_missing_from_the_answer_and_comes_back(inside):
    network = inside.running.network
    network.fail(mote("light", "A"))
    inside.until(lambda: inside.rooms() == {"B", "hall"})
    piece = NetworkPiece.objects.get()
    assert piece.motes < piece.expected == 2 * len(ROOMS)
    network.revive(mote("light", "A"))
    inside.until(lambda: inside.rooms() == set(ROOMS))


def test_without_its_base_station_the_network_says_nothing(inside):
    network = inside.running.network
    (base,) = (one.spec.mote for one in network.motes if one.base)
    network.fail(base)
    inside.until(lambda: inside.rooms() == set())
    network.revive(base)
    inside.until(lambda: inside.rooms() == set(ROOMS))


def test_a_simulator_that_begins_anew_goes_on_where_the_tables_stand(inside):
    told = inside.follower.changes
    inside.running.start()
    inside.running.run(60, beat_s=1.0)
    assert inside.rooms() == set(ROOMS)
    assert inside.follower.changes == told  # nothing was taken back and given again
    put("light", "B", 10.0)
    inside.until(lambda: inside.rooms() == {"A", "hall"})


def test_a_simulator_that_is_gone_leaves_no_old_answer(inside):
    assert silence_pieces() == 0
    NetworkPiece.objects.update(
        answered_at=NetworkPiece.objects.get().answered_at - timedelta(3600)
    )
    assert silence_pieces() == 1
    inside.running.run(3, simulating=False)
    assert inside.rooms() == set()
    inside.until(lambda: inside.rooms() == set(ROOMS))


def test_a_new_log_is_told_of_the_pieces(inside, settings):
    settings.LOG_NAME = f"{settings.LOG_NAME}-new"
    composition.log.cache_clear()
    log, lane = composition.log(), Lane()
    relay(log)
    log.append([Interest(0.0, inside.view, "test", 1e9)])
    lane.apply(log.read(0, log.head()))
    assert lane.rows(inside.view) == dict(inside.follower.rows)
    assert not lane.errors.rows


def test_who_dies_in_the_middle_of_a_move_ends_it_later(inside):
    """The way back is wanted, the raw streams have been ordered, and everything stops."""
    want(inside.query.view, Variant(), BY_HAND)
    assert Placement.objects.get().moving
    assert wanted_streams() == {"light_reading", "temperature_reading"}
    inside.running.start()
    inside.until(lambda: not Placement.objects.get().moving)
    inside.running.run(5, beat_s=1.0)
    assert inside.rooms() == set(ROOMS)
    assert not NetworkPiece.objects.exists()


def test_a_dead_sensor_does_not_hold_up_the_way_back(inside):
    inside.running.network.fail(mote("temperature", "A"))
    inside.until(lambda: inside.rooms() == {"B", "hall"})
    want(inside.query.view, Variant(), BY_HAND)
    inside.until(lambda: not Placement.objects.get().moving)
    inside.running.run(130, beat_s=1.0)  # longer than a reading of the dead one would count
    assert inside.rooms() == {"B", "hall"}


def test_a_query_that_ends_takes_its_piece_along(inside):
    unregister_query(inside.query.pk, SYSTEM)
    inside.running.run(3, beat_s=1.0)
    assert not NetworkPiece.objects.exists()
    assert not inside.running.runner.deployed
    assert wanted_streams() == frozenset()


def test_motes_without_the_program_are_not_waited_for_without_end(house, building):
    lamps()
    query = register_query(read_statement(WARM_AND_LIT), SYSTEM)
    running = Running()
    running.run(20, beat_s=1.0)
    plan = by_hand(read_plan(query.view.plan_text))
    for one in running.network.motes:
        if one.base:
            running.network.fail(one.spec.mote)
    want(query.view, plan, BY_HAND)
    running.until(lambda: bool(Placement.objects.get().trouble), beat_s=1.0)
    placement = Placement.objects.get()
    assert not placement.moving
    assert not placement.running
    assert "did not get the program" in placement.trouble
