"""Several buildings in one venue: each is its own file's, and ways outdoors join them."""

from __future__ import annotations

import json
import random
from itertools import permutations
from pathlib import Path

import networkx as nx
import pytest
import shapely
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import LineString, Point, box
from shapely.geometry.base import BaseGeometry

from smartcis.exporters.formats import EXPORTERS
from smartcis.exporters.stored import stored_drawing
from smartcis.importers.changes import Changes, undo
from smartcis.importers.errors import AnotherBuilding, Unplaced
from smartcis.importers.formats import drawing_of
from smartcis.importers.geometry.outdoors import DETOUR, LONGEST_M, outdoor_ways
from smartcis.importers.geometry.projection import Projection
from smartcis.importers.held import polygon_of
from smartcis.importers.run import run
from smartcis.models import (
    Building,
    BuildingImport,
    Door,
    Level,
    RoutingEdge,
    RoutingNode,
    Unit,
    Venue,
)
from smartcis.models.building import OUTDOORS
from smartcis.models.outbox import _Committed
from tests.importers.conftest import PER_M, entrance, unit, write_archive
from tests.importers.test_again import every_row
from tests.smartcis.conftest import rolled_back

pytestmark = [pytest.mark.database, pytest.mark.django_db]
OURS = Path(__file__).parent / "buildings"
NAMES = sorted(one.name for one in OURS.iterdir() if one.name != "counts.toml")


@pytest.fixture(autouse=True)
def by_hand(monkeypatch):
    monkeypatch.setattr(_Committed, "listeners", ())


def house(folder, x=0.0, y=0.0, rooms=("A", "B"), slug="one", entrances=((0, 6),)):
    """A house of a corridor and rooms north of it, its south-west corner at (x, y)."""
    units = [unit("corridor", (x, y + 5, 20, 2), "walkway")]
    units += [unit(name, (x + 4 * k, y + 7, 4, 5)) for k, name in enumerate(rooms)]
    doors = [entrance(x + east, y + north) for east, north in entrances]
    path = write_archive(folder / slug, units, doors)
    about = {"slug": slug, "name": slug.title(), "attribution": f"© {slug}"}
    (path / "smartcis.json").write_text(json.dumps(about))
    level = json.loads((path / "level.json").read_text())
    level["features"][0]["geometry"]["coordinates"] = [
        [[(x + a) * PER_M, (y + b) * PER_M] for a, b in ((0, 5), (20, 5), (20, 12), (0, 12))]
    ]
    (path / "level.json").write_text(json.dumps(level))
    return path


def beside(first: Path, other: Path, east_m: float = 0.0) -> bool:
    """Imports one, and moves its venue so that the other lies east of it; returns if it can."""
    run(first)
    origin = drawing_of(other).origin
    shapes = [one.outline for one in drawing_of(other).spaces]
    shapes = shapes or [one.shape for one in drawing_of(other).solids]
    venue = Venue.objects.get()
    if (0.0, 0.0) in (origin, (venue.origin_lon_deg, venue.origin_lat_deg)):
        return False
    width_m = max(x for one in Unit.objects.all() for x, _ in one.polygon[0])
    corner = origin or shapely.total_bounds(shapes)[:2]
    lon, lat = Projection(*corner).degrees(-width_m - 20.0 - east_m, 0.0)
    Venue.objects.update(origin_lon_deg=lon, origin_lat_deg=lat)
    return True


def of(drawing):
    """Every row of one drawing's building: units, doors, points and steps."""
    nodes = RoutingNode.objects.filter(unit__drawing=drawing)
    return {
        "building": list(Building.objects.filter(drawing=drawing).values()),
        "unit": list(Unit.objects.filter(drawing=drawing).order_by("pk").values()),
        "door": list(Door.objects.filter(inner__drawing=drawing).order_by("pk").values()),
        "node": list(nodes.order_by("pk").values()),
        "edge": list(
            RoutingEdge.objects.filter(src__in=nodes, dst__in=nodes).order_by("pk").values()
        ),
    }


