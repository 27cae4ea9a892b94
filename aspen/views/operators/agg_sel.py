"""AggSel: aggregate selection inside recursion, only the best row of a group goes on.

Law:        per group the settled row is the least by (cost, spelling) of all candidates.
Algorithm:  [LTZIL09] Alg. 3. A beaten candidate is still true and waits; what had been derived
            from it is withdrawn as the better row is propagated, and is derived again should the
            row become best again. Candidates are taken in the order of their cost, so that along
            monotone steps each group settles once (Dijkstra).
State:      none: the candidates lie in the group's MinShip buffer.
Receives:   candidate rows.     Gives: their group key and rank.
Ends:       a group settles again only for a strictly better row.
"""

from __future__ import annotations

from collections.abc import Callable
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


class Selection:
    """How candidates compete.

    Args:
        key: the group of a row.
        rank: the smaller goes on; None where all rows go on, each being its own group.
        cost: place of the selected column, None where there is none; a null cost never competes.
    """

    __slots__ = ("cost", "key", "rank")

    def __init__(
        self, key: Callable[[Row], Key], rank: Callable[[Row], Rank] | None, cost: int | None
    ) -> None:
        self.key = key
        self.rank = rank
        self.cost = cost


def selection(best: Best | None, columns: tuple[Column, ...]) -> Selection:
    """Give the selection a fixpoint asks for.

    Args:
        columns: of the recursive view.
    """
    if best is None:
        return Selection(_itself, None, None)
    names = [column.name for column in columns]
    cost = names.index(best.column)
    key = key_of([names.index(name) for name in best.keys])
    signed = _signed(cost, best.function, numeric=columns[cost].type.numeric)
    if {*best.keys, best.column} == set(names):
        return Selection(key, signed, cost)
    return Selection(key, lambda row: (signed(row), repr(row)), cost)


def _itself(row: Row) -> Row:
    return row


def _signed(cost: int, function: AggregateFunction, *, numeric: bool) -> Callable[[Row], Rank]:
    if function is AggregateFunction.MIN:
        return lambda row: row[cost]
    if numeric:
        return lambda row: -row[cost]  # type: ignore[operator]
    return lambda row: _Reversed(row[cost])
