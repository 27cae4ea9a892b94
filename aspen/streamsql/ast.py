"""The AST of StreamSQL: what the text says, before any name is looked up.

Every node knows its place in the user's text (`at`), which takes no part in comparisons: two
spellings of one expression are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aspen.algebra.plan import WindowBounds
from aspen.errors import Position
from aspen.model.schema import Relation, Value

NOWHERE = Position(1, 1)


@dataclass(frozen=True, slots=True)
class Name:
    """A column, perhaps qualified: `m.mid`."""

    qualifier: str
    name: str
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; its Python type is its type."""

    value: Value
    at: Position = field(default=NOWHERE, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Literal)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operator, spelt as in `aspen.algebra.expr.OPERATORS`."""

    symbol: str
    left: Expression
    right: Expression
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """`NOT x`."""

    inner: Expression
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NullTest:
    """`x IS NULL`."""

    inner: Expression
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Function:
    """A call, scalar or aggregate.

    Args:
        star: `COUNT(*)`.
        distinct: `COUNT(DISTINCT x)`.
    """

    name: str
    arguments: tuple[Expression, ...]
    star: bool = False
    distinct: bool = False
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """`CASE WHEN … THEN … ELSE … END`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS (query)`, or `needle IN (query)` where there is a needle.

    Args:
        symbol: how the needle is compared: `needle < ANY (query)`.
    """

    query: Query
    needle: Expression | None = None
    symbol: str = "="
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scalar:
    """`(SELECT …)` where a value is wanted: its only value, null where it has no single one."""

    query: Query
    at: Position = field(default=NOWHERE, compare=False, repr=False)


Expression = Name | Literal | Binary | Negation | NullTest | Function | Choice | Exists | Scalar


@dataclass(frozen=True, slots=True)
class Star:
    """`*` or `m.*` in a select list."""

    qualifier: str
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a select list."""

    value: Expression | Star
    alias: str = ""
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WindowClause:
    """`[PARTITION BY a ROWS 1 RANGE 30 SECONDS]`."""

    partition_by: tuple[Name, ...]
    bounds: WindowBounds
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A relation, a view or a CTE in FROM."""

    name: str
    alias: str
    window: WindowClause | None = None
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DerivedSource:
    """A sub-select in FROM.

    Args:
        columns: other names for its columns: `( … ) AS t(a, b)`.
    """

    query: Query
    alias: str
    columns: tuple[str, ...] = ()
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class JoinedSource:
    """`left LEFT | RIGHT | FULL JOIN right ON …`.

    Args:
        kind: INNER, LEFT, RIGHT or FULL.
        left: what was joined before, with the conditions of those joins.
        using: columns that are equal and come once.
        natural: as `using`, with all columns both sides have.
    """

    kind: str
    left: tuple[Source, ...]
    left_on: Expression | None
    right: tuple[Source, ...]
    right_on: Expression | None
    on: Expression | None
    using: tuple[str, ...] = ()
    natural: bool = False
    at: Position = field(default=NOWHERE, compare=False, repr=False)


Source = NamedSource | DerivedSource | JoinedSource


def leaves(source: Source) -> tuple[NamedSource | DerivedSource, ...]:
    """Returns the sources an outer join is made of, left to right; any other source is its own."""
    if isinstance(source, JoinedSource):
        return tuple(leaf for side in source.left + source.right for leaf in leaves(side))
    return (source,)


@dataclass(frozen=True, slots=True)
class SelectQuery:
    """One SELECT; the conditions of its joins stand in `where` with the rest."""

    items: tuple[Item, ...]
    sources: tuple[Source, ...]
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    distinct: bool = False
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class UnionQuery:
    """`left UNION [ALL] right`."""

    left: Query
    right: Query
    keeps_duplicates: bool
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """`left EXCEPT | INTERSECT [ALL] right`."""

    left: Query
    right: Query
    function: str
    keeps_duplicates: bool
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ValuesQuery:
    """`VALUES (1, 'a'), (2, 'b')`."""

    rows: tuple[tuple[Expression, ...], ...]
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One entry of ORDER BY."""

    value: Expression
    descending: bool = False
    nulls_last: bool = False
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrderedQuery:
    """`query ORDER BY … LIMIT … OFFSET …`; without LIMIT only the snapshot is ordered."""

    query: Query
    keys: tuple[OrderKey, ...]
    limit: int | None
    offset: int
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cte:
    """One named query of a WITH."""

    name: str
    columns: tuple[str, ...]
    query: Query
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WithQuery:
    """`WITH [RECURSIVE] a AS (…), … body`.

    Args:
        most: rows a recursive query may have, None for the engine's limit.
    """

    ctes: tuple[Cte, ...]
    body: Query
    recursive: bool
    most: int | None = field(default=None, kw_only=True)
    at: Position = field(default=NOWHERE, compare=False, repr=False)


Query = SelectQuery | UnionQuery | CompareQuery | ValuesQuery | OrderedQuery | WithQuery


@dataclass(frozen=True, slots=True)
class Output:
    """`OUTPUT TO DISPLAY lobby`: where the changes of a query go.

    Args:
        kind: DISPLAY, ALARM or WEBHOOK.
        target: which one; empty for the only one.
    """

    kind: str
    target: str
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateRelation:
    """`CREATE STREAM | TABLE name (…)`: a relation is declared."""

    relation: Relation
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateView:
    """`CREATE VIEW name AS query`."""

    name: str
    query: Query
    outputs: tuple[Output, ...] = ()
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Select:
    """A query by itself.

    Args:
        once: `ONCE SELECT …`: answered over the rows there are; without ONCE it is maintained.
    """

    query: Query
    outputs: tuple[Output, ...] = ()
    once: bool = False
    at: Position = field(default=NOWHERE, compare=False, repr=False)


Statement = CreateView | Select | CreateRelation
