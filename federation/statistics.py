"""Statistics: how many rows a stream brings per second, and how many a predicate keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aspen.algebra.expr import Case, Col, Const, Expr, IsNull, Not, Op
from aspen.model.catalog import Catalog

EPOCH_S = 0.25  # what one micro-batch takes in; measured: transformWithState, 220 to 250 ms
UNKNOWN_RATE_HZ = 1.0  # own guess for a stream that declares no rate
# System R's guesses for what nothing is known of [Selinger et al., SIGMOD 1979, table 1].
EQUAL_SHARE = 0.1
RANGE_SHARE = 1 / 3
NULL_SHARE = 0.1  # own guess: nulls are as rare as equal values
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of the data.

    Args:
        rates_hz: rows per second by stream, where measured.
        shares: part of the rows a predicate keeps (0 to 1), by its text, where measured.
        counts: rows by relation or view, of a stream its keys, where counted.
    """

    rates_hz: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, catalog: Catalog) -> Statistics:
        """Take the rates the relations declare."""
        return cls({relation.name: relation.rate_hz for relation in catalog if relation.rate_hz})

    def rate_hz(self, stream: str) -> float:
        """Give a stream's rows per second."""
        return self.rates_hz.get(stream, UNKNOWN_RATE_HZ)

    def rows(self, relation: str) -> float | None:
        """Give how many rows a relation has, None if nobody counted."""
        return self.counts.get(relation)

    def changes(self, relation: str) -> float:
        """Give how many of its rows change in an epoch in which some do: of a table, one."""
        return max(1.0, self.rates_hz.get(relation, 0.0) * EPOCH_S)


def share(predicate: Expr) -> float:
    """Guess the part of the rows for which a predicate is true, 0 to 1.

    Source: [Selinger et al., SIGMOD 1979], conjuncts taken as independent.
    """
    match predicate:
        case Const(value):
            return 1.0 if value is True else 0.0
        case Op("AND", left, right):
            return share(left) * share(right)
        case Op("OR", left, right):
            one, other = share(left), share(right)
            return one + other - one * other
        case Op("=", _, _):
            return EQUAL_SHARE
        case Op("<>", _, _):
            return 1 - EQUAL_SHARE
        case Op("<" | "<=" | ">" | ">=", _, _):
            return RANGE_SHARE
        case Not(inner):
            return 1 - share(inner)
        case IsNull():
            return NULL_SHARE
        case Col() | Case():
            return HALF
        case _:
            return HALF
