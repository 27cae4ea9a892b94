"""Laws of the geometry on random floor plans."""

from __future__ import annotations

import math
from itertools import pairwise

import networkx as nx
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import affinity
from shapely.geometry import GeometryCollection, LineString, Point, Polygon, box

from smartcis.importers.drawing import Finding
from smartcis.importers.geometry.check import trespasses
from smartcis.importers.geometry.contact import contacts
from smartcis.importers.geometry.detour import without_trespass
from smartcis.importers.geometry.enclosed import enclosed_rooms
from smartcis.importers.geometry.entrances import Entrance
from smartcis.importers.geometry.gaps import gap_corridors
from smartcis.importers.geometry.inside import net_inside
from smartcis.importers.geometry.naming import slug, unit_ids
from smartcis.importers.geometry.passages import OneSide, Passage, drawn_opening, passages
from smartcis.importers.geometry.projection import Projection
from smartcis.importers.geometry.reach import unreached
from smartcis.importers.geometry.sight import sight_lines
from smartcis.importers.geometry.spaces import WalkableSpace, ground_of, own_ground
from smartcis.importers.geometry.spanner import spanner
from smartcis.importers.geometry.vertical import climbs
from smartcis.importers.geometry.walking_graph import walking_graph
from smartcis.importers.repair import _valid_area


def space(rid, shape, category="room", level=0, way=""):
    return WalkableSpace(rid, level, rid, category, shape, shape, source_way=way)


def graph_of(spaces, entrances=(), rises=()):
    ways = passages(spaces, contacts(spaces), frozenset(e.space for e in entrances))
    return walking_graph(spaces, ways, entrances, rises)


floors = st.tuples(
    st.lists(st.floats(2.0, 9.0), min_size=1, max_size=8),
    st.lists(st.floats(2.0, 9.0), min_size=1, max_size=8),
    st.floats(1.2, 5.0),
    st.floats(0.0, math.tau),
)


@settings(max_examples=60, deadline=None)
@given(floors)
def test_rooms_along_a_corridor_get_one_door_and_are_reached(floor):
    north, south, width, turn = floor
    length = max(sum(north), sum(south))
    shapes = [("corridor", box(0, 0, length, width), "walkway")]
    for name, rooms, low, high in (("n", north, width, width + 5), ("s", south, -5, 0)):
        edges = [0.0]
        for room in rooms:
            edges.append(edges[-1] + room)
        shapes += [
            (f"{name}{k}", box(west, low, east, high), "room")
            for k, (west, east) in enumerate(pairwise(edges))
        ]
    spaces = own_ground(
        [
            space(name, affinity.rotate(shape, turn, origin=(0, 0), use_radians=True), category)
            for name, shape, category in shapes
        ]
    )
    door = Point(affinity.rotate(Point(0, width / 2), turn, origin=(0, 0), use_radians=True))
    graph = graph_of(spaces, [Entrance(0, door, "", derived=False)])
    assert unreached(spaces, graph) == {}
    assert trespasses(spaces, graph) == []
    assert len(graph.doors) == len(north) + len(south)
    assert all(door.outer == 0 for door in graph.doors)


corners = st.lists(st.tuples(st.floats(4.0, 12.0), st.floats(0.0, 1.0)), min_size=5, max_size=12)


@settings(max_examples=60, deadline=None)
@given(corners)
def test_the_net_inside_joins_all_doors_on_the_rooms_own_ground(spokes):
    # A star-shaped room with deep bays, and a door in the middle of every wall.
    count = len(spokes)
    points = [
        (
            radius * math.cos(math.tau * (k + 0.8 * bend) / count),
            radius * math.sin(math.tau * (k + 0.8 * bend) / count),
        )
        for k, (radius, bend) in enumerate(spokes)
    ]
    room = Polygon(points)
    if not room.is_valid or room.area < 10:
        return
    doors = [
        Point((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
        for a, b in zip(points, points[1:] + points[:1], strict=True)
    ]
    for category in ("room", "walkway"):
        net = net_inside(space("hall", room, category), doors)
        joined = nx.Graph((one, other) for _, one, other in net.lines)
        assert set(range(len(doors))) | {net.centre} <= set(joined)
        assert nx.is_connected(joined)
        assert room.contains(net.points[net.centre])
        for length_m, one, other in net.lines:
            assert sight_lines(room.buffer(0.01), [net.points[one], net.points[other]])
            assert math.isclose(length_m, net.points[one].distance(net.points[other]))


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=2, max_size=14, unique=True),
    st.floats(1.0, 2.0),
)
def test_spanner_keeps_every_line_within_its_stretch(points, stretch):
    lines = sorted(
        (math.dist(points[a], points[b]), a, b)
        for a in range(len(points))
        for b in range(a + 1, len(points))
    )
    kept = nx.Graph()
    kept.add_weighted_edges_from((a, b, length) for length, a, b in spanner(lines, stretch))
    for length, one, other in lines:
        assert nx.shortest_path_length(kept, one, other, weight="weight") <= stretch * length + 1e-9


