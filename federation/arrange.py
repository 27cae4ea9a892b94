"""Arrange: a region's search answer → its federated plan.

Where no parts are joined in the network, they stand where they stood. Where some are, the joins
above them follow the order the search found, since the old one may have parted them.

Law: over all data, the rows are those of the region's top, in the columns that are read of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from aspen.algebra.expr import Col, Expr, Op, columns_in
from aspen.algebra.joined import join_on
from aspen.algebra.plan import Join, Plan
from aspen.algebra.renaming import filtered, narrowed
from federation.accesses import Fetch
from federation.regions import Path, Region
from federation.search.joins import FETCH
from federation.search.space import SCAN, PlanTree

Elsewhere = Callable[[Plan, Path], Plan]
"""Gives the federated plan of a part that no fetch of a piece brings."""


def chosen_fetches(region: Region, tree: PlanTree) -> tuple[Fetch, ...]:
    """Returns the fetches a search's plan uses."""
    own = (region.fetches[tree.way.phy],) if tree.way.log == FETCH else ()
    return own + tuple(one for child in tree.children for one in chosen_fetches(region, child))


def arranged(region: Region, tree: PlanTree, sites: tuple[str, str], elsewhere: Elsewhere) -> Plan:
    """Returns a region's federated plan.

    Args:
        tree: what the search found.
        sites: where pieces run, and where the rest does.
    """
    pieces = [one for one in chosen_fetches(region, tree) if one.piece is not None]
    if any(len(one.aliases) > 1 for one in pieces):
        return _Joins(region, sites, elsewhere).arranged(tree)
    alone = {one.aliases[0]: one for one in pieces}
    replaced = {region.group.parts[alias][1]: one.plan(*sites) for alias, one in alone.items()}
    return _in_place(region.top, region.path, replaced, region, elsewhere)


def _in_place(
    node: Plan, path: Path, replaced: dict[Path, Plan], region: Region, elsewhere: Elsewhere
) -> Plan:
    if path in replaced:
        return replaced[path]
    if isinstance(node, Join):
        left = _in_place(node.left, (*path, 0), replaced, region, elsewhere)
        right = _in_place(node.right, (*path, 1), replaced, region, elsewhere)
        return Join(left, right, node.on, node.residual)
    return elsewhere(node, path)


@dataclass
class _Joins:
    """Builds the joins the search found."""

    region: Region
    sites: tuple[str, str]
    elsewhere: Elsewhere
    done: list[Expr] = field(default_factory=list)

    def arranged(self, tree: PlanTree) -> Plan:
        self.done = [one for f in chosen_fetches(self.region, tree) for one in f.done]
        plan = self._built(tree)
        left = [one for one in self.region.group.conditions if one not in self.done]
        columns = tuple(c for c in self.region.top.columns if c.name in self.region.needed)
        return narrowed(filtered(plan, left), columns)

    def _built(self, tree: PlanTree) -> Plan:
        way = tree.way
        if way.log == FETCH:
            fetch = self.region.fetches[way.phy]
            if fetch.piece is not None:
                return fetch.plan(*self.sites)
            return self._part(fetch.aliases[0])
        if way.log == SCAN:
            return self._part(way.expr)
        plans = [self._built(child) for child in tree.children]
        return plans[0] if len(plans) == 1 else self._join(plans[0], plans[1])

    def _part(self, alias: str) -> Plan:
        plan, path = self.region.group.parts[alias]
        return self.elsewhere(plan, path)

    def _join(self, left: Plan, right: Plan) -> Plan:
        lefts, rights = left.names, right.names
        conditions: list[Expr] = []
        for names in self.region.group.equal_columns:
            one = [name for name in names if name in lefts]
            other = [name for name in names if name in rights]
            if one and other:
                pairs = [(one[0], other[0])]
                pairs += [(one[0], name) for name in self._unequal(other)]
                pairs += [(name, other[0]) for name in self._unequal(one)]
                conditions += [Op("=", Col(a), Col(b)) for a, b in pairs]
        for condition in self.region.group.conditions:
            if condition not in self.done and columns_in(condition) <= lefts | rights:
                self.done.append(condition)
                conditions.append(condition)
        return join_on(left, right, conditions)

    def _unequal(self, names: list[str]) -> list[str]:
        """Returns the columns behind the first that no join below has made equal to it."""
        owner = self.region.group.owner
        parts = [owner[name] for name in names]
        return [name for name in names[1:] if parts.count(owner[name]) > 1]
