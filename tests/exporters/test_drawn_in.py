"""What people draw in an export is what changes, and nothing else does."""

from __future__ import annotations

import json

import networkx as nx
import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smartcis.exporters.geojson import GeoJsonExporter
from smartcis.exporters.stored import stored_drawing
from smartcis.importers.changes import undo
from smartcis.importers.errors import ImportRefused
from smartcis.importers.geometry.projection import Projection
from smartcis.importers.run import run
from smartcis.importers.store import clear
from smartcis.models import Door, Level, RoutingEdge, RoutingNode, Unit, Venue
from smartcis.models.outbox import _Committed
from tests.importers.conftest import corridor_house
from tests.importers.test_several import house, reach

__all__ = ["corridor_house"]
pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def drawn(monkeypatch, corridor_house, tmp_path):
    """Rooms N0 … N4 and S0 … S4 of 4 by 5 m on both sides of a corridor of 20 by 2 m."""
    monkeypatch.setattr(_Committed, "listeners", ())
    run(corridor_house)
    return Drawn(tmp_path)


class Drawn:
    """The building as a file that somebody draws in; positions are metres."""

    def __init__(self, folder):
        self.path = folder / "drawn.geojson"
        self.data = json.loads(GeoJsonExporter().write(stored_drawing()))
        self.features = self.data["features"]

    def take_out(self, rid):
        self.features.remove(self.unit(rid))

    def take_out_doors(self, rid):
        for one in self.doors(rid):
            self.features.remove(one)

    def unit(self, rid):
        return next(one for one in self.features if own(one).get("rid") == rid)

    def doors(self, rid):
        return [one for one in self.features if rid in own(one).get("between", ())]

    def shape(self, kind, corners):
        projection = Projection(*self.data["origin"])
        points = [list(projection.degrees(*corner)) for corner in corners]
        if kind == "Point":
            return {"type": kind, "coordinates": points[0]}
        coordinates = points if kind == "LineString" else [[*points, points[0]]]
        return {"type": kind, "coordinates": coordinates}

    def add(self, said, kind, *corners):
        feature = {"type": "Feature", "id": f"new-{len(self.features)}", "properties": said}
        self.features.append({**feature, "geometry": self.shape(kind, corners)})

    def reshape(self, rid, *corners):
        self.unit(rid)["geometry"] = self.shape("Polygon", corners)

    def accepted(self):
        self.path.write_text(json.dumps(self.data))
        return run(self.path)


def own(feature):
    return feature["properties"].get("smartcis", {})


def box(west, south, east, north):
    return (west, south), (east, south), (east, north), (west, north)


def rows(*but):
    """Every row of the plan, as text, those of some units aside."""
    return [
        str(row)
        for model in (Venue, Level, Unit, Door)
        for row in model.objects.order_by("pk").values()
        if not {row.get("rid"), row.get("inner_id"), row.get("outer_id")} & set(but)
    ]


def everything():
    points = [*RoutingNode.objects.values(), *RoutingEdge.objects.values()]
    return [*rows(), *sorted(map(str, points))]


def doors(rid):
    return Unit.objects.get(rid=rid).doors


def test_a_door_that_is_taken_out_stays_out(drawn):
    before = rows("N2")
    drawn.take_out_doors("N2")
    report = drawn.accepted()
    assert not doors("N2").exists()
    assert [rid for rid, *_ in report.unreached] == ["N2"]
    assert rows("N2") == before
    assert Drawn(drawn.path.parent).accepted().stored.nothing


def test_a_door_that_is_drawn_is_the_rooms_only_one(drawn):
    drawn.take_out_doors("N2")
    drawn.add({"kind": "door", "level": 0}, "Point", (9, 7))
    drawn.accepted()
    assert [(round(one.x_m), one.outer_id, one.derived) for one in doors("N2").all()] == [
        (9, "corridor", False)
    ]


def test_a_new_room_takes_the_ground_it_is_drawn_on_and_gets_a_door(drawn):
    before = rows("N2")
    drawn.add({"kind": "storage", "level": 0, "name": "Cupboard"}, "Polygon", *box(9, 8, 11, 10))
    report = drawn.accepted()
    assert report.rooms.added == ("Cupboard",)
    assert doors("Cupboard").get().outer_id == "N2"
    assert rows("N2", "Cupboard") == before


def test_a_room_outside_is_reached_through_its_neighbour_alone_until_a_way_is_drawn(drawn):
    drawn.add({"kind": "office", "level": 0, "name": "Annex"}, "Polygon", *box(24, 5, 28, 9))
    assert [rid for rid, *_ in drawn.accepted().unreached] == ["Annex"]
    drawn.add({"kind": "path", "level": 0}, "LineString", (19, 6), (25, 6))
    report = drawn.accepted()
    assert not report.unreached
    assert Unit.objects.filter(category="walkway", derived=True).count() == 1


