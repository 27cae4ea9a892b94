"""Weak points: single base rows whose loss takes the most rows of a view with it.

    derivations   bound: the row is in every derivation of …      dry epoch: how many really go
    door d1       212 rows                                        212
    door d2       190 rows, of which others may stand in    3

Law:        a point's `lost` is what the view would lose if that base row vanished; where the
            answer is complete, no base row outside the list takes more than any inside.
Algorithm:  own. The rows without which a row has no derivation are the greatest solution of
            N(row) = ∩ over ways of ∪ over parts of N(part), over sets as bits of one number. That
            bounds the loss from above, so candidates are tried best bound first until no bound is
            left above the worst point kept. Below NOT EXISTS within NOT EXISTS, loss can be larger
            than derivations tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aspen.errors import AspenError
from aspen.model.delta import Delta, merge
from aspen.model.schema import Row
from aspen.views.derivations import Derivations, Item
from aspen.views.node import Indices, Key, Node, key_of
from aspen.views.why import BaseRow

POINTS = 10
TRIES = 200
"""Dry epochs at most; the answer says when they did not suffice."""

_MAX_ITEMS = 400_000


class TooMuchToWeigh(AspenError, code="aspen.views.too_much_to_weigh"):
    """A question about more rows than can be followed."""


@dataclass(frozen=True, slots=True)
class WeakPoint:
    """A base row, and how many of the counted rows go with it."""

    base: BaseRow
    lost: int


@dataclass(frozen=True, slots=True)
class WeakPoints:
    """The worst single points of failure.

    Args:
        points: most lost first; equal losses by spelling.
        total: rows in question, counted alike.
        complete: no other base row takes more than the last of the points.
    """

    points: tuple[WeakPoint, ...]
    total: int
    complete: bool


def weak_points(
    node: Node,
    rows: Iterable[Row],
    by: Indices,
    loses: Callable[[BaseRow], Delta],
    *,
    wanted: int = POINTS,
) -> WeakPoints:
    """Rank base rows by how many rows of a node would go with each.

    Args:
        rows: rows of the node in question.
        by: columns counted by: a row that is replaced by one with equal values there is not lost.
            Empty: whole rows.
        loses: the node's change if a base row vanished.
        wanted: points given at most.

    Raises:
        TooMuchToWeigh: the rows have too many derivations.
    """
    goals = [(node, row) for row in rows]
    key = key_of(by) if by else _itself
    members: dict[Key, list[Row]] = {}
    for _, row in goals:
        members.setdefault(key(row), []).append(row)
    needed = _needed(goals)
    bounds: Counter[BaseRow] = Counter()
    for held in members.values():
        bounds.update(frozenset.intersection(*(needed.bases(node, row) for row in held)))
    # By spelling where bounds are equal: how a circuit came to be must not show.
    order = sorted(bounds, key=lambda base: (-bounds[base], repr(base)))
    found: list[WeakPoint] = []
    complete = True
    for tried, base in enumerate(order):
        found.sort(key=lambda point: (-point.lost, repr(point.base)))
        if len(found) >= wanted and bounds[base] < found[wanted - 1].lost:
            break
        if tried == TRIES:
            complete = False
            break
        lost = _lost(members, key, loses(base))
        if lost:
            found.append(WeakPoint(base, lost))
    found.sort(key=lambda point: (-point.lost, repr(point.base)))
    return WeakPoints(tuple(found[:wanted]), len(members), complete)


def _itself(row: Row) -> Key:
    return row


def _lost(members: dict[Key, list[Row]], key: Callable[[Row], Key], delta: Delta) -> int:
    """Count the keys of which no row is left."""
    touched: dict[Key, Delta] = {}
    for row, weight in delta.items():
        at = key(row)
        if at in members:
            touched.setdefault(at, {})[row] = weight
    count = 0
    for at, change in touched.items():
        # Multiplicities do not matter below: gone rows of a bag go whole or are still there.
        left = dict.fromkeys(members[at], 1)
        merge(left, change)
        count += not any(weight > 0 for weight in left.values())
    return count


class _Needed:
    """Which base rows each row cannot do without, as bits."""

    def __init__(self, bits: dict[Item, int], bases: list[BaseRow]) -> None:
        self._bits = bits
        self._bases = bases
        self._known: dict[int, frozenset[BaseRow]] = {}

    def bases(self, node: Node, row: Row) -> frozenset[BaseRow]:
        bits = self._bits[node, row]
        known = self._known.get(bits)
        if known is None:
            indices = (index for index in range(bits.bit_length()) if bits >> index & 1)
            known = self._known[bits] = frozenset(self._bases[index] for index in indices)
        return known


def _needed(goals: list[Item]) -> _Needed:
    derivations = Derivations()
    order = derivations.follow(goals, at_most=_MAX_ITEMS)
    if order is None:
        raise TooMuchToWeigh(
            f"more than {_MAX_ITEMS} rows bear on the answer",
            attempt="ask about fewer rows: give some columns a value",
        )
    # Two windows over one stream hold the same base row twice.
    indices: dict[BaseRow, int] = {}
    for item in order:
        base = derivations.base(item)
        if base is not None:
            indices.setdefault(base, len(indices))
    bits: dict[Item, int] = dict.fromkeys(order, (1 << len(indices)) - 1)
    users: dict[Item, list[Item]] = {item: [] for item in order}
    for item in order:
        base = derivations.base(item)
        if base is not None:
            bits[item] = 1 << indices[base]
        for part in derivations.parts(item):
            users[part].append(item)
    waiting = dict.fromkeys(order)
    while waiting:
        round_, waiting = waiting, {}
        for item in round_:
            if derivations.base(item) is not None:
                continue
            new = bits[item]
            for way in derivations.ways(item):
                union = 0
                for part in way:
                    union |= bits[part]
                new &= union
            if new != bits[item]:
                bits[item] = new
                waiting.update(dict.fromkeys(users[item]))
    return _Needed(bits, list(indices))
