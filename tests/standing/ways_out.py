"""What the views of the ways out must hold: Dijkstra from all exits at once, per way of moving."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import networkx as nx

Rows = set[tuple[Any, ...]]
MODES = ((False, False), (True, False), (True, True))  # step-free, lifts


def ways_out(tables: Mapping[str, Rows]) -> dict[str, Rows]:
    """Returns the rows of each of these views."""
    found: dict[str, Rows] = defaultdict(set)
    rooms = defaultdict(set)
    for node, _level, rid, _x, _y in tables["routing_node"]:
        rooms[rid].add(node)
    exits = {row[0] for row in tables["building_exit"]}
    locked = {door[0] for door in tables["door"] if door[1] != "open"}
    for src, dst, length_mm, flat, way, door in tables["routing_edge"]:
        if door not in locked:
            found["way_out_step"].add((src, dst, length_mm, flat, way == "lift"))
    for mode in MODES:
        away = _away(_graph(tables["routing_edge"], *mode, locked), exits)
        could = _away(_graph(tables["routing_edge"], *mode, set()), exits)
        follow = _next(_graph(tables["routing_edge"], *mode, locked), away)
        for node, cost in away.items():
            found["way_out"].add((*mode, node, cost))
            found["nearest_exit"].add((*mode, _exit(node, follow, exits), node))
        at = {row[0]: (row[1], *row[3:]) for row in tables["routing_node"]}
        found["way_out_walk"] |= {
            (*mode, node, after, away[node], *at[node]) for node, after in follow.items()
        }
        found["way_out_next"] |= {(*mode, node, after) for node, after in follow.items()}
        for rid, nodes in rooms.items():
            reached = nodes & away.keys()
            if not reached:
                found["cut_off_room"].add((rid, *mode, bool(nodes & could.keys())))
                continue
            found["leavable_room"].add((rid, *mode))
            far = max(away[node] for node in reached)
            start = min(node for node in reached if away[node] == far)
            found["room_exit"].add((rid, *mode, start, _exit(start, follow, exits), far))
    starts = exits | {row[2] for row in tables["kiosk"]}
    entered = _inside(tables["routing_edge"], starts, locked)
    drawn = _inside(tables["routing_edge"], starts, set())
    found["locked_room"] = {
        (rid,) for rid, nodes in rooms.items() if nodes & drawn and not nodes & entered
    }
    names = ("way_out_step", "way_out", "way_out_next", "way_out_walk", "nearest_exit")
    of_rooms = ("leavable_room", "room_exit", "cut_off_room", "locked_room")
    return {name: found[name] for name in (*names, *of_rooms)}


def _inside(edges: Rows, starts: set[int], locked: set[str]) -> set[int]:
    """Returns every walking point that somebody reaches from one of these."""
    graph: Any = nx.DiGraph((row[0], row[1]) for row in edges if row[5] not in locked)
    graph.add_nodes_from(starts)
    return starts.union(*(nx.descendants(graph, start) for start in starts))


def _graph(edges: Rows, step_free: bool, lifts: bool, locked: set[str]) -> Any:  # noqa: FBT001 - a mode
    graph: Any = nx.DiGraph()
    for src, dst, length_mm, flat, way, door in edges:
        if door in locked or (step_free and not flat) or (way == "lift" and not lifts):
            continue
        known = graph.get_edge_data(src, dst, {"weight": math.inf})["weight"]
        graph.add_edge(src, dst, weight=min(length_mm, known))
    return graph


def _away(graph: Any, exits: set[int]) -> dict[int, int]:
    graph.add_nodes_from(exits)
    back = graph.reverse()
    return dict(nx.multi_source_dijkstra_path_length(back, exits)) if exits else {}


def _next(graph: Any, away: Mapping[int, int]) -> dict[int, int]:
    found: dict[int, int] = {}
    graph.add_nodes_from(away)
    for node in away:
        tied = [
            dst
            for _, dst, data in graph.out_edges(node, data=True)
            if dst in away and away[node] == away[dst] + data["weight"]
        ]
        if tied:
            found[node] = min(tied)
    return found


def _exit(node: int, follow: Mapping[int, int], exits: set[int]) -> int:
    while node not in exits:
        node = follow[node]
    return node
