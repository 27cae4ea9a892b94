"""Every plan of a small query, one by one: no memo of best costs, no splits of the product.

Only what operators cost comes from the product; which plans there are is said again here.
"""

from __future__ import annotations

from functools import cache

import networkx as nx
from search_support import costs as price
from search_support.federated import FederatedSpace
from search_support.problem import Problem


def all_costs(problem: Problem) -> set[int]:
    """Returns the costs of all plans that bring the answer to its goal."""
    space = FederatedSpace(problem)
    graph, sizes = space.graph, space.estimates
    members = {one.alias: one for one in problem.members}
    sites = {one.name: one for one in problem.sites}
    roads = {(one.source, one.target): one for one in problem.routes}
    equal = nx.Graph((e.left, e.right) for e in problem.equalities)
    kinds = {str(min(c)): c for c in nx.connected_components(equal)} if equal else {}
    joined = nx.Graph((t.left, t.right) for t in problem.thetas)
    joined.add_nodes_from(members)
    for columns in kinds.values():
        aliases = {one.alias for one in columns}
        joined.add_edges_from((a, b) for a in aliases for b in aliases if a != b)

    def flow(s):
        return sizes.flow(mask(s))

    def mask(s):
        return sum(graph.bit[alias] for alias in s)

    def weighed(work):
        return price.weighed(work, problem.metric)

    def crossing(left, right):
        return [
            name
            for name, columns in kinds.items()
            if {one.alias for one in columns} & left and {one.alias for one in columns} & right
        ]

    def cuts(s):
        whole = nx.is_connected(joined.subgraph(s))
        ordered = sorted(s)
        for picked in range(1, 2 ** len(ordered) - 1):
            left = frozenset(a for i, a in enumerate(ordered) if picked >> i & 1)
            right = s - left
            parts = all(nx.is_connected(joined.subgraph(half)) for half in (left, right))
            apart = not any(joined.has_edge(a, b) for a in left for b in right)
            if parts if whole else apart:
                yield left, right

    @cache
    def made(s, name, by):
        site = sites[name]
        if len(s) == 1:
            (alias,) = s
            one = members[alias]
            kept = [
                n
                for n, c in kinds.items()
                if (alias, one.order) in {(a.alias, a.column) for a in c}
            ]
            if one.home != name or (by and by not in kept):
                return frozenset()
            return frozenset({weighed(price.scanning(one, site))})
        if site.joins is not None and len(s) - 1 > site.joins:
            return frozenset()
        found = set()
        for left, right in cuts(s):
            one, other, out = flow(left), flow(right), flow(s)
            own = price.joining(one, other, out, site)
            shared = crossing(left, right)
            if not by:
                found |= sums(at(left, name, None), at(right, name, None), weighed(own))
            for kind in shared if site.sorts else ():
                if by in (None, kind):
                    merge = weighed(price.merging(one, other, out, site))
                    found |= sums(at(left, name, kind), at(right, name, kind), merge)
            for far in sites.values() if shared and not by else ():
                there, back = roads.get((name, far.name)), roads.get((far.name, name))
                if far.reduces and there and back:
                    part = sizes.matching(mask(left), mask(right))
                    keys = min(sizes.values(kind, mask(left)) for kind in shared)
                    for how in (price.semi, price.bloom):
                        work = own.beside(how(keys, other, part, there, back, far))
                        found |= sums(
                            at(left, name, None), made(right, far.name, None), weighed(work)
                        )
        return frozenset(found)

    @cache
    def at(s, name, by):
        found = set(made(s, name, by))
        for (source, target), road in roads.items():
            if target == name:
                out = flow(s)
                sent = weighed(price.shipping(out.rate_hz, out.row_bytes, road))
                found |= {cost + sent for cost in made(s, source, by)}
        if by and sites[name].sorts:
            sort = weighed(price.sorting(flow(s), sites[name]))
            found |= {cost + sort for cost in at(s, name, None)}
        return frozenset(found)

    return set(at(frozenset(members), problem.goal, None))


def sums(left, right, own):
    return {one + other + own for one in left for other in right}