@pytest.mark.parametrize(
    ("corners", "drawing"),
    [
        ((61, 23, 63, 26), "two"),  # within a room
        ((68, 22, 74, 27), "two"),  # beside its rooms, along its corridor
        ((80, 20, 84, 22), "two"),  # at the end of its corridor
        ((1, 3, 3, 6), ""),
        ((8, 2, 14, 7), ""),
    ],
)
def test_a_room_belongs_to_the_building_it_is_drawn_into(monkeypatch, tmp_path, corners, drawing):
    monkeypatch.setattr(_Committed, "listeners", ())
    run(house(tmp_path))
    run(house(tmp_path, 60, 20, slug="two"), add=True)
    before = {one.rid: one.drawing for one in Unit.objects.all()}
    drawn = Drawn(tmp_path)
    drawn.add({"kind": "office", "level": 0, "name": "Annex"}, "Polygon", *box(*corners))
    report = drawn.accepted()
    assert report.rooms.added == ("Annex",)
    assert Unit.objects.get(pk="Annex").drawing == drawing
    assert before == {one.rid: one.drawing for one in Unit.objects.exclude(pk="Annex")}
    graph, centres = reach()
    for other in ("A", "two-B"):
        assert nx.has_path(graph, centres["Annex"], centres[other])
    assert Drawn(tmp_path).accepted().stored.nothing


def test_a_moved_wall_takes_its_door_along(drawn):
    before = rows("N2", "corridor")
    drawn.reshape("N2", *box(8, 9, 12, 12))  # a niche of two metres is left to nobody
    drawn.add({"kind": "walkway", "level": 0, "name": "Niche"}, "Polygon", *box(8, 7, 12, 9))
    drawn.accepted()
    assert doors("N2").get().outer_id == "Niche"
    assert rows("N2", "corridor", "Niche") == before


def test_a_room_that_goes_takes_its_doors_and_nothing_else(drawn):
    before = rows("N2")
    drawn.take_out("N2")
    report = drawn.accepted()
    assert report.rooms.removed == ("N2",)
    assert rows() == before


def test_what_is_drawn_and_undone_leaves_every_row_as_it_was(drawn):
    before = everything()
    drawn.take_out("N1")
    drawn.add({"kind": "stairs", "level": "0;1"}, "Point", (10, 6))
    drawn.add({"kind": "office", "level": 1, "name": "Attic"}, "Polygon", *box(8, 4, 14, 9))
    report = drawn.accepted()
    assert Level.objects.count() == 2
    assert not report.unreached
    undo(report.changes)
    assert everything() == before


STROKES = st.one_of(
    st.tuples(
        st.just("take_out"), st.sampled_from([f"{row}{k}" for row in "NS" for k in range(5)])
    ),
    st.tuples(
        st.sampled_from(("office", "walkway", "stairs", "door", "entrance", "path")),
        st.integers(-2, 22),
        st.integers(-2, 14),
        st.integers(1, 6),
        st.integers(1, 6),
    ),
)


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(strokes=st.lists(STROKES, min_size=1, max_size=5, unique=True))
def test_any_strokes_are_drawn_or_refused_and_can_be_taken_back(strokes, drawn):
    with transaction.atomic():
        before = everything()
        plan = Drawn(drawn.path.parent)
        for kind, *where in strokes:
            draw(plan, kind, *where)
        try:
            report = plan.accepted()
        except ImportRefused:
            assert everything() == before
        else:
            plan.path.write_bytes(GeoJsonExporter().write(stored_drawing()))
            again = run(plan.path)
            assert again.stored.nothing, vars(again.stored)
            undo(report.changes)
            assert everything() == before
        transaction.set_rollback(True)


def draw(plan, kind, west, south=0, width=0, depth=0):
    said = {"kind": kind, "level": 0}
    if kind == "take_out":
        plan.take_out(west)
    elif kind in {"door", "entrance"}:
        plan.add(said, "Point", (west, south))
    elif kind == "path":
        plan.add(said, "LineString", (west, south), (west + width, south + depth))
    else:
        plan.add(said, "Polygon", *box(west, south, west + width, south + depth))


def test_a_plan_drawn_from_nothing_is_a_building_people_can_walk_in(drawn):
    clear()
    drawn.data |= {"id": "annex", "name": "Annex", "origin": [9.5, 48.25], "features": []}
    drawn.features = drawn.data["features"]
    drawn.data["levels"] = [{"ordinal": n, "name": f"Floor {n}"} for n in (0, 1)]
    for level in (0, 1):
        said = {"level": level, "name": None}
        drawn.add(said | {"kind": "walkway"}, "Polygon", *box(0, 4, 20, 6))
        drawn.add(said | {"kind": "stairs"}, "Polygon", *box(20, 4, 24, 6))
        drawn.add(said | {"kind": "office", "name": f"R{level}"}, "Polygon", *box(0, 0, 5, 4))
    drawn.add({"kind": "entrance", "level": 0, "name": None}, "Point", (0, 5))
    report = drawn.accepted()
    assert not report.unreached
    assert Venue.objects.get().origin_lon_deg == 9.5
    assert sorted(Level.objects.values_list("name", flat=True)) == ["Floor 0", "Floor 1"]
    assert RoutingEdge.objects.filter(way="stairs").exists()
    assert {one.unit_id for one in RoutingNode.objects.filter(kind="entrance")} == {
        Unit.objects.get(level="L0", category="walkway").rid
    }