def reach():
    graph = nx.DiGraph(list(RoutingEdge.objects.values_list("src_id", "dst_id")))
    centres = dict(RoutingNode.objects.filter(kind="centre").values_list("unit_id", "node"))
    return graph, centres


def test_two_houses_stand_side_by_side_and_a_route_leads_from_room_to_room(tmp_path):
    run(house(tmp_path, 0, 0))
    before = of("")
    report = run(house(tmp_path, 60, 20, slug="two"), add=True)
    assert (report.adds, report.replaces) == ("two", "")
    assert of("") == before
    rooms = set(Unit.objects.filter(drawing="two").values_list("rid", flat=True))
    assert rooms == {"two-A", "two-B", "two-corridor"}
    moved = Unit.objects.get(pk="two-A")
    assert (moved.name, round(moved.label_x_m), round(moved.label_y_m)) == ("A", 62, 25)
    assert dict(report.stored.updated) == {"floors": 1, "venues": 1}
    assert Venue.objects.get().attribution == "© one; © two"
    assert len(Level.objects.get().outline) == 2
    ways = [note for note in report.plan.notes if note.what == "way outdoors"]
    assert len(ways) == 1
    assert "way outdoors" in "\n".join(report.lines())
    graph, centres = reach()
    assert nx.has_path(graph, centres["A"], centres["two-B"])
    assert nx.has_path(graph, centres["two-B"], centres["A"])
    outdoors = Unit.objects.get(drawing=OUTDOORS)
    assert (outdoors.category, outdoors.derived) == ("walkway", True)


def test_the_way_outdoors_leads_around_the_footprints(tmp_path):
    run(house(tmp_path, 0, 0, entrances=[(0, 6)]))  # its door is on the far side
    run(house(tmp_path, 40, 0, slug="two", entrances=[(20, 6)]), add=True)
    inside = shapely.union_all(
        [polygon_of(one.polygon) for one in Unit.objects.exclude(drawing=OUTDOORS)]
    )
    steps = RoutingEdge.objects.filter(src__unit__drawing=OUTDOORS).select_related("src", "dst")
    lines = [LineString([(one.src.x_m, one.src.y_m), (one.dst.x_m, one.dst.y_m)]) for one in steps]
    assert lines
    assert all(line.intersection(inside).length < 0.05 for line in lines)
    assert sum(one.length_mm for one in steps) / 1000 > 60


def test_each_file_again_changes_only_its_own_and_undo_takes_it_back(tmp_path):
    first = house(tmp_path, 0, 0)
    run(first)
    alone = every_row()
    run(house(tmp_path, 60, 20, slug="two"), add=True)
    both, mine = every_row(), of("")
    assert run(first).stored.nothing
    assert run(house(tmp_path, 60, 20, slug="two"), add=True).stored.nothing
    assert run(house(tmp_path, 60, 20, slug="two")).stored.nothing
    assert every_row() == both
    report = run(house(tmp_path, 60, 20, ("A", "B", "D"), slug="two"))
    assert (report.rooms.added, report.adds) == (("D",), "")
    assert of("") == mine
    run(house(tmp_path, 0, 0, ("A", "B", "E")))
    assert {"E", "two-A", "D"} <= set(Unit.objects.values_list("rid", flat=True))
    assert BuildingImport.objects.count() == 4
    for one in BuildingImport.objects.all()[:3]:
        undo(Changes.unpacked(bytes(one.changes)))
        one.delete()
    assert every_row() == alone


@settings(max_examples=6)
@given(data=st.data())
def test_whatever_is_added_leaves_the_others_as_they_were(data):
    first, other = data.draw(st.sampled_from(list(permutations(NAMES, 2))))
    with rolled_back():
        if not beside(OURS / first, OURS / other):
            return
        before, alone = of(""), every_row()
        added = run(OURS / other, add=True)
        assert added.adds
        assert of("") == before
        theirs, both = of(added.adds), every_row()
        assert theirs["unit"]
        assert run(OURS / other).stored.nothing
        assert every_row() == both
        undo(added.changes)
        assert every_row() == alone


