"""The syntax of rules: what the text says, before any predicate is looked up.

Terms are sqlglot's expressions, so that one binder types both languages; a variable is a column
without a table, `_` is the one that binds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from aspen.errors import Position
from aspen.streamsql.positions import NOWHERE

ANONYMOUS = "_"
MOST_OPERATORS = 100
"""In one term; later walks over it recurse."""
AGGREGATES = ("min", "max", "count", "sum", "avg")


@dataclass(frozen=True, slots=True)
class HeadAggregate:
    """`min<C>` in a head; the argument is None in `count<*>`."""

    function: str
    argument: exp.Expr | None
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Head:
    """What a rule derives."""

    predicate: str
    arguments: tuple[exp.Expr | HeadAggregate, ...]
    at: Position = field(default=NOWHERE, compare=False, repr=False)

    @property
    def aggregates(self) -> tuple[tuple[int, str], ...]:
        """Index and function of each aggregate."""
        return tuple(
            (index, argument.function)
            for index, argument in enumerate(self.arguments)
            if isinstance(argument, HeadAggregate)
        )


@dataclass(frozen=True, slots=True)
class Atom:
    """`link(X, Y, _)` in a body, or `!link(X, Y, _)`."""

    predicate: str
    arguments: tuple[exp.Expr, ...]
    negated: bool = False
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """`C = C1 + 1`, `C < 10`, or a function that is true or not."""

    test: exp.Expr
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OverlogRule:
    """One rule, `head :- body`."""

    head: Head
    atoms: tuple[Atom, ...]
    conditions: tuple[Condition, ...]

    @property
    def positive(self) -> tuple[Atom, ...]:
        """The predicates that bind variables."""
        return tuple(atom for atom in self.atoms if not atom.negated)

    @property
    def negated(self) -> tuple[Atom, ...]:
        """The predicates that must not hold."""
        return tuple(atom for atom in self.atoms if atom.negated)

    def reads(self, predicate: str) -> tuple[Atom, ...]:
        """Returns the atoms over one predicate."""
        return tuple(atom for atom in self.atoms if atom.predicate == predicate)


@dataclass(frozen=True, slots=True)
class Materialize:
    """`materialize(stream, 30, infinity, keys(1)).`: how much of a stream counts.

    Args:
        lifetime_s: seconds a row stays, None for ever.
        rows: newest rows kept, None for no limit.
        keys: numbers, from 1, of the columns of whose every value the newest row is kept.
    """

    predicate: str
    lifetime_s: float | None
    rows: int | None
    keys: tuple[int, ...]
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Program:
    """A text: rules in its order, and what it says of streams."""

    rules: tuple[OverlogRule, ...]
    streams: tuple[Materialize, ...] = ()


def variables(term: exp.Expr) -> Iterator[exp.Column]:
    """Returns the variables of a term, left to right, `_` aside; a column of a table is none."""
    for column in term.find_all(exp.Column, bfs=False):
        if column.name != ANONYMOUS and not column.table:
            yield column


def anonymous(term: exp.Expr) -> exp.Column | None:
    """Returns the first `_` inside a term."""
    columns = term.find_all(exp.Column, bfs=False)
    return next((column for column in columns if column.name == ANONYMOUS), None)


def operators(term: exp.Expr) -> int:
    """Count the operators and calls in a term."""
    return sum(1 for _ in term.find_all(exp.Binary, exp.Not, exp.Anonymous))
