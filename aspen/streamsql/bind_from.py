"""FROM and WHERE: sources with their windows, conditions, and (NOT) EXISTS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from aspen.algebra.expr import Col, Expr, Op, columns_in
from aspen.model.schema import Column, SourceKind
from aspen.streamsql.ast import (
    Binary,
    DerivedSource,
    Exists,
    Expression,
    Item,
    NamedSource,
    Negation,
    Query,
    SelectQuery,
    Source,
    Star,
    WindowSpec,
)
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.bind_group import is_grouped
from aspen.streamsql.bound import (
    BaseSource,
    BoundExists,
    BoundFrom,
    BoundQuery,
    BoundSource,
    BoundWindow,
    RecursionSource,
    SubSource,
    Typed,
)
from aspen.streamsql.errors import (
    DuplicateAlias,
    MisplacedExists,
    MisplacedWindow,
    UnboundedStream,
    UnionArity,
    UnknownRelation,
    nearest,
    suggestion,
)
from aspen.streamsql.scope import Environment, RecursionMark, Scope, bare
from aspen.streamsql.typing_rules import operator

QueryBinder = Callable[[Query, Environment], BoundQuery]


def conditions(where: Expression | None) -> Iterator[Expression]:
    """Give the parts that ANDs join, left to right."""
    if isinstance(where, Binary) and where.symbol == "AND":
        yield from conditions(where.left)
        yield from conditions(where.right)
    elif where is not None:
        yield where


class FromBinder:
    """Binds the FROM and WHERE of one SELECT.

    Args:
        environment: what names in FROM mean.
        bind_query: binds a sub-query.
        outer: the scope around, inside EXISTS.
    """

    def __init__(
        self, environment: Environment, bind_query: QueryBinder, outer: Scope | None = None
    ) -> None:
        self.environment = environment
        self.bind_query = bind_query
        self.outer = outer

    def bind(self, query: SelectQuery) -> tuple[BoundFrom, Scope, list[Expr]]:
        """Bind FROM and WHERE.

        Returns:
            What was bound, the scope of its columns, and the conditions that also read the
            scope around (none outside EXISTS).
        """
        sources: dict[str, BoundSource] = {}
        for source in query.sources:
            if source.alias in sources:
                raise DuplicateAlias(
                    f"two sources are called {source.alias!r}",
                    position=source.at,
                    found=source.alias,
                    exists=tuple(sources),
                    attempt=f"give one an alias: … AS {source.alias}_2",
                )
            sources[source.alias] = self._source(source)
        scope = Scope(sources, self.outer)
        binder = ExpressionBinder(scope)
        own: list[Expr] = []
        across: list[Expr] = []
        exists: list[BoundExists] = []
        for node in conditions(query.where):
            found, negated = _exists(node)
            if found is not None:
                exists.append(self._exists(found, scope, negated=negated))
                continue
            value = binder.predicate(node, "WHERE")
            local = columns_in(value.expr) <= scope.inner_names
            (own if local else across).append(value.expr)
        return BoundFrom(tuple(sources.values()), tuple(own), tuple(exists)), scope, across

    def _alias(self, alias: str) -> str:
        """Give the alias a plan can use: one that no source around has."""
        taken = set() if self.outer is None else {s.alias for s in self.outer.sources.values()}
        number = 2
        chosen = alias
        while chosen in taken:
            chosen = f"{alias}_{number}"
            number += 1
        return chosen

    def _source(self, source: Source) -> BoundSource:
        alias = self._alias(source.alias)
        if isinstance(source, DerivedSource):
            return _sub(alias, self.bind_query(source.query, self.environment))
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
        return BoundWindow(by, spec.rows, spec.range_s)

    def _exists(self, node: Exists, scope: Scope, *, negated: bool) -> BoundExists:
        if node.needle is not None and negated:
            raise MisplacedExists(
                "NOT IN (SELECT …) is never true once a null is among the values",
                position=node.at,
                attempt="write NOT EXISTS (SELECT 1 FROM … WHERE … = …)",
            )
        query = node.query
        item: Item | None = None
        simple = isinstance(query, SelectQuery) and not is_grouped(query)
        if isinstance(query, SelectQuery) and simple and query.sources:
            item = query.items[0] if len(query.items) == 1 else None
        else:
            # A grouped query or a UNION cannot look outside: it is bound alone, as a source.
            inside = DerivedSource(query, "partner", node.at)
            query = SelectQuery((), (inside,), at=node.at)
        binder = FromBinder(self.environment, self.bind_query, scope)
        inner, inner_scope, across = binder.bind(query)
        if node.needle is not None:
            across.append(self._membership(node, node.needle, item, scope, inner_scope))
        on, residual = _split(across, inner_scope.inner_names)
        if residual and not negated:
            raise MisplacedExists(
                "EXISTS takes only equalities with the rows around it",
                position=node.at,
                attempt="join with the source and select DISTINCT",
            )
        return BoundExists(inner, tuple(on), tuple(residual), negated)

    def _membership(
        self, node: Exists, needle: Expression, item: Item | None, outer: Scope, inner: Scope
    ) -> Expr:
        values: list[Typed] = []
        if item is not None and not isinstance(item.value, Star):
            values.append(ExpressionBinder(inner).bind(item.value))
        else:
            for source in inner.sources.values():
                values += [
                    Typed(Col(c.name), c.type, c.unit, c.nullable, node.at) for c in source.columns
                ]
        if len(values) != 1:
            raise UnionArity(
                "IN compares with one column",
                position=node.at,
                found=f"{len(values)} columns",
                attempt="select one column",
            )
        return operator("=", ExpressionBinder(outer).bind(needle), values[0], node.at).expr


def _exists(node: Expression) -> tuple[Exists | None, bool]:
    if isinstance(node, Exists):
        return node, False
    if isinstance(node, Negation) and isinstance(node.inner, Exists):
        return node.inner, True
    return None, False


def _split(across: list[Expr], inner: frozenset[str]) -> tuple[list[tuple[str, str]], list[Expr]]:
    """Part conditions over both sides into pairs of equal columns and the rest."""
    on: list[tuple[str, str]] = []
    residual: list[Expr] = []
    for expr in across:
        match expr:
            case Op("=", Col(left), Col(right)) if left in inner and right not in inner:
                on.append((right, left))
            case Op("=", Col(left), Col(right)) if right in inner and left not in inner:
                on.append((left, right))
            case _:
                residual.append(expr)
    return on, residual


def _prefixed(alias: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(replace(column, name=f"{alias}.{bare(column)}") for column in columns)


def _sub(alias: str, query: BoundQuery) -> SubSource:
    return SubSource(alias, query, _prefixed(alias, query.columns))
