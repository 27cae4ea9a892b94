"""The hard conditions on the shipped building."""

from __future__ import annotations

from collections import Counter, defaultdict

import networkx as nx
import pytest
import shapely
from shapely.geometry import LineString, Point

from smartcis.importers.geometry.check import trespasses
from smartcis.importers.geometry.contact import WALL_M
from smartcis.importers.geometry.spaces import polygons


@pytest.fixture(scope="module")
def graph(ulm):
    built = nx.DiGraph()
    for edge in ulm.graph.edges:
        assert not built.has_edge(edge.src, edge.dst)
        built.add_edge(edge.src, edge.dst, edge=edge)
    return built


def _reached(ulm, graph):
    starts = [node.number for node in ulm.graph.nodes if node.kind == "entrance"]
    seen = set(starts)
    for start in starts:
        seen |= nx.descendants(graph, start)
    spaces = {node.number: node.space for node in ulm.graph.nodes}
    return {spaces[number] for number in seen if number in graph}


def test_95_percent_of_the_554_units_are_reached_and_the_rest_says_why(ulm, graph):
    drawn = [place for place, space in enumerate(ulm.spaces) if not space.derived]
    assert len(drawn) == 554
    centres = {ulm.graph.centres[place]: place for place in drawn if place in ulm.graph.centres}
    starts = [node.number for node in ulm.graph.nodes if node.kind == "entrance"]
    seen = set(starts).union(*(nx.descendants(graph, start) for start in starts))
    reached = {place for number, place in centres.items() if number in seen}
    assert len(reached) / len(drawn) >= 0.95
    assert set(drawn) - reached == {place for place in ulm.unreached if place in set(drawn)}
    assert all(ulm.unreached.values())


def test_no_edge_runs_through_a_third_space(ulm):
    # Written without the importer's own check: against the shapes as drawn.
    places = {node.number: Point(node.x_m, node.y_m) for node in ulm.graph.nodes}
    insides = [space.polygon.buffer(-0.06) for space in ulm.spaces]
    by_level = defaultdict(list)
    for place, space in enumerate(ulm.spaces):
        by_level[space.level].append(place)
    trees = {level: shapely.STRtree([insides[p] for p in by_level[level]]) for level in by_level}
    for edge in ulm.graph.edges:
        if edge.way in {"stairs", "lift"}:
            continue
        own = ulm.spaces[edge.space]
        line = LineString([places[edge.src], places[edge.dst]])
        for hit in trees[own.level].query(line, predicate="intersects"):
            place = by_level[own.level][hit]
            # A drawing inside another (a lift in a core room) shares its ground by drawing.
            if place != edge.space and not insides[place].intersects(own.polygon.buffer(-0.06)):
                run_m = line.intersection(insides[place]).length
                pytest.fail(f"{edge} runs {run_m:.2f} m inside {ulm.spaces[place].rid}")


def test_edges_stay_on_their_own_ground_but_for_a_wall(ulm):
    places = {node.number: Point(node.x_m, node.y_m) for node in ulm.graph.nodes}
    assert trespasses(ulm.spaces, ulm.graph) == []
    for edge in ulm.graph.edges:
        if edge.way not in {"stairs", "lift"}:
            line = LineString([places[edge.src], places[edge.dst]])
            outside_m = line.difference(ulm.spaces[edge.space].free.buffer(0.01)).length
            assert outside_m <= WALL_M, edge


def test_the_graph_is_lean_and_goes_both_ways(ulm, graph):
    assert len(ulm.graph.nodes) <= 3_000
    assert len(ulm.graph.edges) <= 10_000
    for edge in ulm.graph.edges:
        assert isinstance(edge.length_mm, int)
        assert edge.length_mm >= 1
        back = graph.edges[edge.dst, edge.src]["edge"]
        assert (back.length_mm, back.way, back.door_id) == (edge.length_mm, edge.way, edge.door_id)


