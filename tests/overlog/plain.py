"""The programs once more, in plain Python and networkx, sharing nothing with the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import networkx as nx

from overlog.plain_general import GENERAL

Rows = dict[str, set[tuple]]
Answers = dict[str, set[tuple]]


def _lengths(graph: nx.DiGraph, at_most: float = float("inf")) -> dict[tuple[str, str], int]:
    """Returns the fewest links, at least one, between two nodes."""
    found: dict[tuple[str, str], int] = {}
    for start in graph:
        for via in graph[start]:
            for end, hops in nx.single_source_shortest_path_length(graph, via).items():
                if hops + 1 <= at_most:
                    found[start, end] = min(hops + 1, found.get((start, end), hops + 1))
    return found


def _graph(pairs: Iterable[tuple]) -> nx.DiGraph:
    return nx.DiGraph(list(pairs))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def reachable(rows: Rows) -> Answers:
    graph = _graph(rows["link"])
    within = _lengths(graph, 2)
    everywhere = set(_lengths(graph))
    return {
        "reachable": everywhere,
        "hops": {(*pair, hops) for pair, hops in within.items()},
        "in_radius": set(within),
        "on_cycle": {(node,) for node in graph if (node, node) in everywhere},
    }


def shortest_path(rows: Rows) -> Answers:
    graph = _graph(rows["link"])
    lengths = _lengths(graph)
    # A cycle's shortest way back to its own node is, for networkx, the empty path.
    paths = {(start, end, f"{start}.{end}", 1) for start, end in graph.edges}
    for (start, end), length in lengths.items():
        for via in graph[start] if length > 1 else ():
            if lengths.get((via, end)) == length - 1:
                paths.update(
                    (start, end, ".".join([start, *path]), length)
                    for path in nx.all_shortest_paths(graph, via, end)
                )
    return {
        "min_hops": {(*pair, length) for pair, length in lengths.items()},
        "shortest_path": paths,
    }


def highest_bandwidth(rows: Rows) -> Answers:
    widest: set[tuple] = set()
    for width in sorted({mbit for *_, mbit in rows["channel"]}):
        wide = _graph((src, dst) for src, dst, mbit in rows["channel"] if mbit >= width)
        now = set(_lengths(wide))
        widest = {row for row in widest if row[:2] not in now} | {(*pair, width) for pair in now}
    return {"widest": widest}


def regions(rows: Rows) -> Answers:
    triggered = {sid for (sid,) in rows["triggered"]}
    near = _graph((a, b) for a, b in rows["near"] if a in triggered and b in triggered)
    near.add_nodes_from(triggered)
    members: dict[str, set[str]] = {}
    for region, seed in rows["region_seed"]:
        if seed in triggered:
            members.setdefault(region, set()).update({seed} | nx.descendants(near, seed))
    sizes = {region: len(sids) for region, sids in members.items()}
    largest = max(sizes.values(), default=0)
    warmth = {
        region: [c for sid, c in rows["temperature"] if sid in sids]
        for region, sids in members.items()
    }
    return {
        "region": {(region, sid) for region, sids in members.items() for sid in sids},
        "region_size": set(sizes.items()),
        "region_celsius": {(region, _mean(cs)) for region, cs in warmth.items() if cs},
        "largest_size": {(largest,)} if sizes else set(),
        "largest_region": {(region, size) for region, size in sizes.items() if size == largest},
    }


def horizon(rows: Rows) -> Answers:
    within = _lengths(_graph(rows["link"]), 3)
    seen: dict[str, list[float]] = {}
    for (node, other), (sid, celsius) in product(within, rows["temperature"]):
        if other == sid:
            seen.setdefault(node, []).append(celsius)
    return {
        "within": {(*pair, hops) for pair, hops in within.items()},
        "horizon": {(node, len(values), _mean(values)) for node, values in seen.items()},
    }


def resilience(rows: Rows) -> Answers:
    graph = _graph(rows["link"])
    routes = {
        (path[0], path[-1], "." + ".".join(path) + ".", len(path) - 1)
        for src, dst in product(graph, graph)
        if src != dst
        for path in nx.all_simple_paths(graph, src, dst, cutoff=3)
    }
    pairs = [route[:2] for route in routes]
    return {"route": routes, "resilience": {(*pair, pairs.count(pair)) for pair in pairs}}


def _below(rows: Rows) -> tuple[nx.DiGraph, dict[tuple[str, str], int], set[str]]:
    down = _graph((parent, child) for child, parent in rows["tree"])
    return down, _lengths(down), {node for node in down if not down[node]}


def subtree_height(rows: Rows) -> Answers:
    down, below, leaves = _below(rows)
    heights = dict.fromkeys(leaves, 0)
    for (node, _), length in below.items():
        heights[node] = max(length, heights.get(node, 0))
    return {
        "below": {(*pair, length) for pair, length in below.items()},
        "node": {(node,) for node in down},
        "leaf": {(leaf,) for leaf in leaves},
        "height": set(heights.items()),
    }


def imbalance(rows: Rows) -> Answers:
    _, below, leaves = _below(rows)
    depths = {(*pair, length) for pair, length in below.items() if pair[1] in leaves}
    by_node = {node: [length for n, _, length in depths if n == node] for node, _, _ in depths}
    return {
        "below": {(*pair, length) for pair, length in below.items()},
        "leaf_depth": depths,
        "extremes": {(node, min(found), max(found)) for node, found in by_node.items()},
        "imbalance": {(node, max(found) - min(found)) for node, found in by_node.items()},
    }


def same_generation(rows: Rows) -> Answers:
    down, below, _ = _below(rows)
    pairs = {(x, y) for (x, p), (y, q) in product(rows["tree"], repeat=2) if p == q}
    while True:
        more = {
            (x, y)
            for (x, p), (y, q) in product(rows["tree"], repeat=2)
            if (p, q) in pairs and (x, y) not in pairs
        }
        if not more:
            break
        pairs |= more
    roots = {node for node in down if not down.pred[node]}
    levels = dict.fromkeys(roots, 0)
    for (node, other), length in below.items():
        if node in roots:
            levels[other] = min(length, levels.get(other, length))
    return {
        "same_generation": pairs,
        "root": {(root,) for root in roots},
        "level": set(levels.items()),
    }


EXPECTED: dict[str, Callable[[Rows], Answers]] = {
    function.__name__: function
    for function in (
        reachable,
        shortest_path,
        highest_bandwidth,
        regions,
        horizon,
        resilience,
        subtree_height,
        imbalance,
        same_generation,
    )
} | GENERAL
