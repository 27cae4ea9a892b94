"""Scopes: which sources a name may mean, and what the catalog and the CTEs offer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Protocol

from sqlglot import exp

from aspen.algebra.expr import Col, Outer
from aspen.algebra.plan import Plan
from aspen.errors import Position
from aspen.model.catalog import Catalog
from aspen.model.schema import Column
from aspen.streamsql.errors import (
    AmbiguousColumn,
    UnboundedRecursion,
    UnknownColumn,
    nearest,
    suggestion,
)
from aspen.streamsql.typing_rules import Typed


class BindQuery(Protocol):
    """Binds a query; see `aspen.streamsql.bind.bind_query`."""

    def __call__(self, tree: exp.Expr, environment: Environment, *, named: bool = True) -> Plan:
        """Bind a query."""
        ...


@dataclass(frozen=True, slots=True)
class RecursionMark:
    """Stands among the CTEs for the recursive view while its own step is bound."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class NamedSource:
    """What a name in front of a column means.

    Args:
        alias: of its columns in the plan, which no source around has.
        recursive: whether it is the recursive view inside its own step.
    """

    alias: str
    columns: tuple[Column, ...]
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class Environment:
    """What names in FROM may mean.

    Args:
        catalog: relations and views.
        bind_query: binds the queries in a query.
        ctes: queries of the enclosing WITHs; they hide relations of their name.
        outer: the scope around a sub-query, None elsewhere.
        numbers: for names that no user gave; one sequence for a whole statement.
        unproved: the recursions of the statement that are not known to end.
    """

    catalog: Catalog
    bind_query: BindQuery
    ctes: Mapping[str, Plan | RecursionMark] = field(default_factory=dict)
    outer: Scope | None = None
    numbers: Iterator[int] = field(default_factory=lambda: count(1), compare=False)
    unproved: list[UnboundedRecursion] = field(default_factory=list, compare=False)

    def bind(self, tree: exp.Expr, *, named: bool = True) -> Plan:
        """Bind a query in this environment.

        Args:
            named: whether its column names will be seen; if not, equal ones are told apart.
        """
        return self.bind_query(tree, self, named=named)

    def inside(self, outer: Scope) -> Environment:
        """Returns the environment of a sub-query that may read the rows of `outer`."""
        return replace(self, outer=outer)

    def with_cte(self, name: str, query: Plan | RecursionMark) -> Environment:
        """Returns an environment that also knows `name`."""
        return replace(self, ctes={**self.ctes, name: query})

    @property
    def names(self) -> tuple[str, ...]:
        """Every name FROM may use."""
        return (*self.ctes, *self.catalog.relations)


@dataclass(frozen=True)
class Scope:
    """The sources of one FROM.

    Args:
        sources: by the alias the user gave.
        outer: the scope around a sub-query, None elsewhere.
        merged: plan names of columns that USING merged into others, with the names of those.
    """

    sources: Mapping[str, NamedSource]
    outer: Scope | None = None
    merged: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def inner_names(self) -> frozenset[str]:
        """Plan names of the columns of this FROM."""
        return frozenset(c.name for source in self.sources.values() for c in source.columns)

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[str, Column]]]:
        """The columns of a bare name, each with the alias of its source."""
        found: dict[str, list[tuple[str, Column]]] = {}
        for alias, source in self.sources.items():
            for column in source.columns:
                found.setdefault(bare(column), []).append((alias, column))
        return found

    @property
    def own_names(self) -> frozenset[str]:
        """Bare names of the columns of this FROM."""
        return frozenset(self._by_name)

    @property
    def starred(self) -> list[tuple[str, Column]]:
        """What `*` stands for, each with the alias of its source: what USING merged stands once."""
        columns = {c.name: (alias, c) for alias, s in self.sources.items() for c in s.columns}
        shown: dict[str, tuple[str, Column]] = {}
        for column in columns:
            name = column
            while name in self.merged:
                name = self.merged[name]
            shown.setdefault(name, columns[name])
        return list(shown.values())

    @property
    def spoken(self) -> tuple[str, ...]:
        """Every `alias.column` a query may write here."""
        own = tuple(
            f"{alias}.{bare(column)}"
            for alias, source in self.sources.items()
            for column in source.columns
        )
        return own if self.outer is None else own + self.outer.spoken

    @property
    def around(self) -> tuple[Scope, ...]:
        """This scope and those around it, innermost first."""
        return (self,) if self.outer is None else (self, *self.outer.around)

    def typed(self, qualifier: str, name: str, at: Position) -> Typed:
        """Looks a column up, here and then in the scopes around, as an expression."""
        column = self.find(qualifier, name, at)
        own = column.name in self.inner_names
        expr = Col(column.name) if own else Outer(column.name)
        return Typed(expr, column.type, column.unit, column.nullable, at)

    def find(self, qualifier: str, name: str, at: Position) -> Column:
        """Looks a column up, here and then in the scopes around.

        Args:
            qualifier: the source it is said to be of, empty for a bare name.

        Raises:
            UnknownColumn: no source has it.
            AmbiguousColumn: several have, and the name is bare.
        """
        for scope in self.around:
            found = scope._here(qualifier, name, at)  # noqa: SLF001  # the same class
            if found is not None:
                return found
        raise self._unknown(qualifier, name, at)

    def _here(self, qualifier: str, name: str, at: Position) -> Column | None:
        if qualifier:
            source = self.sources.get(qualifier)
            columns = source.columns if source is not None else ()
            return next((column for column in columns if bare(column) == name), None)
        named = self._by_name.get(name, ())
        hits = [(alias, column) for alias, column in named if column.name not in self.merged]
        if len(hits) > 1:
            choices = [f"{alias}.{name}" for alias, _ in hits]
            raise AmbiguousColumn(
                f"column {name!r} could be {' or '.join(choices)}",
                position=at,
                found=name,
                exists=choices,
                attempt=f"write {choices[0]}",
            )
        return hits[0][1] if hits else None

    def _unknown(self, qualifier: str, name: str, at: Position) -> UnknownColumn:
        written = f"{qualifier}.{name}" if qualifier else name
        known: dict[str, NamedSource] = {}
        for scope in reversed(self.around):
            known |= scope.sources
        if qualifier and qualifier not in known:
            return UnknownColumn(
                f"nothing in FROM is called {qualifier!r}",
                position=at,
                found=written,
                exists=nearest(qualifier, known),
                attempt=suggestion(qualifier, known) or "name the source in FROM",
            )
        if qualifier:
            names = [f"{qualifier}.{bare(c)}" for c in known[qualifier].columns]
        else:
            names = [bare(column) for source in known.values() for column in source.columns]
        return UnknownColumn(
            f"there is no column {written!r}",
            position=at,
            found=written,
            exists=nearest(written, names),
            attempt=suggestion(written, names)
            or f"name one of these; a text stands in single quotes: '{name}'",
        )


def bare(column: Column) -> str:
    """Returns a column's name without its alias."""
    return column.name.rpartition(".")[2]
