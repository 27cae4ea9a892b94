"""Statistics: how many rows a stream brings, how many a predicate keeps, and who told so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Col, Const, Expr, IsNull, Not, Op, map_leaves
from aspen.model.catalog import Catalog
from federation.histogram import Histogram
from federation.network import Network

EPOCH_S = 0.25  # what one micro-batch takes in; measured: transformWithState, 220 to 250 ms
UNKNOWN_RATE_HZ = 1.0  # own guess for a stream that declares no rate
# System R's guesses for what nothing is known of [Selinger et al., SIGMOD 1979, table 1].
EQUAL_SHARE = 0.1
RANGE_SHARE = 1 / 3
NULL_SHARE = 0.1  # own guess: nulls are as rare as equal values
HALF = 0.5
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


class Origin(Enum):
    """Who says a figure; the value is how EXPLAIN spells it."""

    MEASURED = "measured"
    HISTOGRAM = "from a histogram"
    GUESSED = "guessed"


@dataclass(frozen=True, slots=True)
class KnownFigure:
    """A figure and where it comes from.

    Args:
        origin: of a product, the least trusted of its factors'.
    """

    value: float
    origin: Origin

    def times(self, other: KnownFigure) -> KnownFigure:
        """Multiply, as if the two were independent."""
        order = list(Origin)
        worst = max(self.origin, other.origin, key=order.index)
        return KnownFigure(self.value * other.value, worst)

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.origin.value})"


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of the data.

    Args:
        rates_hz: rows per second by stream, where measured.
        shares: part of the rows a predicate keeps (0 to 1), by its text, where measured; columns
            are spelt with the query's alias, or with the stream's name to hold in every query.
        counts: rows by relation or view, of a stream its keys, where counted.
        distinct: different values by `relation.column`, where counted.
        histograms: by `stream.column`, where kept.
        network: the motes, where somebody looked; a guess stands for it otherwise.
        devices: kind of device by stream.
    """

    rates_hz: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, float] = field(default_factory=dict)
    distinct: Mapping[str, float] = field(default_factory=dict)
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    network: Network | None = None
    devices: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, catalog: Catalog) -> Statistics:
        """Take the rates and the devices the relations declare."""
        return cls(
            {relation.name: relation.rate_hz for relation in catalog if relation.rate_hz},
            devices={relation.name: relation.device for relation in catalog if relation.device},
        )

    def rate_hz(self, stream: str) -> float:
        """Returns a stream's rows per second."""
        return self.rates_hz.get(stream, UNKNOWN_RATE_HZ)

    def rows(self, relation: str) -> float | None:
        """Returns how many rows a relation has, None if nobody counted."""
        return self.counts.get(relation)

    def changes(self, relation: str) -> float:
        """Returns how many of its rows change in an epoch in which some do: of a table, one."""
        return max(1.0, self.rates_hz.get(relation, 0.0) * EPOCH_S)

    def kept(self, predicate: Expr, streams: Mapping[str, str] | None = None) -> KnownFigure:
        """Returns the part of the rows a predicate keeps: measured, by histogram, or guessed.

        Args:
            streams: the stream behind each alias; an alias that is missing names itself.

        Law: 0 ≤ value ≤ 1. The measured share of a whole predicate goes before those of its parts.
        """
        spelt = by_stream(predicate, streams or {})
        for text in (expr_text(predicate), expr_text(spelt)):
            if text in self.shares:
                return KnownFigure(min(1.0, max(0.0, self.shares[text])), Origin.MEASURED)
        match spelt:
            case Op("AND", _, _) if isinstance(predicate, Op):
                left, right = predicate.left, predicate.right
                return self.kept(left, streams).times(self.kept(right, streams))
            case Op("OR", _, _) if isinstance(predicate, Op):
                one, other = self.kept(predicate.left, streams), self.kept(predicate.right, streams)
                both = one.times(other)
                return KnownFigure(one.value + other.value - both.value, both.origin)
            case Not() if isinstance(predicate, Not):
                inner = self.kept(predicate.inner, streams)
                return KnownFigure(1.0 - inner.value, inner.origin)
            case Op(symbol, Col(name), Const(value)) if symbol in _TURNED:
                found = self._counted(symbol, name, value)
            case Op(symbol, Const(value), Col(name)) if symbol in _TURNED:
                found = self._counted(_TURNED[symbol], name, value)
            case _:
                found = None
        return KnownFigure(_guessed(predicate), Origin.GUESSED) if found is None else found

    def _counted(self, symbol: str, name: str, value: object) -> KnownFigure | None:
        histogram = self.histograms.get(name)
        if histogram is not None and isinstance(value, int | float):
            found = histogram.share(symbol, float(value))
            if found is not None:
                return KnownFigure(found, Origin.HISTOGRAM)
        values = self.distinct.get(name)
        if values and symbol in ("=", "<>"):
            equal = 1.0 / max(1.0, values)
            return KnownFigure(equal if symbol == "=" else 1.0 - equal, Origin.HISTOGRAM)
        return None


def by_stream(predicate: Expr, streams: Mapping[str, str]) -> Expr:
    """Spell columns with the stream's name instead of the query's alias."""

    def spelt(leaf: Expr) -> Expr:
        if not isinstance(leaf, Col):
            return leaf
        alias, _, column = leaf.name.rpartition(".")
        return Col(f"{streams.get(alias, alias)}.{column}")

    return map_leaves(predicate, spelt)


def _guessed(predicate: Expr) -> float:
    """Guess the part of the rows for which a predicate that joins no others is true, 0 to 1."""
    match predicate:
        case Const(value):
            return 1.0 if value is True else 0.0
        case Op("=", _, _):
            return EQUAL_SHARE
        case Op("<>", _, _):
            return 1 - EQUAL_SHARE
        case Op("<" | "<=" | ">" | ">=", _, _):
            return RANGE_SHARE
        case IsNull():
            return NULL_SHARE
        case _:
            return HALF
