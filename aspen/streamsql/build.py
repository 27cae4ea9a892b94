"""Border 3: bound query → logical plan."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from aspen.algebra.expr import Col, Const, Expr, Op, conjunction
from aspen.algebra.plan import (
    Aggregate,
    Best,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    Plan,
    Project,
    Recursive,
    RecursiveRef,
    Scan,
    SetOperation,
    TopK,
    Union,
    Values,
    Window,
)
from aspen.model.schema import Column, SourceKind, Type
from aspen.streamsql.bound import (
    BaseSource,
    BoundCompare,
    BoundExists,
    BoundFrom,
    BoundOrder,
    BoundQuery,
    BoundRecursion,
    BoundRename,
    BoundScalar,
    BoundSelect,
    BoundSource,
    BoundSubquery,
    BoundUnion,
    BoundValues,
    OuterSource,
    RecursionSource,
    SubSource,
)
from aspen.streamsql.build_group import grouped
from aspen.streamsql.build_parts import relabelled
from aspen.streamsql.build_subquery import answered, valued
from aspen.streamsql.domain import Domain, narrowed
from aspen.streamsql.free import free_in_source
from aspen.streamsql.join_order import join_order
from aspen.streamsql.outer_join import outer_join

_ONLY = "_only"  # no name in a query begins with _


def build(query: BoundQuery) -> Plan:
    """Returns the plan of a bound query; its columns are the query's, by name and type."""
    return Builder().query(query, None)


