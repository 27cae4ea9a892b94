"""Which columns of the queries around it a bound query reads."""

from __future__ import annotations

from collections.abc import Iterable

from aspen.algebra.expr import Expr, columns_in
from aspen.streamsql.bound import (
    BoundCompare,
    BoundFrom,
    BoundGroup,
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
    SubSource,
)

Names = frozenset[str]
_NONE: Names = frozenset()


def free_columns(query: BoundQuery) -> Names:
    """Returns the plan names of the columns a query reads and does not have itself.

    Law: empty iff the query means something alone.
    """
    match query:
        case BoundSelect():
            return _select(query)
        case BoundUnion(branches):
            return _NONE.union(*map(free_columns, branches))
        case BoundCompare(left, right):
            return free_columns(left) | free_columns(right)
        case BoundRecursion():
            return _NONE.union(*map(free_columns, query.parts))
        case BoundRename(inner) | BoundOrder(inner):
            return free_columns(inner)
        case BoundValues():
            return _NONE


def free_in_from(origin: BoundFrom) -> Names:
    """Returns the columns a FROM and WHERE read and do not have."""
    read = _read((*origin.predicates, *origin.later)).union(
        *map(free_in_source, origin.sources),
        *map(free_in_subquery, (*origin.exists, *origin.computed)),
    )
    return read - columns_of(origin)


def columns_of(origin: BoundFrom) -> Names:
    """Returns the names of all columns a FROM has, those of its sub-queries included."""
    own = frozenset(c.name for source in origin.sources for c in source.columns)
    return own | _made(origin.computed)


def free_in_source(source: BoundSource) -> Names:
    """Returns the columns a source reads from around it."""
    match source:
        case SubSource(_, query):
            return free_columns(query)
        case OuterSource():
            own = columns_of(source.left) | columns_of(source.right)
            return free_in_from(source.left) | free_in_from(source.right) | (_read(source.on) - own)
        case _:
            return _NONE


def recursions_that_read(query: BoundQuery) -> bool:
    """Whether a recursion in a query reads the rows around the query."""
    match query:
        case BoundRecursion():
            return bool(free_columns(query))
        case BoundSelect():
            return any(
                recursions_that_read(source.query)
                for source in query.origin.sources
                if isinstance(source, SubSource)
            )
        case BoundUnion(branches):
            return any(map(recursions_that_read, branches))
        case BoundCompare(left, right):
            return recursions_that_read(left) or recursions_that_read(right)
        case BoundRename(inner) | BoundOrder(inner):
            return recursions_that_read(inner)
        case BoundValues():
            return False


def _select(query: BoundSelect) -> Names:
    inside = free_in_from(query.origin)
    own = columns_of(query.origin) | _made(query.late)
    over = _read(expr for _, expr in query.outputs).union(*map(free_in_subquery, query.late))
    if query.group is not None:
        over |= _group(query.group)
        own |= _grouped(query.group)
    return inside | (over - own)


def _group(group: BoundGroup) -> Names:
    exprs = [expr for _, expr in group.keys]
    exprs += [found.value for found in group.aggregates if found.value is not None]
    return _read([*exprs, group.having] if group.having is not None else exprs)


def _grouped(group: BoundGroup) -> Names:
    keys = {column.name for column, _ in group.keys}
    return frozenset(keys | {found.output.name for found in group.aggregates})


def free_in_subquery(found: BoundSubquery) -> Names:
    """Returns the columns of the rows around that a sub-query reads."""
    if isinstance(found, BoundScalar):
        return free_columns(found.query)
    needle = frozenset[str]() if found.needle is None else frozenset((found.needle[0].name,))
    computed = _NONE if found.needle is None else columns_in(found.needle[1])
    read = _read(found.residual) | {left for left, _ in found.on}
    return computed | (((read - columns_of(found.inner)) | free_in_from(found.inner)) - needle)


def _made(found: Iterable[BoundSubquery]) -> Names:
    made = (one.output if isinstance(one, BoundScalar) else one.mark for one in found)
    return frozenset(column.name for column in made if column is not None)


def _read(exprs: Iterable[Expr]) -> Names:
    return _NONE.union(*map(columns_in, exprs))
