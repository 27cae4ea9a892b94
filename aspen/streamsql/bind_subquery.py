"""EXISTS, IN, ANY, ALL and scalar sub-queries, as conditions of WHERE or as values anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from aspen.algebra.expr import Case, Col, Const, Expr, IsNull, Op, columns_in
from aspen.errors import Position
from aspen.model.schema import Column, Type
from aspen.streamsql.ast import Exists, Query, Scalar, SelectQuery
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.bound import (
    BoundExists,
    BoundFrom,
    BoundGroup,
    BoundQuery,
    BoundScalar,
    BoundSelect,
    BoundSubquery,
    RecursionSource,
    SubSource,
    Typed,
)
from aspen.streamsql.errors import NonStratified, NotGrouped, UnionArity, Unsupported
from aspen.streamsql.free import columns_of, free_in_subquery, recursions_that_read
from aspen.streamsql.scope import Environment, Scope
from aspen.streamsql.typing_rules import operator

QueryBinder = Callable[[Query, Environment], BoundQuery]
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Inner:
    """A sub-query's rows, apart from how they match the rows around.

    Args:
        value: its only column, for IN.
    """

    rows: BoundFrom
    on: Pairs
    residual: tuple[Expr, ...]
    value: Typed | None


@dataclass
class Subqueries:
    """The sub-queries of one stage of a SELECT.

    Args:
        scope: of the rows around them.
        found: those bound so far whose answers are columns.
    """

    environment: Environment
    bind_query: QueryBinder
    scope: Scope
    found: list[BoundSubquery] = field(default_factory=list)

    @property
    def made(self) -> frozenset[str]:
        """Names of the columns that hold the answers."""
        made = (one.output if isinstance(one, BoundScalar) else one.mark for one in self.found)
        return frozenset(column.name for column in made if column is not None)

    def bind(self, node: Exists | Scalar, outer: ExpressionBinder) -> Typed:
        """Bind a sub-query as a value."""
        if isinstance(node, Scalar):
            return self._scalar(node)
        if node.needle is None:
            inner = self._inner(node)
            mark = self._mark(BoundExists(inner.rows, inner.on, inner.residual, negated=False))
            return Typed(mark, Type.BOOL, "", False, node.at)
        first, *others = self._membership(node, outer, negated=False)
        found = self._mark(first)
        if not others:
            return Typed(found, Type.BOOL, "", False, node.at)
        unknown = tuple((self._mark(other), Const(None)) for other in others)
        answer = Case(((found, Const(True)), *unknown), Const(False))
        return Typed(answer, Type.BOOL, "", True, node.at)

    def condition(
        self, node: Exists, outer: ExpressionBinder, *, negated: bool
    ) -> list[BoundExists]:
        """Bind a sub-query as a condition that rows pass or not."""
        if node.needle is None:
            inner = self._inner(node)
            return [BoundExists(inner.rows, inner.on, inner.residual, negated)]
        members = self._membership(node, outer, negated=negated)
        return members if negated else members[:1]

    def check_grouped(self, group: BoundGroup, at: Position) -> None:
        """Refuse sub-queries over groups that read what the groups have lost.

        Args:
            at: of the SELECT.
        """
        keys = {column.name for column, _ in group.keys}
        for one in self.found:
            lost = (free_in_subquery(one) & self.scope.inner_names) - keys
            if lost:
                name = min(lost)
                raise NotGrouped(
                    f"a sub-query reads column {name!r}, which is neither grouped nor aggregated",
                    position=at,
                    found=name,
                    exists=sorted(keys),
                    attempt=f"add {name} to GROUP BY",
                )

    def _fresh(self, kind: Type, unit: str, *, nullable: bool) -> Column:
        number = next(self.environment.numbers)
        return Column(f"sub_{number}.value", kind, unit, nullable)

    def _mark(self, found: BoundExists) -> Col:
        column = self._fresh(Type.BOOL, "", nullable=False)
        self.found.append(replace(found, mark=column))
        return Col(column.name)

    def _query(self, query: Query, node: Exists | Scalar) -> BoundQuery:
        bound = self.bind_query(query, self.environment.inside(self.scope))
        if recursions_that_read(bound):
            raise Unsupported(
                "a recursive query inside a sub-query reads the rows around it",
                position=node.at,
                found="WITH RECURSIVE",
                attempt="make it a view with a column for what it reads, and join with it",
            )
        return bound

    def _scalar(self, node: Scalar) -> Typed:
        query = self._query(node.query, node)
        if len(query.columns) != 1:
            raise UnionArity(
                "a sub-query that stands for a value has one column",
                position=node.at,
                found=f"{len(query.columns)} columns",
                attempt="select one column",
            )
        column = query.columns[0]
        output = self._fresh(column.type, column.unit, nullable=True)
        self.found.append(BoundScalar(query, output))
        unknown = isinstance(query, BoundSelect) and query.outputs[0][1] == Const(None)
        kind = None if unknown else column.type
        return Typed(Col(output.name), kind, column.unit, True, node.at)

    def _inner(self, node: Exists) -> _Inner:
        query = self._query(node.query, node)
        plain = isinstance(query, BoundSelect) and query.group is None and not query.late
        value: Typed | None = None
        if isinstance(query, BoundSelect) and plain and query.origin.sources:
            rows = query.origin
            column, expr = query.outputs[0]
            # A value that is computed gets a name of its own, to be looked up by.
            plain = node.needle is None or isinstance(expr, Col)
        if isinstance(query, BoundSelect) and plain and query.origin.sources:
            known = None if expr == Const(None) else column.type
            value = Typed(expr, known, column.unit, column.nullable, node.at)
        else:
            alias = f"partner_{next(self.environment.numbers)}"
            columns = tuple(replace(c, name=f"{alias}.{c.name}") for c in query.columns)
            rows = BoundFrom((SubSource(alias, query, columns),), ())
            column = columns[0]
            made = query.outputs[0][1] if isinstance(query, BoundSelect) else None
            known = None if made == Const(None) else column.type
            value = Typed(Col(column.name), known, column.unit, column.nullable, node.at)
        if node.needle is not None and len(query.columns) != 1:
            raise UnionArity(
                "IN compares with one column",
                position=node.at,
                found=f"{len(query.columns)} columns",
                attempt="select one column",
            )
        return _apart(rows, value)

    def _membership(
        self, node: Exists, outer: ExpressionBinder, *, negated: bool
    ) -> list[BoundExists]:
        """Returns the tests of `needle IN (query)`: a match, then what makes it unknown if none."""
        assert node.needle is not None
        inner = self._inner(node)
        assert inner.value is not None
        needle, value = outer.bind(node.needle), inner.value
        compared = operator(node.symbol, needle, value, node.at).expr
        computed: tuple[Column, Expr] | None = None
        if not isinstance(needle.expr, Col | Const):
            column = self._fresh(needle.type or Type.TEXT, needle.unit, nullable=needle.nullable)
            computed = (column, needle.expr)
            assert isinstance(compared, Op)
            compared = Op(compared.symbol, Col(column.name), compared.right)
            needle = replace(needle, expr=Col(column.name))
        if columns_in(compared) <= columns_of(inner.rows):
            rows = replace(inner.rows, predicates=(*inner.rows.predicates, compared))
            match = BoundExists(rows, inner.on, inner.residual, negated, needle=computed)
        else:
            pairs, rest = _split([compared], columns_of(inner.rows))
            match = BoundExists(
                inner.rows,
                (*inner.on, *pairs),
                (*inner.residual, *rest),
                negated,
                needle=computed,
            )
        tests = [match]
        if value.nullable:
            unknown = (*inner.rows.predicates, IsNull(value.expr))
            rows = replace(inner.rows, predicates=unknown)
            tests.append(BoundExists(rows, inner.on, inner.residual, negated))
        if needle.nullable:
            missing = (*inner.residual, IsNull(needle.expr))
            tests.append(BoundExists(inner.rows, inner.on, missing, negated, needle=computed))
        return tests


def refuse_in_recursion(query: SelectQuery, origin: BoundFrom, late: Subqueries) -> None:
    """Refuse values of sub-queries in a recursive step: they can change both ways.

    Raises:
        NonStratified: the step reads its own view beside them.
    """
    recursive = any(isinstance(source, RecursionSource) for source in origin.sources)
    if recursive and (origin.computed or late.found):
        raise NonStratified(
            "a sub-query's value in a recursive step has no least answer",
            position=query.at,
            found="a sub-query",
            attempt="compute it in a CTE or view that the step joins with",
        )


def _apart(rows: BoundFrom, value: Typed) -> _Inner:
    """Take the conditions that read the rows around out of a sub-query's own."""
    inside = columns_of(rows)
    across = [p for p in rows.predicates if not columns_in(p) <= inside]
    own = tuple(p for p in rows.predicates if columns_in(p) <= inside)
    on, residual = _split(across, inside)
    return _Inner(replace(rows, predicates=own), on, residual, value)


def _split(across: list[Expr], inside: frozenset[str]) -> tuple[Pairs, tuple[Expr, ...]]:
    """Part conditions over both sides into pairs of equal columns and the rest."""
    on: list[tuple[str, str]] = []
    residual: list[Expr] = []
    for expr in across:
        match expr:
            case Op("=", Col(left), Col(right)) if left in inside and right not in inside:
                on.append((right, left))
            case Op("=", Col(left), Col(right)) if right in inside and left not in inside:
                on.append((left, right))
            case _:
                residual.append(expr)
    return tuple(on), tuple(residual)
