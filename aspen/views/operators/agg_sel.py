"""AggSel: aggregate selection inside recursion, only the best row of a group goes on.

Law:        per group the settled row is the least by (cost, spelling) of all candidates.
Algorithm:  [LTZIL09] Alg. 4. A beaten candidate is still true and waits; what had been derived
            from it is withdrawn as the better row is propagated, and is derived again should the
            row become best again. Candidates are taken in the order of their cost, so that along
            monotone steps each group settles once (Dijkstra).
State:      none: the candidates lie in the group's MinShip buffer.
Receives:   candidate rows.     Gives: their group key and rank.
Ends:       a group settles again only for a strictly better row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import total_ordering
from typing import Any

from aspen.algebra.plan import AggregateFunction, Best
from aspen.model.schema import Column, Row
from aspen.views.node import Key, key_of

Rank = Any


@total_ordering
class _Reversed:
    """Orders a value that has no negative the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reversed) and bool(self.value == other.value)

    def __lt__(self, other: _Reversed) -> bool:
        return bool(other.value < self.value)

    def __hash__(self) -> int:
        return hash(self.value)


@dataclass(frozen=True, slots=True)
class Selection:
    """How candidates compete.

    Args:
        key: the group of a row.
        rank: the smaller goes on.
        cost: index of the selected column; a null cost never competes.
        kind: equal kinds of ranks compare with each other, and grow along the same steps.
    """

    key: Callable[[Row], Key]
    rank: Callable[[Row], Rank]
    cost: int
    kind: Hashable


def selections(best: Best, columns: tuple[Column, ...]) -> tuple[Selection, ...]:
    """Returns the selections a recursive relation asks for, one per choice."""
    names = [column.name for column in columns]
    key = key_of([names.index(name) for name in best.keys])
    costs = [(names.index(column), function) for column, function in best.choices]
    found: list[Selection] = []
    for cost, function in costs:
        numeric = columns[cost].type.numeric
        signed = _signed(cost, function, numeric=numeric)
        kind: Hashable = (function, numeric or columns[cost].type)
        others = [_nullable(columns, *other) for other in costs if other[0] != cost]
        alone = len(best.keys) + len(costs) == len(names) and not others
        if alone:
            found.append(Selection(key, signed, cost, kind))
        else:
            rank = _ties(signed, others)
            found.append(Selection(key, rank, cost, (kind, "ties", len(others))))
    return tuple(found)


def _ties(
    signed: Callable[[Row], Rank], others: list[Callable[[Row], Rank]]
) -> Callable[[Row], Rank]:
    if not others:
        return lambda row: (signed(row), repr(row))
    return lambda row: (signed(row), *[other(row) for other in others], repr(row))


def _nullable(
    columns: tuple[Column, ...], cost: int, function: AggregateFunction
) -> Callable[[Row], Rank]:
    signed = _signed(cost, function, numeric=columns[cost].type.numeric)
    return lambda row: (True,) if row[cost] is None else (False, signed(row))


def _signed(cost: int, function: AggregateFunction, *, numeric: bool) -> Callable[[Row], Rank]:
    if function is AggregateFunction.MIN:
        return lambda row: row[cost]
    if numeric:
        return lambda row: -row[cost]  # type: ignore[operator]
    return lambda row: _Reversed(row[cost])
