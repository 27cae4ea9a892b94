"""Border 3: bound query → logical plan."""

from __future__ import annotations

from aspen.algebra.expr import Col, Expr, conjunction
from aspen.algebra.plan import (
    Aggregate,
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    Plan,
    Project,
    RecursiveRef,
    Scan,
    Union,
    Window,
)
from aspen.model.schema import Column, SourceKind
from aspen.streamsql.bound import (
    BaseSource,
    BoundExists,
    BoundFrom,
    BoundGroup,
    BoundQuery,
    BoundRecursion,
    BoundRename,
    BoundSelect,
    BoundSource,
    BoundUnion,
    RecursionSource,
    SubSource,
)
from aspen.streamsql.join_order import join_order
from aspen.streamsql.typing_rules import widened


def build(query: BoundQuery) -> Plan:
    """Give the plan of a bound query; its columns are the query's, by name and type."""
    match query:
        case BoundSelect():
            return _select(query)
        case BoundUnion(branches, distinct, columns):
            united = Union(tuple(_as(build(branch), columns) for branch in _flat(branches, query)))
            return Distinct(united) if distinct else united
        case BoundRecursion():
            return _recursion(query)
        case BoundRename(inner, columns):
            return _as(build(inner), columns)


def _flat(branches: tuple[BoundQuery, ...], union: BoundUnion) -> list[BoundQuery]:
    """Take unions of the same kind apart: a UNION (b UNION c) is one union of three."""
    flat: list[BoundQuery] = []
    for branch in branches:
        if isinstance(branch, BoundUnion) and (union.distinct or not branch.distinct):
            flat += _flat(branch.branches, union)
        else:
            flat.append(branch)
    return flat


def _as(plan: Plan, columns: tuple[Column, ...]) -> Plan:
    """Rename and widen columns by place, where they are not yet as wanted."""
    if plan.columns == columns:
        return plan
    outputs = tuple(
        (wanted, widened(Col(column.name), column.type, wanted.type))
        for column, wanted in zip(plan.columns, columns, strict=True)
    )
    if isinstance(plan, Project):
        values = tuple(
            (wanted, widened(expr, column.type, wanted.type))
            for (column, expr), wanted in zip(plan.outputs, columns, strict=True)
        )
        return Project(plan.child, values)
    return Project(plan, outputs)


def _select(query: BoundSelect) -> Plan:
    plan = _from(query.origin)
    if query.group is not None:
        plan = _group(plan, query.group)
    plan = Project(plan, query.outputs)
    return Distinct(plan) if query.distinct else plan


def _from(origin: BoundFrom) -> Plan:
    plan, rest = join_order([_source(source) for source in origin.sources], origin.predicates)
    for found in origin.exists:
        plan = _exists(plan, found)
    return _filtered(plan, rest)


def _filtered(plan: Plan, predicates: list[Expr]) -> Plan:
    predicate = conjunction(predicates)
    return plan if predicate is None else Filter(plan, predicate)


def _exists(plan: Plan, found: BoundExists) -> Plan:
    inner = _from(found.inner)
    if found.negated:
        return AntiJoin(plan, inner, found.on, conjunction(found.residual))
    by_name = {column.name: column for column in inner.columns}
    keys = dict.fromkeys(right for _, right in found.on)
    partners = Distinct(Project(inner, tuple((by_name[key], Col(key)) for key in keys)))
    return Join(plan, partners, found.on)


def _source(source: BoundSource) -> Plan:
    match source:
        case BaseSource(alias, relation, columns, window):
            stream = relation.kind is SourceKind.STREAM
            scan = Scan(relation.name, alias, columns, relation.deletable, stream)
            if window is None:
                return scan
            return Window(scan, window.partition_by, window.rows, window.range_s)
        case SubSource(_, query, columns):
            return _as(build(query), columns)
        case RecursionSource(alias, name, columns):
            return RecursiveRef(name, alias, columns)


def _group(plan: Plan, group: BoundGroup) -> Plan:
    computed = list(group.keys)
    names = {column.name for column, _ in computed}
    for aggregate in group.aggregates:
        column, value = aggregate.argument, aggregate.value
        if column is not None and value is not None and column.name not in names:
            computed.append((column, value))
            names.add(column.name)
    if any(expr != Col(column.name) for column, expr in computed):
        plan = Project(plan, tuple(computed))
    keys = tuple(column.name for column, _ in group.keys)
    aggregates = tuple(
        Aggregate(
            found.function,
            found.argument.name if found.argument is not None else None,
            found.output,
            found.distinct,
        )
        for found in group.aggregates
    )
    grouped: Plan = GroupBy(plan, keys, aggregates)
    return grouped if group.having is None else Filter(grouped, group.having)


def _recursion(query: BoundRecursion) -> Plan:
    base = _as(build(query.base), query.columns)
    step = _as(build(query.step), query.columns)
    return Fixpoint(query.name, query.columns, base, step, query.best)