boxes = st.builds(
    lambda x, y, w, h: box(x, y, x + w, y + h),
    st.floats(0, 20),
    st.floats(0, 20),
    st.floats(1, 10),
    st.floats(1, 10),
)


@given(st.lists(boxes, min_size=1, max_size=8))
def test_own_grounds_are_disjoint_and_cover_the_drawing(shapes):
    settled = own_ground([space(str(k), shape) for k, shape in enumerate(shapes)])
    grounds = [one.free for one in settled]
    together = shapely.union_all(grounds)
    assert sum(ground.area for ground in grounds) - together.area < 0.06 * len(shapes) ** 2
    assert shapely.union_all(shapes).area - together.area < 0.3 * len(shapes) ** 2


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(["", "101", "Ä/1", "A-1", "L0-x"]),
            st.sampled_from(["room", "x"]),
        ),
        max_size=20,
    )
)
def test_ids_never_collide(labels):
    ids = unit_ids(labels)
    assert len(set(ids)) == len(ids)
    assert all(one and slug(one) == one for one in ids)


def test_a_gap_of_up_to_four_metres_is_a_corridor_and_a_wider_one_is_not():
    for width, found in ((3.9, 1), (4.2, 0)):
        rooms = own_ground(
            [space("a", box(0, 0, 10, 5)), space("b", box(0, 5 + width, 10, 10 + width))]
        )
        assert len(gap_corridors(rooms, None)) == found


def test_a_spike_in_a_drawing_is_no_ground():
    # Repaired, it is an area and a line, and no overlay takes the two together.
    drawn = Polygon([(0.0, 0.0001), (0.0001, 0.0), (0.0001, 0.0002), (0.0, 0.0002), (0.0, 0.00005)])
    room = _valid_area(Projection(0.0, 0.0).metres(drawn))
    assert room.geom_type == "Polygon"
    rooms = own_ground([space("room", room), space("beside", box(11.2, 0, 20, 22))])
    assert gap_corridors(rooms, box(0, 0, 30, 30)) == []
    line = LineString([(9, 0), (9, 1)])
    assert ground_of(GeometryCollection([room, line])).equals(room)


def test_a_gap_outside_every_building_is_no_corridor():
    rooms = own_ground([space("a", box(0, 0, 10, 5)), space("b", box(0, 8, 10, 13))])
    assert gap_corridors(rooms, box(0, 0, 10, 5)) == []


def test_a_cut_off_room_gets_a_door_through_its_neighbour_only():
    spaces = own_ground(
        [
            space("corridor", box(0, 0, 10, 2), "walkway"),
            space("front", box(0, 2, 5, 6)),
            space("beside", box(5, 2, 10, 6)),
            space("back", box(0, 6, 5, 10)),
        ]
    )
    doors = graph_of(spaces).doors
    assert sorted((door.inner, door.outer) for door in doors) == [(1, 0), (2, 0), (3, 1)]


def test_a_lift_inside_a_core_room_is_entered_through_it():
    spaces = own_ground(
        [
            space("corridor", box(0, 0, 10, 2), "walkway"),
            space("core", box(2, 2, 8, 8)),
            space("lift", box(4, 4, 6, 6), "elevator"),
        ]
    )
    doors = graph_of(spaces).doors
    assert sorted((door.inner, door.outer) for door in doors) == [(1, 0), (2, 1)]


def test_shafts_join_levels_and_only_lifts_are_step_free():
    spaces = [
        space("s0", box(0, 0, 3, 3), "stairs", 0, "way/1"),
        space("s2", box(0, 0, 3, 3), "stairs", 2, "way/1"),
        space("l0", box(5, 0, 7, 2), "elevator", 0, "way/2"),
        space("l1", box(5.2, 0, 7.2, 2), "elevator", 1, "way/3"),
        space("far", box(50, 0, 52, 2), "elevator", 1, "way/4"),
    ]
    rises = climbs(spaces, {0: 0.0, 1: 4.0, 2: 8.0})
    assert [(rise.lower, rise.upper, rise.by_lift) for rise in rises] == [
        (0, 1, False),
        (2, 3, True),
    ]
    assert rises[0].length_m > 2 * 4.0
    graph = walking_graph(spaces, [], [], rises)
    assert {edge.way: edge.step_free for edge in graph.edges} == {"stairs": False, "lift": True}