class Builder:
    """Builds queries, those inside others for all rows around them at once.

    A method that is given a domain gives rows that begin with the domain's columns.
    """

    def __init__(self) -> None:
        self._numbers = count(1)

    def query(self, query: BoundQuery, domain: Domain | None) -> Plan:
        """Returns the plan of a query."""
        given = () if domain is None else domain.columns
        match query:
            case BoundSelect():
                return self._select(query, domain)
            case BoundUnion(branches, distinct, columns):
                parts = [self.query(branch, domain) for branch in _flat(branches, query)]
                united = Union(tuple(relabelled(part, given + columns) for part in parts))
                return Distinct(united) if distinct else united
            case BoundCompare(left, right, function, keeps, columns):
                sides = [
                    relabelled(self.query(side, domain), given + columns) for side in (left, right)
                ]
                return SetOperation(sides[0], sides[1], function, keeps)
            case BoundValues(columns, rows):
                return self._beside(domain, Values(columns, rows))
            case BoundOrder(inner, keys, limit, offset, columns):
                plan = self.query(inner, domain)
                if query.cuts:
                    per = tuple(column.name for column in given)
                    plan = TopK(plan, keys, limit, offset, per)
                return narrowed(plan, given + columns)
            case BoundRecursion():
                return self._beside(domain, self._recursion(query))
            case BoundRename(inner, columns):
                return relabelled(self.query(inner, domain), given + columns)

    def _beside(self, domain: Domain | None, plan: Plan) -> Plan:
        """Returns a plan that reads nothing around it once for every row of the domain."""
        return plan if domain is None else Join(domain.plan, plan)

    def _select(self, query: BoundSelect, domain: Domain | None) -> Plan:
        given = () if domain is None else domain.columns
        plan = self.origin(query.origin, domain)
        if query.group is not None:
            plan = grouped(plan, query.group, domain)
        around = plan
        for found in query.late:
            plan = self.subquery(plan, found, around)
        if query.group is not None and query.group.having is not None:
            plan = Filter(plan, query.group.having)
        kept = tuple((column, Col(column.name)) for column in given)
        plan = Project(plan, kept + query.outputs)
        return Distinct(plan) if query.distinct else plan

    def origin(self, origin: BoundFrom, domain: Domain | None) -> Plan:
        """Returns the rows of FROM that pass WHERE."""
        predicates = list(origin.predicates)
        sources = [] if domain is None else [domain.plan]
        for source in origin.sources:
            reads = () if domain is None else free_in_source(source)
            if domain is None or not reads:
                sources.append(self._source(source))
                continue
            # The source carries the domain too: it meets the rows of its own values.
            plan, pairs = self.apart(self._source(source, domain), domain)
            sources.append(plan)
            predicates += [Op("=", Col(one), Col(other)) for one, other in pairs]
        if not sources:
            sources.append(Values(()))
        plan, rest = join_order(sources, predicates)
        plan = around = _filtered(plan, rest)
        for found in (*origin.exists, *origin.computed):
            plan = self.subquery(plan, found, around)
        return _filtered(plan, origin.later)

    def apart(self, plan: Plan, domain: Domain) -> tuple[Plan, tuple[tuple[str, str], ...]]:
        """Rename the domain's columns of a plan, so that it can be joined with others that have it.

        Returns:
            The plan with the identifying columns renamed and the others gone, and pairs of
            (the domain's column, the renamed one).
        """
        number = next(self._numbers)
        pairs = tuple((name, f"domain_{number}.c{i}") for i, name in enumerate(domain.on))
        new = dict(pairs)
        own = {column.name for column in domain.columns}
        outputs: list[tuple[Column, Expr]] = []
        for column in plan.columns:
            if column.name in new:
                renamed = Column(new[column.name], column.type, column.unit, column.nullable)
                outputs.append((renamed, Col(column.name)))
            elif column.name not in own:
                outputs.append((column, Col(column.name)))
        return Project(plan, tuple(outputs)), pairs

    def subquery(self, plan: Plan, found: BoundSubquery, around: Plan) -> Plan:
        """Returns a plan's rows with the value of a sub-query, or those that pass it.

        Args:
            around: has all rows of the plan, without what other sub-queries gave.
        """
        match found:
            case BoundScalar():
                return valued(self, plan, found, around)
            case BoundExists():
                return answered(self, plan, found, around)

    def _source(self, source: BoundSource, domain: Domain | None = None) -> Plan:
        match source:
            case BaseSource(alias, relation, columns, window):
                stream = relation.kind is SourceKind.STREAM
                scan = Scan(relation.name, alias, columns, relation.deletable, stream)
                if window is None:
                    return scan
                return Window(
                    scan, window.partition_by, window.rows, window.range_s, window.slide_s
                )
            case SubSource(_, query, columns):
                given = () if domain is None else domain.columns
                return relabelled(self.query(query, domain), given + columns)
            case OuterSource():
                return outer_join(self, source, domain)
            case RecursionSource(alias, name, columns):
                return RecursiveRef(name, alias, columns)

    def _recursion(self, query: BoundRecursion) -> Plan:
        own = self._recursive(query)
        others = tuple(map(self._recursive, query.others))
        plan = Fixpoint(own.name, own.columns, own.base, own.step, own.best, others, query.most)
        return plan if own.best is None or not own.best.more else _least(plan, own.best)

    def _recursive(self, query: BoundRecursion) -> Recursive:
        base = relabelled(self.query(query.base, None), query.columns)
        step = relabelled(self.query(query.step, None), query.columns)
        return Recursive(query.name, query.columns, base, step, query.best)


def _least(plan: Fixpoint, best: Best) -> Plan:
    """One row per key with the best of each choice, of rows that are best for at least one."""
    by_name = {column.name: column for column in plan.columns}
    aggregates = tuple(Aggregate(how, name, by_name[name]) for name, how in best.choices)
    rows: Plan = plan
    if not best.keys:
        # Without keys a group would be there even of no rows.
        own = tuple((column, Col(column.name)) for column in plan.columns)
        rows = Project(plan, (*own, (Column(_ONLY, Type.INT), Const(0))))
    chosen = GroupBy(rows, best.keys or (_ONLY,), aggregates)
    return Project(chosen, tuple((column, Col(column.name)) for column in plan.columns))


def _flat(branches: tuple[BoundQuery, ...], union: BoundUnion) -> list[BoundQuery]:
    """Take unions of the same kind apart: a UNION (b UNION c) is one union of three."""
    flat: list[BoundQuery] = []
    for branch in branches:
        if isinstance(branch, BoundUnion) and (union.distinct or not branch.distinct):
            flat += _flat(branch.branches, union)
        else:
            flat.append(branch)
    return flat


def _filtered(plan: Plan, predicates: Sequence[Expr]) -> Plan:
    predicate = conjunction(predicates)
    return plan if predicate is None else Filter(plan, predicate)