@pytest.mark.parametrize("exporter", EXPORTERS, ids=lambda one: one.name)
def test_export_and_import_give_both_again(tmp_path, exporter):
    run(house(tmp_path, 0, 0))
    run(house(tmp_path, 60, 20, slug="two"), add=True)
    file = tmp_path / f"out{exporter.endings[0]}"
    file.write_bytes(exporter.write(stored_drawing()))
    before = every_row()
    assert run(file).stored.nothing
    assert every_row() == before
    Venue.objects.all().delete()
    Unit.objects.all().delete()
    run(file)
    assert set(Unit.objects.values_list("rid", "drawing")) == {
        (row["rid"], row["drawing"]) for row in _named(before["Unit"], Unit)
    }
    assert {one.drawing for one in Building.objects.all()} == {"", "two"}
    graph, centres = reach()
    assert nx.has_path(graph, centres["A"], centres["two-B"])
    assert run(house(tmp_path, 60, 20, slug="two")).stored.deleted == {}


def _named(rows, model):
    names = [one.attname for one in model._meta.concrete_fields]
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_what_cannot_say_where_it_lies_is_refused(tmp_path):
    run(house(tmp_path, 50, 50))
    flat = {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"level": 0, "category": "room", "name": name},
                "geometry": {
                    "type": "Polygon",
                    "coordinates": [[[x, 500], [x + 900, 500], [x + 900, 900], [x, 900], [x, 500]]],
                },
            }
            for name, x in (("P", 500), ("Q", 1400))
        ],
    }
    path = tmp_path / "plan.geojson"
    path.write_text(json.dumps(flat))
    before = every_row()
    with pytest.raises(Unplaced) as refusal:
        run(path, add=True)
    assert "longitude" in refusal.value.attempt
    with pytest.raises(CommandError, match="unplaced"):
        call_command("import_building", path, "--add", verbosity=0)
    with pytest.raises(AnotherBuilding, match="shows"):
        run(path)
    assert every_row() == before


def test_far_away_is_refused(tmp_path):
    run(house(tmp_path, 50, 50))
    with pytest.raises(Unplaced, match="too far"):
        run(house(tmp_path, 50_000, 50, slug="two"), add=True)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_ways_keep_all_neighbours_joined_without_long_detours(seed):
    """The law of `outdoor_ways`, against the visibility graph of all corners."""
    lot = random.Random(seed)
    grounds: list[BaseGeometry] = []
    doors: list[tuple[str, Point]] = []
    lots = lot.sample([(x, y) for x in range(0, 200, 40) for y in range(0, 200, 40)], 5)
    for number, (x, y) in enumerate(lots[: lot.randint(2, 5)]):
        size = lot.randint(8, 25)
        grounds.append(box(x, y, x + size, y + size))
        doors += [
            (f"h{number}", Point(x + lot.choice((0, size)), y + lot.randint(0, size)))
            for _ in range(lot.randint(1, 3))
        ]
    walls = shapely.union_all(grounds)
    ways = outdoor_ways(grounds, doors, {})
    for way in ways:
        line = LineString(way.points)
        assert line.intersection(walls).length < 1.0 + 1e-6
        assert line.length == pytest.approx(way.length_m, abs=0.1)
        assert doors[way.one][0] != doors[way.other][0]
    graph = nx.Graph()
    graph.add_nodes_from(range(len(doors)))
    graph.add_weighted_edges_from((way.one, way.other, way.length_m) for way in ways)
    for way in _all_ways(grounds, doors):
        if way.length_m <= LONGEST_M:
            found = nx.dijkstra_path_length(graph, way.one, way.other)
            assert found <= DETOUR * way.length_m + 0.1


def _all_ways(grounds, doors):
    """Each pair by itself: no other door is there to pass by."""
    for one in range(len(doors)):
        for other in range(one + 1, len(doors)):
            for way in outdoor_ways(grounds, [doors[one], doors[other]], {}):
                yield type(way)(one, other, way.points, way.length_m)