def test_projection_measures_metres():
    # One minute of latitude is a nautical mile, give or take the ellipsoid.
    plane = Projection(9.95, 48.42)
    north = plane.metres(Point(9.95, 48.42 + 1 / 60))
    assert abs(north.y - 1852) < 5
    east = plane.metres(Point(9.95 + 1 / 60, 48.42))
    assert abs(east.x - 1852 * math.cos(math.radians(48.42))) < 5


@given(st.floats(-170, 170), st.floats(-70, 70), st.floats(-2_000, 2_000), st.floats(-2_000, 2_000))
def test_metres_bring_degrees_back(lon_deg, lat_deg, x_m, y_m):
    projection = Projection(lon_deg, lat_deg)
    back = projection.metres(Point(*projection.degrees(x_m, y_m)))
    assert math.isclose(back.x, x_m, abs_tol=1e-5)
    assert math.isclose(back.y, y_m, abs_tol=1e-5)


def test_a_ramp_on_two_levels_joins_them_without_steps():
    spaces = own_ground([space("r0", box(0, 0, 3, 8), "ramp", 0)])
    spaces += own_ground([space("r1", box(0, 0, 3, 8), "ramp", 1)])
    rises = climbs(spaces, {0: 0.0, 1: 3.0})
    assert [(rise.by_lift, rise.step_free) for rise in rises] == [(False, True)]


def test_an_outer_door_does_not_join_neighbours_on_one_side():
    rooms = own_ground([space("a", box(0, 0, 5, 4)), space("b", box(5, 0, 10, 4))])
    tree = shapely.STRtree([room.free for room in rooms])
    door = LineString([(4.1, 4.1), (4.9, 4.1)])
    outcome = drawn_opening(rooms, tree, door, Point(4.5, 4.1))
    assert isinstance(outcome, OneSide)
    assert outcome.space == 0
    between = drawn_opening(rooms, tree, LineString([(5, 1), (5, 2)]), Point(5, 1.5))
    assert isinstance(between, Passage)
    assert {between.inner, between.outer} == {0, 1}


def test_walls_that_meet_enclose_rooms_and_a_double_wall_is_none():
    lines = [LineString(line) for line in (((0, 0), (9, 0)), ((9, 0), (9, 5)), ((9, 5), (0, 5)))]
    lines += [LineString([(0, 5), (0, 0)]), LineString([(4, 0), (4, 5)])]
    lines += [LineString([(9.8, 0), (9.8, 5)]), LineString([(9, 0), (9.8, 0)])]
    lines += [LineString([(9, 5), (9.8, 5)])]
    walls = [line.buffer(0.06, cap_style="square") for line in lines]
    rooms = enclosed_rooms([], walls, [Point(4, 2)], None)
    assert sorted(round(room.area) for room, _ in rooms)[-2:] == [19, 24]
    assert [room for room, _ in rooms if room.area > 5] == [room for room, _ in rooms[:2]]


def test_a_door_in_the_middle_of_a_thick_wall_is_reached_from_both_rooms():
    rooms = own_ground([space("a", box(0, 0, 4, 6)), space("b", box(4.6, 0, 8.6, 6))])
    way = Passage(0, 1, Point(4.3, 5.4), is_door=True, derived=False)
    door = Point(0, 1)
    graph = walking_graph(rooms, [way], [Entrance(0, door, "", derived=False)], [])
    assert unreached(rooms, graph) == {}


def test_a_step_through_a_third_room_is_led_around_it_or_left_out():
    rooms = own_ground(
        [space("hall", box(0, 0, 10, 6), "walkway"), space("box", box(4, 1, 6, 4.5))]
    )
    graph = walking_graph(rooms, [], [], [])
    ends = [graph.add_node(0, "turn", Point(1, 2)), graph.add_node(0, "turn", Point(9, 2))]
    graph.add_both_ways(*ends, 8.0, 0, "walk")
    assert trespasses(rooms, graph)
    notes = without_trespass(rooms, graph)
    assert [note.finding for note in notes] == [Finding.REPAIRED]
    assert trespasses(rooms, graph) == []
    walked = nx.Graph()
    walked.add_weighted_edges_from((e.src, e.dst, e.length_mm) for e in graph.edges)
    assert nx.shortest_path_length(walked, *ends, weight="weight") > 8_000
