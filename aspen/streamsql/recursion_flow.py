"""What one recursive step makes of the recursive rows: sub-selects in FROM are looked through.

Only the checks of growth read this; names are made unique by the way they were reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from aspen.algebra.expr import Col, Expr, Op, columns_in, substitute
from aspen.errors import Position
from aspen.streamsql.ast import SelectQuery
from aspen.streamsql.bound import (
    BoundExists,
    BoundFrom,
    BoundQuery,
    BoundRename,
    BoundSelect,
    BoundSource,
    BoundUnion,
    OuterSource,
    RecursionSource,
    SubSource,
)
from aspen.streamsql.errors import NonStratified, Unsupported


@dataclass(frozen=True, slots=True)
class Negated:
    """A NOT EXISTS of a step.

    Args:
        reads: the columns around it that it compares.
        plain: it compares by equality alone.
    """

    reads: frozenset[str]
    plain: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """One step: how the columns of a relation come from recursive ones.

    Args:
        relation: the relation it derives.
        step: its text.
        reads: the recursive rows it joins, each a relation and the names of its columns.
        outputs: one per column of the relation.
        predicates: conditions that are true of every derived row.
        matched: columns that EXISTS compares by equality.
        negated: its NOT EXISTS.
    """

    relation: str
    step: SelectQuery
    reads: tuple[tuple[str, tuple[str, ...]], ...]
    outputs: tuple[Expr, ...]
    predicates: tuple[Expr, ...]
    matched: frozenset[str]
    negated: tuple[Negated, ...]

    @property
    def recursive(self) -> dict[str, tuple[str, int]]:
        """By name, each recursive column: its relation and its place there."""
        return {
            name: (relation, place)
            for relation, names in self.reads
            for place, name in enumerate(names)
        }

    def at(self, place: int) -> Position:
        """Returns where the text computes a column."""
        items = self.step.items
        return items[place].at if place < len(items) else self.step.at


@dataclass(frozen=True, slots=True)
class _Flat:
    """A query or FROM, looked through."""

    columns: Mapping[str, Expr]
    reads: tuple[tuple[str, tuple[str, ...]], ...] = ()
    predicates: tuple[Expr, ...] = ()
    matched: frozenset[str] = frozenset()
    negated: tuple[Negated, ...] = ()

    def joined(self, other: _Flat) -> _Flat:
        return _Flat(
            {**self.columns, **other.columns},
            self.reads + other.reads,
            self.predicates + other.predicates,
            self.matched | other.matched,
            self.negated + other.negated,
        )


_NOTHING = _Flat({})


def branches(relation: str, step: SelectQuery, bound: BoundSelect) -> list[Branch]:
    """Look through a bound step.

    Returns:
        As many branches as the unions in its sub-selects give.

    Raises:
        NonStratified, Unsupported: the recursion is read through what has no least answer.
    """
    return [
        Branch(
            relation,
            step,
            flat.reads,
            tuple(flat.columns.values()),
            flat.predicates,
            flat.matched,
            flat.negated,
        )
        for flat in _select(bound, "", step.at)
    ]


def _reads(query: BoundQuery) -> bool:
    match query:
        case BoundSelect(origin):
            return _from_reads(origin)
        case BoundUnion(parts):
            return any(map(_reads, parts))
        case BoundRename(inner):
            return _reads(inner)
        case _:
            return False


def _from_reads(origin: BoundFrom) -> bool:
    inside = any(_from_reads(found.inner) for found in origin.exists)
    return inside or any(map(_source_reads, origin.sources))


def _source_reads(source: BoundSource) -> bool:
    match source:
        case RecursionSource():
            return True
        case SubSource(_, query):
            return _reads(query)
        case OuterSource():
            return _from_reads(source.left) or _from_reads(source.right)
        case _:
            return False


def _query(query: BoundQuery, prefix: str, at: Position) -> list[_Flat]:
    match query:
        case BoundSelect():
            return _select(query, prefix, at)
        case BoundUnion(parts, _, columns):
            found = [flat for part in parts for flat in _query(part, prefix, at)]
            return [_named(flat, [column.name for column in columns]) for flat in found]
        case BoundRename(inner, columns):
            return [
                _named(flat, [column.name for column in columns])
                for flat in _query(inner, prefix, at)
            ]
        case _:
            raise Unsupported(
                "a recursive view is read through a query that is no SELECT or UNION",
                position=at,
                attempt="read it directly in FROM",
            )


def _named(flat: _Flat, names: list[str]) -> _Flat:
    return replace(flat, columns=dict(zip(names, flat.columns.values(), strict=True)))


def _select(query: BoundSelect, prefix: str, at: Position) -> list[_Flat]:
    if _from_reads(query.origin) and (query.group or query.late or query.origin.computed):
        raise NonStratified(
            "an aggregate or a sub-query's value in a recursive step has no least answer",
            position=at,
            attempt="compute it in a CTE or view that the step joins with",
        )
    return [
        replace(flat, columns={c.name: substitute(e, flat.columns) for c, e in query.outputs})
        for flat in _from(query.origin, prefix, at)
    ]


def _from(origin: BoundFrom, prefix: str, at: Position) -> list[_Flat]:
    sources = [_source(source, prefix, at) for source in origin.sources]
    flats: list[_Flat] = []
    for parts in product(*sources):
        flat = _NOTHING
        for part in parts:
            flat = flat.joined(part)
        own = tuple(substitute(p, flat.columns) for p in origin.predicates)
        grown = [replace(flat, predicates=flat.predicates + own)]
        for number, found in enumerate(origin.exists):
            grown = [
                more for one in grown for more in _exists(found, one, f"{prefix}{number}/", at)
            ]
        flats += grown
    return flats


def _source(source: BoundSource, prefix: str, at: Position) -> list[_Flat]:
    names = [column.name for column in source.columns]
    own: dict[str, Expr] = {name: Col(prefix + name) for name in names}
    if not _source_reads(source):
        return [_Flat(own)]
    match source:
        case RecursionSource(_, relation):
            return [_Flat(own, ((relation, tuple(prefix + name for name in names)),))]
        case SubSource(alias, query):
            return [_named(flat, names) for flat in _query(query, f"{prefix}{alias}/", at)]
        case _:
            raise NonStratified(
                "an outer join of a recursive view in its own step has no least answer",
                position=at,
                found="an outer join",
                attempt="join with the finished view, in the query that reads it",
            )


def _exists(found: BoundExists, around: _Flat, prefix: str, at: Position) -> list[_Flat]:
    columns = dict(around.columns)
    if found.needle is not None:
        columns[found.needle[0].name] = substitute(found.needle[1], columns)
    left = [substitute(Col(one), columns) for one, _ in found.on]
    if found.negated:
        inner = {c.name for source in found.inner.sources for c in source.columns}
        more = [substitute(part, columns) for part in found.residual]
        made = Negated(_columns((*left, *more)) - inner, not more)
        return [replace(around, negated=(*around.negated, made))]
    flats: list[_Flat] = []
    for inside in _from(found.inner, prefix, at):
        every = {**columns, **inside.columns}
        pairs = tuple(
            Op("=", one, substitute(Col(other), inside.columns))
            for one, (_, other) in zip(left, found.on, strict=True)
        )
        residual = tuple(substitute(part, every) for part in found.residual)
        matched = _columns(left) if not inside.reads else frozenset[str]()
        flats.append(
            replace(
                around,
                reads=around.reads + inside.reads,
                predicates=(*around.predicates, *inside.predicates, *residual, *pairs),
                matched=around.matched | inside.matched | matched,
                negated=around.negated + inside.negated,
            )
        )
    return flats


def _columns(exprs: Iterable[Expr]) -> frozenset[str]:
    return frozenset[str]().union(*map(columns_in, exprs))
