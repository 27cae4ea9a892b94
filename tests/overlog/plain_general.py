"""Programs beyond linear recursion in plain Python: rules applied until nothing is new."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

Rows = dict[str, set[tuple]]
Answers = dict[str, set[tuple]]
Costs = dict[tuple[str, str], int]


def _closed(start: set[tuple], step: Callable[[set[tuple]], set[tuple]]) -> set[tuple]:
    rows = set(start)
    while more := step(rows) - rows:
        rows |= more
    return rows


def _composed(left: set[tuple], right: set[tuple]) -> set[tuple]:
    return {(x, z) for (x, y), (w, z) in product(left, right) if y == w}


def _improved(costs: Costs, found: Costs, better: Callable[[int, int], int]) -> Costs:
    return {pair: better(cost, found.get(pair, cost)) for pair, cost in {**found, **costs}.items()}


def _least(channels: set[tuple], plus: Callable[[int, int], int], better) -> Costs:
    """Bellman and Ford: the best cost of all pairs."""
    costs: Costs = {}
    for src, dst, mbit in channels:
        costs[src, dst] = better(mbit, costs.get((src, dst), mbit))
    while True:
        found: Costs = {}
        for ((x, y), one), (src, dst, mbit) in product(costs.items(), channels):
            if y == src:
                cost = plus(one, mbit)
                found[x, dst] = better(cost, found.get((x, dst), cost))
        improved = _improved(costs, found, better)
        if improved == costs:
            return costs
        costs = improved


def _rows(costs: Costs) -> set[tuple]:
    return {(*pair, cost) for pair, cost in costs.items()}


def doubling(rows: Rows) -> Answers:
    link = rows["link"]
    return {
        "connected": _closed(link, lambda found: _composed(found, link)),
        "slowest": _rows(_least(rows["channel"], min, max)),
        "cheapest": _rows(_least(rows["channel"], int.__add__, min)),
    }


def alternating(rows: Rows) -> Answers:
    link = rows["link"]
    odd = _closed(link, lambda found: _composed(_composed(found, link), link))
    # Costs per (node, node, whether a channel comes last), over both kinds of edges in turn.
    out: Costs = {}
    back: Costs = {}
    while True:
        new_out: Costs = {}
        for src, dst, mbit in rows["channel"]:
            new_out[src, dst] = min(mbit, new_out.get((src, dst), mbit))
            for (x, y), cost in back.items():
                if y == src:
                    new_out[x, dst] = min(cost + mbit, new_out.get((x, dst), cost + mbit))
        new_back: Costs = {}
        for ((x, y), cost), (src, dst) in product(out.items(), link):
            if y == src:
                new_back[x, dst] = min(cost, new_back.get((x, dst), cost))
        if (new_out, new_back) == (out, back):
            break
        out, back = new_out, new_back
    return {
        "odd": odd,
        "even": _composed(odd, link),
        "odd_circle": {(x,) for x, y in odd if x == y and (x,) not in rows["blocked"]},
        "out": _rows(out),
        "back": _rows(back),
    }


def kin(rows: Rows) -> Answers:
    tree, blocked = rows["tree"], rows["blocked"]
    above = _closed(
        tree, lambda found: {(x, z) for x, z in _composed(found, found) if (x,) not in blocked}
    )
    siblings = {(x, y) for (x, p), (y, q) in product(tree, repeat=2) if p == q}

    def step(found: set[tuple]) -> set[tuple]:
        down = {(x, y) for (x, p), (y, q) in product(tree, repeat=2) if (p, q) in found}
        return down | _composed(found, found)

    cousins = _closed(siblings, step)
    common = {(x, y) for (x, a), (y, b) in product(above, repeat=2) if a == b}
    return {"ancestor": above, "cousins": cousins, "related": common - cousins}


def two_costs(rows: Rows) -> Answers:
    channels = rows["channel"]
    free = {row for row in channels if (row[0],) not in rows["blocked"]}

    def over(plus: Callable[[int, int], int], better) -> Costs:
        costs: Costs = {}
        for src, dst, mbit in channels:
            first = plus(mbit, 0) if better is min else mbit
            costs[src, dst] = better(first, costs.get((src, dst), first))
        while True:
            found: Costs = {}
            for ((x, y), one), (src, dst, mbit) in product(costs.items(), free):
                if y == src:
                    cost = plus(one, mbit)
                    found[x, dst] = better(cost, found.get((x, dst), cost))
            improved = _improved(costs, found, better)
            if improved == costs:
                return costs
            costs = improved

    cost, width = over(int.__add__, min), over(min, max)
    hops: Costs = {pair: 1 for *pair, _ in channels for pair in [tuple(pair)]}
    while True:
        found = {
            (x, dst): one + 1
            for ((x, y), one), (src, dst, _) in product(sorted(hops.items(), key=_last), free)
            if y == src and (x, dst) not in hops
        }
        if not found:
            break
        least = min(found.values())
        hops.update({pair: n for pair, n in found.items() if n == least})
    return {"way": {(*pair, hops[pair], cost[pair], width[pair]) for pair in cost}}


def _last(item: tuple[tuple[str, str], int]) -> int:
    return -item[1]


GENERAL: dict[str, Callable[[Rows], Answers]] = {
    function.__name__: function for function in (doubling, alternating, kin, two_costs)
}
