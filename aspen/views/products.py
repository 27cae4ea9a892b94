"""Products: sides of a join that no condition ties to each other, and how many rows they give.

    FROM machine m, room r WHERE m.mid = 'm1'      one row beside 90, which is meant
    FROM sensor s, machine m, room r WHERE s.rid = r.rid     s, r beside m: a condition is missing

A condition of any form ties the sides whose columns it names. What computes its own columns
(GROUP BY, LIMIT, a window) is one side to what stands above it.

Receives: a plan, rows per relation.     Gives: products whose sides all have several rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from aspen.algebra.expr import Col, Const, Expr, Op, columns_in, conjuncts
from aspen.algebra.plan import (
    AntiJoin,
    Filter,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    Scan,
    TopK,
    children,
    nodes,
)
from aspen.components import connected_groups
from aspen.model.catalog import Catalog
from aspen.views.choose import KnownCounts, estimate

Behind = Mapping[str, frozenset[int]]
"""The parts of a nest that each of its columns comes from."""


@dataclass(frozen=True, slots=True)
class UntiedSides:
    """A product.

    Args:
        sides: of each side the relations it reads, under their aliases.
        rows: estimated, of the whole product.
    """

    sides: tuple[tuple[Scan, ...], ...]
    rows: float


@dataclass(slots=True)
class _Nest:
    """Joins within joins.

    Args:
        parts: what is joined; conditions name them by index.
        ties: the parts that one condition names, or one part alone.
        aside: what is only looked for partners in, which gives no rows.
    """

    parts: list[Plan] = field(default_factory=list)
    ties: list[frozenset[int]] = field(default_factory=list)
    aside: list[Plan] = field(default_factory=list)

    def add(self, node: Plan) -> Behind:
        """Adds a node and all below it; returns what is behind its columns."""
        match node:
            case Join() | OuterJoin():
                both = {**self.add(node.left), **self.add(node.right)}
                self.ties += [both[left] | both[right] for left, right in node.on]
                self._tie(node.residual, both)
                return both
            case Filter() if _is_nest(node.child):
                behind = self.add(node.child)
                self._tie(node.predicate, behind)
                return behind
            case AntiJoin() | MarkJoin() if _is_nest(node.left):
                behind = self.add(node.left)
                self.aside.append(node.right)
                marked = _parts_of((left for left, _ in node.on), behind)
                return {column.name: behind.get(column.name, marked) for column in node.columns}
            case Project() if _is_nest(node.child):
                behind = self.add(node.child)
                return {
                    column.name: _parts_of(columns_in(value), behind)
                    for column, value in node.outputs
                }
        number = frozenset({len(self.parts)})
        self.parts.append(node)
        self.ties.append(number)
        return dict.fromkeys((column.name for column in node.columns), number)

    def _tie(self, predicate: Expr | None, behind: Behind) -> None:
        self.ties += [_parts_of(columns_in(one), behind) for one in conjuncts(predicate)]

    @property
    def sides(self) -> list[list[Plan]]:
        """The parts, those together that conditions tie."""
        groups = connected_groups([tie for tie in self.ties if tie], sorted)
        return [[self.parts[n] for n in sorted(frozenset().union(*group))] for group in groups]


def products(plan: Plan, catalog: Catalog, known: KnownCounts) -> list[UntiedSides]:
    """Returns the products in a plan, from the outermost on."""
    found: list[UntiedSides] = []
    waiting = [plan]
    while waiting:
        nest = _Nest()
        nest.add(waiting.pop(0))
        waiting += [*(child for part in nest.parts for child in children(part)), *nest.aside]
        counted = [
            (scans, max(_rows(part, catalog, known) for part in side))
            for side in nest.sides
            if (scans := _scans(side))  # rows written in the query are meant
        ]
        several = [(scans, rows) for scans, rows in counted if rows > 1]
        if len(several) > 1:
            sides = tuple(scans for scans, _ in several)
            product = UntiedSides(sides, prod(rows for _, rows in several))
            found += [] if product in found else [product]
    return found


def _is_nest(node: Plan) -> bool:
    match node:
        case Join() | OuterJoin():
            return True
        case Filter() | Project():
            return _is_nest(node.child)
        case AntiJoin() | MarkJoin():
            return _is_nest(node.left)
    return False


def _parts_of(columns: Iterable[str], behind: Behind) -> frozenset[int]:
    return frozenset[int]().union(*(behind[column] for column in columns if column in behind))


def _scans(side: Iterable[Plan]) -> tuple[Scan, ...]:
    return tuple(node for part in side for node in nodes(part) if isinstance(node, Scan))


def _rows(part: Plan, catalog: Catalog, known: KnownCounts) -> float:
    """Estimates the rows of a part; one that can have no more than one row has at most one."""
    match part:
        case GroupBy(keys=()):
            return 1.0
        case TopK(limit=int(limit), partition_by=()):
            return min(float(limit), _rows(part.child, catalog, known))
        case Filter(child=Scan() as scan) if _is_keyed(part.predicate, scan, catalog):
            return 1.0
        case Project(child=child) | GroupBy(child=child):
            return _rows(child, catalog, known) if part.columns else 1.0
    return estimate(part, known) if part.columns else 1.0


def _is_keyed(predicate: Expr, scan: Scan, catalog: Catalog) -> bool:
    """Returns whether a predicate gives every column of a relation's key a value."""
    fixed = {
        one.left.name.removeprefix(f"{scan.alias}.")
        for one in conjuncts(predicate)
        if isinstance(one, Op)
        and one.symbol == "="
        and isinstance(one.left, Col)
        and isinstance(one.right, Const)
    }
    key = set(catalog.get(scan.relation).key)
    return bool(key) and key <= fixed
