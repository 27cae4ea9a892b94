"""FROM and WHERE: sources with their windows, joins and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce

from aspen.algebra.expr import Col, Const, Expr, columns_in, conjunction
from aspen.algebra.plan import (
    AntiJoin,
    Join,
    OuterJoin,
    Plan,
    Project,
    RecursiveRef,
    Scan,
    Union,
    Values,
    Window,
)
from aspen.algebra.renaming import filtered
from aspen.model.schema import Column, Relation, SourceKind
from aspen.streamsql.ast import (
    Binary,
    DerivedSource,
    Exists,
    Expression,
    JoinedSource,
    Name,
    NamedSource,
    Negation,
    Query,
    SelectQuery,
    WindowClause,
)
from aspen.streamsql.ast import Source as Spoken
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.bind_subquery import Subqueries
from aspen.streamsql.errors import (
    DuplicateAlias,
    MisplacedWindow,
    NonStratified,
    UnboundedStream,
    UnionArity,
    UnknownRelation,
    Unsupported,
    nearest,
    suggestion,
)
from aspen.streamsql.scope import Environment, RecursionMark, Scope, Source, bare
from aspen.streamsql.typing_rules import Typed, operator, relabelled

QueryBinder = Callable[[Query, Environment], Plan]


def conditions(where: Expression | None) -> Iterator[Expression]:
    """Returns the parts that ANDs join, left to right."""
    if isinstance(where, Binary) and where.symbol == "AND":
        yield from conditions(where.left)
        yield from conditions(where.right)
    elif where is not None:
        yield where


@dataclass(slots=True)
class Joined:
    """Sources bound so far.

    Args:
        leaves: what names may be looked up in, by the alias the user gave.
        hidden: plan names of columns that USING merged into others.
    """

    plans: list[Plan] = field(default_factory=list)
    predicates: list[Expr] = field(default_factory=list)
    leaves: dict[str, Source] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    @property
    def plan(self) -> Plan:
        """Their product, as far as it passes the conditions; one row where there are none."""
        whole = reduce(Join, self.plans) if self.plans else Values(())
        return filtered(whole, self.predicates)


@dataclass(frozen=True, slots=True)
class Rows:
    """What FROM and WHERE give.

    Args:
        computes: whether WHERE computes values of sub-queries.
        recursive: whether FROM names the recursive view in its own step.
    """

    plan: Plan
    scope: Scope
    computes: bool
    recursive: bool


class FromBinder:
    """Binds the FROM and WHERE of one SELECT.

    Args:
        environment: what names in FROM mean, and the scope around.
        bind_query: binds a sub-query.
    """

    def __init__(self, environment: Environment, bind_query: QueryBinder) -> None:
        self.environment = environment
        self.bind_query = bind_query
        outer = environment.outer
        scopes = () if outer is None else outer.around
        self._taken = {source.alias for scope in scopes for source in scope.sources.values()}

    def bind(self, query: SelectQuery) -> Rows:
        """Bind FROM and WHERE."""
        joined = self._all(query.sources)
        scope = self._scope(joined)
        subqueries = Subqueries(self.environment, self.bind_query, scope)
        binder = ExpressionBinder(scope, subqueries=subqueries)
        later: list[Expr] = []
        for node in conditions(query.where):
            found, negated = _exists(node)
            if found is not None:
                subqueries.condition(found, binder, negated=negated)
                continue
            value = binder.predicate(node, "WHERE")
            reads_made = columns_in(value.expr) & subqueries.made
            (later if reads_made else joined.predicates).append(value.expr)
        plan = filtered(subqueries.over(joined.plan), later)
        recursive = any(source.recursive for source in joined.leaves.values())
        return Rows(plan, scope, bool(subqueries.made), recursive)

    def _scope(self, joined: Joined) -> Scope:
        return Scope(joined.leaves, self.environment.outer, frozenset(joined.hidden))

    def _all(self, sources: tuple[Spoken, ...]) -> Joined:
        joined = Joined()
        for source in sources:
            if isinstance(source, JoinedSource):
                part = self._join(source)
            else:
                plan, found = self._source(source)
                part = Joined([plan], leaves={source.alias: found})
            self._add(joined, part, source)
        return joined

    def _add(self, joined: Joined, part: Joined, source: Spoken) -> None:
        for alias in part.leaves:
            if alias in joined.leaves:
                raise DuplicateAlias(
                    f"two sources are called {alias!r}",
                    position=source.at,
                    found=alias,
                    exists=tuple(joined.leaves),
                    attempt=f"give one an alias: … AS {alias}_2",
                )
        joined.plans += part.plans
        joined.predicates += part.predicates
        joined.leaves |= part.leaves
        joined.hidden |= part.hidden

    def _join(self, source: JoinedSource) -> Joined:
        left, right = self._all(source.left), self._all(source.right)
        for side, condition in ((left, source.left_on), (right, source.right_on)):
            binder = ExpressionBinder(self._scope(side))
            side.predicates += [binder.predicate(c, "ON").expr for c in conditions(condition)]
        both = Joined()
        self._add(both, left, source)
        self._add(both, right, source)
        on, hidden = _shared_columns(source, self._scope(left), self._scope(right))
        both.hidden |= hidden
        binder = ExpressionBinder(self._scope(both))
        on += [binder.predicate(c, "ON").expr for c in conditions(source.on)]
        if source.kind == "INNER":
            both.predicates += on
            return both
        if any(leaf.recursive for leaf in both.leaves.values()):
            raise NonStratified(
                f"{source.kind} JOIN of a recursive view in its own step has no least answer",
                position=source.at,
                found=f"{source.kind} JOIN",
                attempt="join with the finished view, in the query that reads it",
            )
        if source.kind in ("RIGHT", "FULL"):
            both.leaves |= {alias: _nullable(leaf) for alias, leaf in left.leaves.items()}
        if source.kind in ("LEFT", "FULL"):
            both.leaves |= {alias: _nullable(leaf) for alias, leaf in right.leaves.items()}
        columns = tuple(c for leaf in both.leaves.values() for c in leaf.columns)
        plan = _outer_join(source.kind, left.plan, right.plan, conjunction(on), columns)
        both.plans, both.predicates = [plan], []
        return both

    def _alias(self, alias: str) -> str:
        """Returns the alias a plan can use: one that no source around or beside has."""
        number, chosen = 2, alias
        while chosen in self._taken:
            chosen, number = f"{alias}_{number}", number + 1
        self._taken.add(chosen)
        return chosen

    def _source(self, source: NamedSource | DerivedSource) -> tuple[Plan, Source]:
        alias = self._alias(source.alias)
        if isinstance(source, DerivedSource):
            return self._derived(alias, source)
        known = self.environment.ctes.get(source.name)
        if known is not None:
            self._no_window(source, "a query's result")
            columns = _prefixed(alias, known.columns)
            if isinstance(known, RecursionMark):
                return RecursiveRef(known.name, alias, columns), Source(alias, columns, True)
            return relabelled(known, columns), Source(alias, columns)
        if source.name not in self.environment.catalog:
            raise UnknownRelation(
                f"there is no relation or view {source.name!r}",
                position=source.at,
                found=source.name,
                exists=nearest(source.name, self.environment.names),
                attempt=suggestion(source.name, self.environment.names)
                or "see the schema browser for the names",
            )
        relation = self.environment.catalog.get(source.name)
        columns = _prefixed(alias, relation.columns)
        found = Source(alias, columns)
        stream = relation.kind is SourceKind.STREAM
        scan = Scan(relation.name, alias, columns, relation.deletable, stream)
        if not stream:
            self._no_window(source, f"a {relation.kind.value.lower()}")
            return scan, found
        if source.window is not None:
            return self._window(source.window, scan, Scope({source.alias: found}), relation), found
        if relation.ttl_s:
            return Window(scan, range_s=relation.ttl_s), found
        raise UnboundedStream(
            f"stream {source.name!r} never ends: say how much of it counts",
            position=source.at,
            found=source.name,
            exists=("[RANGE 30 SECONDS]", "[ROWS 1]", "[PARTITION BY … ROWS 1]"),
            attempt=f"{source.name} [RANGE 30 SECONDS]",
        )

    def _derived(self, alias: str, source: DerivedSource) -> tuple[Plan, Source]:
        plan = self.bind_query(source.query, self.environment)
        columns = _prefixed(alias, plan.columns)
        if source.columns and len(source.columns) != len(columns):
            raise UnionArity(
                f"{source.alias} names {len(source.columns)} columns, its query has {len(columns)}",
                position=source.at,
                found=", ".join(source.columns),
                exists=[bare(column) for column in columns],
                attempt="name each column once",
            )
        if source.columns:
            columns = tuple(
                replace(column, name=f"{alias}.{name}")
                for column, name in zip(columns, source.columns, strict=True)
            )
        return relabelled(plan, columns), Source(alias, columns)

    def _no_window(self, source: NamedSource, what: str) -> None:
        if source.window is not None:
            raise MisplacedWindow(
                f"{source.name!r} is {what}: only a stream has a window",
                position=source.window.at,
                found=source.name,
                attempt="leave the window out",
            )

    def _window(self, spec: WindowClause, scan: Scan, scope: Scope, relation: Relation) -> Window:
        by = tuple(scope.find(name).name for name in spec.partition_by)
        bounds, ttl_s = spec.bounds, relation.ttl_s
        if ttl_s:
            # No window holds what its stream has forgotten.
            bounds = bounds._replace(range_s=min(bounds.range_s or ttl_s, ttl_s))
        return Window(scan, by, *bounds)


def _outer_join(
    kind: str, left: Plan, right: Plan, on: Expr | None, columns: tuple[Column, ...]
) -> Plan:
    """Returns the joined rows, and those without a partner beside nulls.

    Law: FULL == LEFT, and what the right has no partner for beside nulls.
    """
    if kind == "RIGHT":
        return _padded(OuterJoin(right, left, residual=on), columns)
    whole = OuterJoin(left, right, residual=on)
    if kind == "LEFT":
        return whole
    alone = AntiJoin(right, left, residual=on)
    return Union((_padded(whole, columns), _padded(alone, columns)))


def _padded(plan: Plan, columns: tuple[Column, ...]) -> Plan:
    existing = {column.name for column in plan.columns}
    outputs = ((c, Col(c.name) if c.name in existing else Const(None)) for c in columns)
    return Project(plan, tuple(outputs))


def _nullable(source: Source) -> Source:
    """Returns a source whose columns may all be null, as on the far side of an outer join."""
    return replace(source, columns=tuple(replace(c, nullable=True) for c in source.columns))


def _shared_columns(source: JoinedSource, left: Scope, right: Scope) -> tuple[list[Expr], set[str]]:
    """Bind USING and NATURAL.

    Returns:
        The equalities, and the plan names of the columns that come only once.

    Raises:
        UnknownColumn: one side has no such column.
        Unsupported: FULL JOIN, whose shared column is neither side's.
    """
    names = source.using
    if source.natural:
        others = {bare(column) for column in _visible(right)}
        names = tuple(dict.fromkeys(bare(c) for c in _visible(left) if bare(c) in others))
    if names and source.kind == "FULL":
        raise Unsupported(
            "FULL JOIN takes a condition, not USING",
            position=source.at,
            found="USING",
            attempt="ON a.x = b.x, and coalesce(a.x, b.x) in the select list",
        )
    on: list[Expr] = []
    hidden: set[str] = set()
    for name in names:
        one, other = (scope.find(Name("", name, source.at)) for scope in (left, right))
        on.append(operator("=", _typed(one, source), _typed(other, source), source.at).expr)
        hidden.add((one if source.kind == "RIGHT" else other).name)
    return on, hidden


def _visible(scope: Scope) -> list[Column]:
    columns = [column for source in scope.sources.values() for column in source.columns]
    return [column for column in columns if column.name not in scope.hidden]


def _typed(column: Column, source: JoinedSource) -> Typed:
    return Typed(Col(column.name), column.type, column.unit, column.nullable, source.at)


def _exists(node: Expression) -> tuple[Exists | None, bool]:
    if isinstance(node, Exists):
        return node, False
    if isinstance(node, Negation) and isinstance(node.inner, Exists):
        return node.inner, True
    return None, False


def _prefixed(alias: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(replace(column, name=f"{alias}.{bare(column)}") for column in columns)
