"""Standing views kept on demand cost nothing while nobody looks."""

from __future__ import annotations

import pytest

from aspen.algebra.explain import plan_text
from aspen.log.entry import Declare, Interest, Register, Tick, Uninterest
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_views
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.catalog import CATALOG
from smartcis.models import MaintainedView
from smartcis.queries import LISTENING, ON_DEMAND, standing_queries
from smartcis.simulation import deployment

VIEWS = [
    Register(
        1.0, str(v.name), plan_text(v.plan), sharing="trunk", on_demand=str(v.name) in ON_DEMAND
    )
    for v in compile_views(standing_queries(), CATALOG)
]


def lane_with(views) -> Lane:
    lane = Lane()
    entries = [*(Declare(1.0, relation) for relation in CATALOG), *views, Tick(2.0)]
    lane.apply(list(enumerate(entries, start=1)))
    return lane


def nodes_of(lane: Lane) -> int:
    return len(lane.circuit._known)


def test_they_have_neither_operators_nor_rows_until_somebody_looks():
    without = lane_with([view for view in VIEWS if not view.on_demand])
    lane = lane_with(VIEWS)
    assert nodes_of(lane) == nodes_of(without)
    before = nodes_of(lane)
    position = lane.position
    for view in sorted(ON_DEMAND):
        lane.apply([(position + 1, Interest(3.0, view, "page", 60.0))])
        assert lane.views.by_name[view].error is None
        assert nodes_of(lane) > before, view
        lane.apply([(position + 2, Uninterest(4.0, view, "page"))])
        assert nodes_of(lane) == before, view
        position += 2


def test_no_view_that_is_always_kept_reads_one_that_is_not():
    reads = {str(v.name): v.sources for v in compile_views(standing_queries(), CATALOG)}
    assert set(reads) >= ON_DEMAND
    assert all(not (reads[view] & ON_DEMAND) for view in set(reads) - ON_DEMAND)


@pytest.mark.django_db
def test_no_device_measures_for_them_either(building, monkeypatch):
    assert building
    deploy_standing_queries()
    assert MaintainedView.objects.get(name="machine_load").on_demand
    assert not MaintainedView.objects.get(name="machine_state").on_demand
    monkeypatch.setattr(deployment, "awake", frozenset)
    asleep = deployment.wanted_streams()
    assert "host_load" not in asleep
    assert "mote_status" not in asleep
    monkeypatch.setattr(deployment, "awake", lambda: frozenset({"machine_load", "mote_health"}))
    assert deployment.wanted_streams() - asleep == {"host_load", "mote_status"}
    assert "door_reading" not in deployment.wanted_streams()
    assert "sensor_reading" in LISTENING
