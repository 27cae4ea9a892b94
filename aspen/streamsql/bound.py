"""The bound query: every name looked up, every expression typed, nothing decided about order."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.algebra.expr import Const, Expr
from aspen.algebra.plan import AggregateFunction, Best, SetFunction, SortKey
from aspen.errors import Position
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql.ast import Output


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression with what is known of its value.

    Args:
        type: None for a bare NULL, which fits every type.
        unit: empty when the value says nothing of it.
        nullable: whether it may be null.
        at: where the user wrote it.
    """

    expr: Expr
    type: Type | None
    unit: str
    nullable: bool
    at: Position


@dataclass(frozen=True, slots=True)
class BoundWindow:
    """A window over a stream; the partition columns carry the source's alias."""

    partition_by: tuple[str, ...]
    rows: int | None
    range_s: float | None
    slide_s: float | None = None


@dataclass(frozen=True, slots=True)
class BaseSource:
    """A relation or a view of the catalog."""

    alias: str
    relation: Relation
    columns: tuple[Column, ...]
    window: BoundWindow | None = None


@dataclass(frozen=True, slots=True)
class SubSource:
    """A CTE or a sub-select; its columns are renamed to carry the alias."""

    alias: str
    query: BoundQuery
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class RecursionSource:
    """The recursive view inside its own step."""

    alias: str
    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class OuterSource:
    """`left LEFT | RIGHT | FULL JOIN right ON …`; what may be missing is nullable in `columns`."""

    kind: str
    left: BoundFrom
    right: BoundFrom
    on: tuple[Expr, ...]
    columns: tuple[Column, ...]
    alias: str = ""


BoundSource = BaseSource | SubSource | RecursionSource | OuterSource


@dataclass(frozen=True, slots=True)
class BoundFrom:
    """FROM and WHERE: sources, conditions, and the (NOT) EXISTS among them.

    Args:
        sources: none for a SELECT without FROM, which has one row.
        computed: sub-queries whose values later expressions read, in order.
        later: conditions that read them.
    """

    sources: tuple[BoundSource, ...]
    predicates: tuple[Expr, ...]
    exists: tuple[BoundExists, ...] = ()
    computed: tuple[BoundSubquery, ...] = ()
    later: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class BoundExists:
    """A condition on whether partners exist.

    Args:
        inner: where the partners come from.
        on: pairs of (outer column, inner column) that are equal.
        residual: further conditions over both.
        negated: NOT EXISTS.
        mark: where the answer is kept as a column, for rows of both kinds; None keeps the rows
            for which it is true.
        needle: a value to compute beside the outer columns first, for `on` to name.
    """

    inner: BoundFrom
    on: tuple[tuple[str, str], ...]
    residual: tuple[Expr, ...]
    negated: bool
    mark: Column | None = None
    needle: tuple[Column, Expr] | None = None


@dataclass(frozen=True, slots=True)
class BoundScalar:
    """A sub-query that stands for a value: of its only row, null where there is no single one."""

    query: BoundQuery
    output: Column


BoundSubquery = BoundExists | BoundScalar


@dataclass(frozen=True, slots=True)
class BoundAggregate:
    """One aggregate: over `value`, computed as column `argument` (None for COUNT(*))."""

    function: AggregateFunction
    argument: Column | None
    value: Expr | None
    output: Column
    distinct: bool


@dataclass(frozen=True, slots=True)
class BoundGroup:
    """GROUP BY: key columns with what computes them, and the aggregates."""

    keys: tuple[tuple[Column, Expr], ...]
    aggregates: tuple[BoundAggregate, ...]
    having: Expr | None


@dataclass(frozen=True, slots=True)
class BoundSelect:
    """One SELECT.

    Args:
        late: sub-queries over groups, which HAVING and the outputs read.
    """

    origin: BoundFrom
    group: BoundGroup | None
    outputs: tuple[tuple[Column, Expr], ...]
    distinct: bool
    late: tuple[BoundSubquery, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """Output columns, without aliases."""
        return tuple(column for column, _ in self.outputs)


@dataclass(frozen=True, slots=True)
class BoundUnion:
    """UNION (distinct) or UNION ALL of queries; INT columns widen to `columns`."""

    branches: tuple[BoundQuery, ...]
    distinct: bool
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class BoundCompare:
    """EXCEPT or INTERSECT [ALL]; INT columns widen to `columns`."""

    left: BoundQuery
    right: BoundQuery
    function: SetFunction
    keeps_duplicates: bool
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class BoundValues:
    """Rows written in the query."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Const, ...], ...]


@dataclass(frozen=True, slots=True)
class BoundOrder:
    """ORDER BY, LIMIT and OFFSET.

    Args:
        keys: over the query's columns, of which `columns` are the first: what only the order needs
            comes behind them.
    """

    query: BoundQuery
    keys: tuple[SortKey, ...]
    limit: int | None
    offset: int
    columns: tuple[Column, ...]

    @property
    def cuts(self) -> bool:
        """Whether rows are left out; otherwise the order is for readers alone."""
        return self.limit is not None or self.offset > 0


@dataclass(frozen=True, slots=True)
class BoundRecursion:
    """A recursive CTE: the least set that holds base and is closed under step.

    Args:
        others: those that are recursive together with it, themselves without others.
        most: rows any of them may have, None for the engine's limit.
    """

    name: str
    columns: tuple[Column, ...]
    base: BoundQuery
    step: BoundQuery
    best: Best | None
    others: tuple[BoundRecursion, ...] = ()
    most: int | None = None

    @property
    def parts(self) -> tuple[BoundQuery, ...]:
        """The queries it and the others are made of."""
        return (
            self.base,
            self.step,
            *(part for other in self.others for part in (other.base, other.step)),
        )


@dataclass(frozen=True, slots=True)
class BoundRename:
    """A query under other column names, as a CTE's column list gives them."""

    query: BoundQuery
    columns: tuple[Column, ...]


BoundQuery = (
    BoundSelect
    | BoundUnion
    | BoundCompare
    | BoundValues
    | BoundOrder
    | BoundRecursion
    | BoundRename
)


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """A whole statement; the name is None for a bare query."""

    name: str | None
    query: BoundQuery
    outputs: tuple[Output, ...] = ()
    once: bool = False
