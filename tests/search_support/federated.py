"""The and-or graph of a federated join query: where each set of relations is joined, and how.

Properties are `made SITE` (the last join ran there, or the relation is at home there), `at SITE`
(it is there, made there or shipped) and either one `by COLUMN` (in the order of that column).
Nothing reads what reads it: `at` stands on `made`, `made` on `at` of smaller sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from search_support import problem as many_sites
from search_support.costs import (
    Estimates,
    Work,
    bloom,
    classes,
    join_graph,
    joining,
    merging,
    scanning,
    semi,
    shipping,
    sorting,
    weighed,
)
from search_support.problem import Access, Problem, Route, SearchSite

from federation.search import problem as region
from federation.search.joins import FETCH, ROW_US
from federation.search.space import SCAN, And, Node

MADE, AT = "made", "at"


def prop_text(kind: str, site: str, order: str = "") -> str:
    """Write a property."""
    return f"{kind} {site} by {order}" if order else f"{kind} {site}"


def read_prop(prop: str) -> tuple[str, str, str]:
    """Returns a property's kind, site and order."""
    head, _, order = prop.partition(" by ")
    kind, _, site = head.partition(" ")
    return kind, site, order


class FederatedSpace:
    """The `Space` of a federated query."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.graph = join_graph(problem)
        self.classes = classes(problem)
        self.estimates = Estimates(problem, self.graph)
        self.members = {one.alias: one for one in problem.members}
        self.sites = {one.name: one for one in sorted(problem.sites, key=lambda s: s.name)}
        self.routes = {
            (one.source, one.target): one
            for one in sorted(problem.routes, key=lambda r: (r.source, r.target))
        }
        self.names = {self.graph.name(m): m for m in self.graph.sets}
        self.accesses = {one.name: one for one in problem.accesses}
        self._brings: dict[str, list[Access]] = {}
        for one in sorted(problem.accesses, key=lambda access: access.name):
            self._brings.setdefault("+".join(one.aliases), []).append(one)
        self._memo: dict[Node, tuple[And, ...]] = {}

    @property
    def goal(self) -> Node:
        """The whole query, at the site where its answer is wanted."""
        return self.graph.name(self.graph.everything), prop_text(AT, self.problem.goal)

    def ways(self, node: Node) -> tuple[And, ...]:
        """Returns every way to an OR node, in order; memoised."""
        if node not in self._memo:
            expr, prop = node
            found = [And(expr, prop, 0, SCAN, phy) for phy in self.scans(expr, prop)]
            if expr not in self.accesses:
                kind, site, order = read_prop(prop)
                more = self._brought if kind == AT else self._joined
                found += more(expr, prop, site, order)
            self._memo[node] = tuple(sorted(found))
        return self._memo[node]

    def scans(self, expr: str, prop: str) -> tuple[str, ...]:
        """Returns the scan of a relation where it is at home."""
        kind, site, order = read_prop(prop)
        access = self.accesses.get(expr)
        if access is not None:
            return ("fragment",) if (kind, site, order) == (MADE, access.site, "") else ()
        if expr in self._brings or expr not in self.members:
            return ()
        member = self.members[expr]
        if kind != MADE or site != member.home:
            return ()
        if order:
            return ("ordered",) if self._kept(expr) == order else ()
        return ("plain",)

    def cost(self, way: And) -> int:
        """Returns the cost of an operator alone: of an access all that it takes."""
        if way.expr in self.accesses:
            return self._weighed(Work(self.accesses[way.expr].cost))
        _, name, _ = read_prop(way.prop)
        site = self.sites[name]
        if way.log == SCAN:
            return self._weighed(scanning(self.members[way.expr], site))
        out = self.estimates.flow(self.names[way.expr])
        if way.log in ("stay", FETCH):
            return 0
        if way.log == "ship":
            _, source, _ = read_prop(way.left_prop)
            return self._weighed(shipping(out.rate_hz, out.row_bytes, self.routes[source, name]))
        if way.log == "sort":
            return self._weighed(sorting(out, site))
        m, n = self.names[way.left], self.names[way.right]
        left, right = self.estimates.flow(m), self.estimates.flow(n)
        if way.phy.startswith("merge"):
            return self._weighed(merging(left, right, out, site))
        work = joining(left, right, out, site)
        _, far, _ = read_prop(way.right_prop)
        if far != name:
            reduce = semi if way.phy.startswith("semi") else bloom
            part = self.estimates.matching(m, n)
            keys = min(self.estimates.values(c, m) for c in self.estimates.shared(m, n))
            there, back = self.routes[name, far], self.routes[far, name]
            work = work.beside(reduce(keys, right, part, there, back, self.sites[far]))
        return self._weighed(work)

    def upwards(self) -> Iterator[Node]:
        """Returns every set with every property: made before at, unordered before ordered."""
        for name, access in self.accesses.items():
            yield name, prop_text(MADE, access.site)
        orders = ("", *self.classes)
        for m in self.graph.sets:
            expr = self.graph.name(m)
            for kind in (MADE, AT):
                for order in orders:
                    for site in self.sites:
                        yield expr, prop_text(kind, site, order)

    def _weighed(self, work: Work) -> int:
        return weighed(work, self.problem.metric)

    def _kept(self, alias: str) -> str:
        """Returns the class of columns in whose order a relation is kept."""
        member = self.members[alias]
        for name, columns in self.classes.items():
            if any((one.alias, one.column) == (alias, member.order) for one in columns):
                return name
        return ""

    def _makes(self, m: int, name: str, order: str = "") -> bool:
        """Say whether a set of relations can be made at a site.

        A site's limit on joins counts all joins of the set: what runs there must not have been
        joined before. Lift it with `joins=None`.
        """
        expr = self.graph.name(m)
        if expr in self.members:
            return bool(self.scans(expr, prop_text(MADE, name, order)))
        site = self.sites[name]
        within = site.joins is None or m.bit_count() - 1 <= site.joins
        return within and (not order or (site.sorts and self._merges(m, order)))

    def _merges(self, m: int, order: str) -> bool:
        return sum(m & self.graph.bit[one.alias] > 0 for one in self.classes[order]) > 1

    def _brought(self, expr: str, prop: str, site: str, order: str) -> Iterator[And]:
        m = self.names[expr]
        if site == self.problem.goal and not order:
            for index, one in enumerate(self._brings.get(expr, ()), start=1):
                made = prop_text(MADE, one.site)
                yield And(expr, prop, index, FETCH, one.name, one.name, made)
        if self._makes(m, site, order):
            yield And(expr, prop, 0, "stay", "here", expr, prop_text(MADE, site, order))
        for source, target in self.routes:
            if target == site and self._makes(m, source, order):
                made = prop_text(MADE, source, order)
                yield And(expr, prop, 0, "ship", f"from {source}", expr, made)
        if order and self.sites[site].sorts:
            yield And(expr, prop, 0, "sort", "window", expr, prop_text(AT, site))

    def _joined(self, expr: str, prop: str, site: str, order: str) -> Iterator[And]:
        m = self.names[expr]
        if expr in self.members or not self._makes(m, site, order):
            return
        here = prop_text(AT, site)
        for index, (left, right) in enumerate(sorted(self.graph.halves(m)), start=1):
            one, other = self.graph.name(left), self.graph.name(right)
            shared = self.estimates.shared(left, right)
            if left < right:
                if not order:
                    yield And(expr, prop, index, "join", "natural", one, here, other, here)
                if self.sites[site].sorts:
                    for by in shared:
                        if order in ("", by):
                            kept = prop_text(AT, site, by)
                            phy = f"merge by {by}"
                            yield And(expr, prop, index, "join", phy, one, kept, other, kept)
            if shared and not order:
                for back in self._reduced(right, site):
                    far = prop_text(MADE, back.source)
                    for how in ("semi", "bloom"):
                        phy = f"{how} at {back.source}"
                        yield And(expr, prop, index, "join", phy, one, here, other, far)

    def _reduced(self, m: int, site: str) -> Iterator[Route]:
        """Returns the routes over which a set may come reduced by keys sent to where it is made."""
        for (source, target), route in self.routes.items():
            both_ways = target == site and (site, source) in self.routes
            if both_ways and self.sites[source].reduces and self._makes(m, source):
                yield route


def over_sites(problem: region.Problem) -> Problem:
    """Returns a region's problem as one over two sites without a route: motes that join nothing.

    Law: its space has the nodes, ways and costs that the product's own has.
    """
    homes = {True: "sensors", False: "engine"}
    sites = (
        SearchSite("sensors", 100.0, joins=0, battery=True, hashes=False),
        SearchSite("engine", ROW_US),
    )
    equalities = [
        many_sites.Equality(
            many_sites.Attribute(one, f"c{number}"), many_sites.Attribute(other, f"c{number}")
        )
        for number, aliases in enumerate(problem.classes)
        for one, other in pairwise(sorted(aliases))
    ]
    return Problem(
        tuple(
            many_sites.Member(one.alias, homes[one.comes], one.rows, one.rate_hz, 1)
            for one in problem.members
        ),
        sites,
        (),
        "engine",
        tuple(equalities),
        tuple(many_sites.Theta(one.left, one.right, one.share) for one in problem.thetas),
        problem.metric,
        accesses=tuple(
            Access(one.name, one.aliases, "sensors", one.cost) for one in problem.accesses
        ),
    )
