"""A join of relations for the search: how large they are, who joins with whom, what brings them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from federation.cost import Cost, Weights

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What an alias is, so that those of a set can be written as one text."""


@dataclass(frozen=True, slots=True)
class Member:
    """A relation of the query, after the selections on it alone.

    Args:
        rows: rows of the table, or of the stream's window; at least one.
        rate_hz: rows that come per second.
        comes: whether it comes by accesses alone; otherwise the engine has it.
    """

    alias: str
    rows: float
    rate_hz: float
    comes: bool = False


@dataclass(frozen=True, slots=True)
class Theta:
    """A predicate between two relations that is no equality of columns.

    Args:
        share: part of the pairs for which it is true, above 0 up to 1.
    """

    left: str
    right: str
    share: float


@dataclass(frozen=True)
class Access:
    """A priced way to have some relations, joined, in the engine.

    Args:
        name: unique in the problem, and no relation's.
        aliases: the relations, sorted.
        cost: of all of it.
    """

    name: str
    aliases: tuple[str, ...]
    cost: Cost


@dataclass(frozen=True)
class JoinProblem:
    """A join whose answer is wanted in the engine.

    Args:
        classes: for each class of equal columns, the relations that have one.
    """

    members: tuple[Member, ...]
    classes: tuple[frozenset[str], ...]
    thetas: tuple[Theta, ...]
    metric: Weights
    accesses: tuple[Access, ...]
