"""Joins: what is known of their sides, USING and NATURAL, and which columns may be missing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from aspen.algebra.expr import Col, Expr
from aspen.model.schema import Column
from aspen.streamsql.ast import JoinedSource, Name
from aspen.streamsql.bound import BoundSource, Typed
from aspen.streamsql.errors import Unsupported
from aspen.streamsql.scope import Scope, bare
from aspen.streamsql.typing_rules import operator


@dataclass(slots=True)
class Joined:
    """Sources bound so far.

    Args:
        leaves: what names may be looked up in, by the alias the user gave.
        hidden: plan names of columns that USING merged into others.
    """

    sources: list[BoundSource] = field(default_factory=list)
    predicates: list[Expr] = field(default_factory=list)
    leaves: dict[str, BoundSource] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)


def nullable(source: BoundSource) -> BoundSource:
    """Returns a source whose columns may all be null, as on the far side of an outer join."""
    return replace(source, columns=tuple(replace(c, nullable=True) for c in source.columns))


def shared_columns(source: JoinedSource, left: Scope, right: Scope) -> tuple[list[Expr], set[str]]:
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