def test_only_stairs_have_steps(ulm):
    assert all(edge.step_free == (edge.way != "stairs") for edge in ulm.graph.edges)


def test_a_length_is_never_shorter_than_the_straight_line(ulm):
    places = {node.number: Point(node.x_m, node.y_m) for node in ulm.graph.nodes}
    for edge in ulm.graph.edges:
        assert edge.length_mm >= 1000 * places[edge.src].distance(places[edge.dst]) - 5


def test_a_door_stands_on_the_wall_of_both_its_spaces(ulm):
    for door in ulm.graph.doors:
        at = Point(door.x_m, door.y_m)
        for place in (door.inner, door.outer):
            assert ulm.spaces[place].free.distance(at) <= WALL_M
        assert not ulm.spaces[door.inner].is_walkway or ulm.spaces[door.inner].derived


def test_locking_a_rooms_doors_cuts_it_off(ulm, graph):
    doors = Counter(door.inner for door in ulm.graph.doors)
    place = next(
        p for p, space in enumerate(ulm.spaces) if doors[p] == 1 and space.rid == "O27-332"
    )
    closed = {door.door_id for door in ulm.graph.doors if door.inner == place}
    kept = nx.subgraph_view(
        graph, filter_edge=lambda a, b: graph.edges[a, b]["edge"].door_id not in closed
    )
    centre = ulm.graph.centres[place]
    assert nx.has_path(graph, ulm.graph.centres[0], centre) or place not in ulm.unreached
    outside = [n.number for n in ulm.graph.nodes if n.space != place and n.number in kept]
    assert not any(other in nx.ancestors(kept, centre) for other in outside[:50])


def test_every_level_is_reached_without_steps(ulm, graph):
    smooth = nx.subgraph_view(graph, filter_edge=lambda a, b: graph.edges[a, b]["edge"].step_free)
    levels = {ulm.spaces[place].level for place in _reached(ulm, smooth)}
    assert levels == {0, 1, 2, 3, 4, 5}


def test_walking_through_a_corridor_is_no_great_detour(ulm, graph):
    # From the stairs of level 3 to the far end of a wing: nearly as the crow flies.
    places = {node.number: node for node in ulm.graph.nodes}
    ids = {space.rid: place for place, space in enumerate(ulm.spaces)}
    here, there = (ulm.graph.centres[ids[rid]] for rid in ("L3-stairs-1", "O27-3401"))
    for _, _, data in graph.edges(data=True):
        data["weight"] = data["edge"].length_mm
    walked_m = nx.shortest_path_length(graph, here, there, weight="weight") / 1000
    straight_m = Point(places[here].x_m, places[here].y_m).distance(
        Point(places[there].x_m, places[there].y_m)
    )
    assert walked_m <= 1.25 * straight_m


def test_ids_are_unique_and_safe_in_a_url(ulm):
    ids = [space.rid for space in ulm.spaces]
    assert len(set(ids)) == len(ids)
    assert all(part.replace("-", "").replace(".", "").isalnum() for part in ids)
    assert {"H22", "O27-331", "Smiley-Pool"} <= set(ids)


def test_grounds_of_one_level_do_not_overlap(ulm):
    for level in range(6):
        grounds = [s.free for s in ulm.spaces if s.level == level and not s.free.is_empty]
        total_m2 = sum(ground.area for ground in grounds)
        assert total_m2 - shapely.union_all(grounds).area < 0.5


def test_gap_corridors_lie_in_buildings_and_between_drawn_shapes(ulm):
    houses = shapely.union_all([shape for _, _, shape in ulm.buildings if shape is not None])
    for space in ulm.spaces:
        if space.derived:
            assert polygons(space.polygon)
            drawn = [s.polygon for s in ulm.spaces if s.level == space.level and not s.derived]
            assert space.polygon.intersection(shapely.union_all(drawn)).area < 0.2
            assert space.polygon.difference(houses.buffer(0.5)).area < 0.5 * space.polygon.area
