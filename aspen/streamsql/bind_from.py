"""FROM and WHERE: sources with their windows, joins and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from aspen.algebra.expr import Expr, columns_in
from aspen.model.schema import Column, SourceKind
from aspen.streamsql.ast import (
    Binary,
    DerivedSource,
    Exists,
    Expression,
    JoinedSource,
    NamedSource,
    Negation,
    Query,
    SelectQuery,
    Source,
    WindowSpec,
)
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.bind_join import Joined, nullable, shared_columns
from aspen.streamsql.bind_subquery import Subqueries
from aspen.streamsql.bound import (
    BaseSource,
    BoundExists,
    BoundFrom,
    BoundQuery,
    BoundSource,
    BoundWindow,
    OuterSource,
    RecursionSource,
    SubSource,
)
from aspen.streamsql.errors import (
    DuplicateAlias,
    MisplacedWindow,
    NonStratified,
    UnboundedStream,
    UnionArity,
    UnknownRelation,
    nearest,
    suggestion,
)
from aspen.streamsql.scope import Environment, RecursionMark, Scope, bare

QueryBinder = Callable[[Query, Environment], BoundQuery]


def conditions(where: Expression | None) -> Iterator[Expression]:
    """Returns the parts that ANDs join, left to right."""
    if isinstance(where, Binary) and where.symbol == "AND":
        yield from conditions(where.left)
        yield from conditions(where.right)
    elif where is not None:
        yield where


class FromBinder:
    """Binds the FROM and WHERE of one SELECT.

    Args:
        environment: what names in FROM mean, and the scope around.
        bind_query: binds a sub-query.
    """

    def __init__(self, environment: Environment, bind_query: QueryBinder) -> None:
        self.environment = environment
        self.bind_query = bind_query

    def bind(self, query: SelectQuery) -> tuple[BoundFrom, Scope, Subqueries]:
        """Bind FROM and WHERE.

        Returns:
            What was bound, the scope of its columns, and the sub-queries WHERE computes.
        """
        joined = self._all(query.sources)
        scope = self._scope(joined)
        subqueries = Subqueries(self.environment, self.bind_query, scope)
        binder = ExpressionBinder(scope, subqueries=subqueries)
        own = list(joined.predicates)
        later: list[Expr] = []
        exists: list[BoundExists] = []
        for node in conditions(query.where):
            found, negated = _exists(node)
            if found is not None:
                exists += subqueries.condition(found, binder, negated=negated)
                continue
            value = binder.predicate(node, "WHERE")
            reads_made = columns_in(value.expr) & subqueries.made
            (later if reads_made else own).append(value.expr)
        origin = BoundFrom(
            tuple(joined.sources),
            tuple(own),
            tuple(exists),
            tuple(subqueries.found),
            tuple(later),
        )
        return origin, scope, subqueries

    def _scope(self, joined: Joined) -> Scope:
        return Scope(joined.leaves, self.environment.outer, frozenset(joined.hidden))

    def _all(self, sources: tuple[Source, ...]) -> Joined:
        joined = Joined()
        for source in sources:
            if isinstance(source, JoinedSource):
                part = self._join(source)
            else:
                part = Joined()
                bound = self._source(source)
                part.sources.append(bound)
                part.leaves[source.alias] = bound
            self._add(joined, part, source)
        return joined

    def _add(self, joined: Joined, part: Joined, source: Source) -> None:
        for alias in part.leaves:
            if alias in joined.leaves:
                raise DuplicateAlias(
                    f"two sources are called {alias!r}",
                    position=source.at,
                    found=alias,
                    exists=tuple(joined.leaves),
                    attempt=f"give one an alias: … AS {alias}_2",
                )
        joined.sources += part.sources
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
        on, hidden = shared_columns(source, self._scope(left), self._scope(right))
        both.hidden |= hidden
        binder = ExpressionBinder(self._scope(both))
        on += [binder.predicate(c, "ON").expr for c in conditions(source.on)]
        if source.kind == "INNER":
            both.predicates += on
            return both
        if any(isinstance(leaf, RecursionSource) for leaf in both.leaves.values()):
            raise NonStratified(
                f"{source.kind} JOIN of a recursive view in its own step has no least answer",
                position=source.at,
                found=f"{source.kind} JOIN",
                attempt="join with the finished view, in the query that reads it",
            )
        if source.kind in ("RIGHT", "FULL"):
            both.leaves |= {alias: nullable(leaf) for alias, leaf in left.leaves.items()}
        if source.kind in ("LEFT", "FULL"):
            both.leaves |= {alias: nullable(leaf) for alias, leaf in right.leaves.items()}
        columns = tuple(c for leaf in both.leaves.values() for c in leaf.columns)
        parts = (
            BoundFrom(tuple(left.sources), tuple(left.predicates)),
            BoundFrom(tuple(right.sources), tuple(right.predicates)),
        )
        both.sources = [OuterSource(source.kind, *parts, tuple(on), columns)]
        both.predicates = []
        return both

    def _alias(self, alias: str) -> str:
        """Returns the alias a plan can use: one that no source around has."""
        outer = self.environment.outer
        scopes = () if outer is None else outer.around
        taken = {source.alias for scope in scopes for source in scope.sources.values()}
        number = 2
        chosen = alias
        while chosen in taken:
            chosen = f"{alias}_{number}"
            number += 1
        return chosen

    def _source(self, source: NamedSource | DerivedSource) -> BoundSource:
        alias = self._alias(source.alias)
        if isinstance(source, DerivedSource):
            return self._derived(alias, source)
        known = self.environment.ctes.get(source.name)
        if known is not None:
            self._no_window(source, "a query's result")
            if isinstance(known, RecursionMark):
                return RecursionSource(alias, known.name, _prefixed(alias, known.columns))
            return _sub(alias, known)
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
        if relation.kind is not SourceKind.STREAM:
            self._no_window(source, f"a {relation.kind.value.lower()}")
            return BaseSource(alias, relation, columns)
        if source.window is None and relation.ttl_s:
            return BaseSource(alias, relation, columns, BoundWindow((), None, relation.ttl_s))
        if source.window is None:
            raise UnboundedStream(
                f"stream {source.name!r} never ends: say how much of it counts",
                position=source.at,
                found=source.name,
                exists=("[RANGE 30 SECONDS]", "[ROWS 1]", "[PARTITION BY … ROWS 1]"),
                attempt=f"{source.name} [RANGE 30 SECONDS]",
            )
        base = BaseSource(alias, relation, columns)
        return replace(base, window=self._window(source.window, source.alias, base))

    def _derived(self, alias: str, source: DerivedSource) -> SubSource:
        found = _sub(alias, self.bind_query(source.query, self.environment))
        if not source.columns:
            return found
        if len(source.columns) != len(found.columns):
            raise UnionArity(
                f"{source.alias} names {len(source.columns)} columns, its query has"
                f" {len(found.columns)}",
                position=source.at,
                found=", ".join(source.columns),
                exists=[bare(column) for column in found.columns],
                attempt="name each column once",
            )
        columns = tuple(
            replace(column, name=f"{alias}.{name}")
            for column, name in zip(found.columns, source.columns, strict=True)
        )
        return replace(found, columns=columns)

    def _no_window(self, source: NamedSource, what: str) -> None:
        if source.window is not None:
            raise MisplacedWindow(
                f"{source.name!r} is {what}: only a stream has a window",
                position=source.window.at,
                found=source.name,
                attempt="leave the window out",
            )

    def _window(self, spec: WindowSpec, spoken: str, source: BaseSource) -> BoundWindow:
        scope = Scope({spoken: source})
        by = tuple(scope.find(name).name for name in spec.partition_by)
        range_s, ttl_s = spec.range_s, source.relation.ttl_s
        if ttl_s:
            # No window holds what its stream has forgotten.
            range_s = ttl_s if range_s is None else min(range_s, ttl_s)
        return BoundWindow(by, spec.rows, range_s, spec.slide_s)


def _exists(node: Expression) -> tuple[Exists | None, bool]:
    if isinstance(node, Exists):
        return node, False
    if isinstance(node, Negation) and isinstance(node.inner, Exists):
        return node.inner, True
    return None, False


def _prefixed(alias: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(replace(column, name=f"{alias}.{bare(column)}") for column in columns)


def _sub(alias: str, query: BoundQuery) -> SubSource:
    return SubSource(alias, query, _prefixed(alias, query.columns))
