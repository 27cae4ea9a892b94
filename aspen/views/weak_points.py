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
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from zlib import crc32

from aspen.errors import AspenError
from aspen.model.delta import Delta, merge
from aspen.model.schema import Row
from aspen.views.derivations import BaseRow, Derivations, Item, Needed
from aspen.views.node import Indices, Key, Node, key_of
from aspen.views.work import WorkExceeded

POINTS = 10
TRIES = 200
"""Dry epochs at most; the answer says when they did not suffice."""

_MAX_ITEMS = 400_000
_ITEM_STEPS = 160
"""So many steps for each row that is followed leave most of them for dry epochs."""


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
    among: Collection[str] = (),
) -> WeakPoints:
    """Rank base rows by how many rows of a node would go with each.

    Args:
        rows: rows of the node in question.
        by: columns counted by: a row that is replaced by one with equal values there is not lost.
            Empty: whole rows.
        loses: the node's change if a base row vanished.
        wanted: points given at most.
        among: base relations whose rows are tried; empty for all.

    Raises:
        TooMuchToWeigh: the rows have too many derivations.
    """
    key, meter = key_of(by) if by else _itself, node.meter
    members: dict[Key, list[Row]] = {}
    for row in rows:
        members.setdefault(key(row), []).append(row)
    followed = _follow(node, list(members.values()), min(_MAX_ITEMS, meter.rest // _ITEM_STEPS))
    needed = Needed(followed.derivations, followed.order, meter)
    bounds: Counter[BaseRow] = Counter()
    for held in followed.groups:
        bounds.update(frozenset.intersection(*(needed.bases((node, row)) for row in held)))
    # By spelling where bounds are equal: how a circuit came to be must not show.
    tried_at_all = [base for base in bounds if not among or base[0] in among]
    order = sorted(tried_at_all, key=lambda base: (-bounds[base], repr(base)))
    found: list[WeakPoint] = []
    complete = len(followed.groups) == len(members)
    for tried, base in enumerate(order):
        found.sort(key=lambda point: (-point.lost, repr(point.base)))
        if complete and len(found) >= wanted and bounds[base] < found[wanted - 1].lost:
            break
        try:
            lost = _lost(members, key, loses(base))
        except WorkExceeded:
            if not found:
                raise
            complete = False
            break
        if lost:
            found.append(WeakPoint(base, lost))
        if tried + 1 == TRIES:
            complete = complete and tried + 1 == len(order)
            break
    found.sort(key=lambda point: (-point.lost, repr(point.base)))
    return WeakPoints(tuple(found[:wanted]), len(members), complete)


@dataclass(frozen=True, slots=True)
class _Followed:
    """The derivations of the rows in question, or of as many groups of them as can be followed."""

    groups: list[list[Row]]
    derivations: Derivations
    order: list[Item]


def _follow(node: Node, groups: list[list[Row]], at_most: int) -> _Followed:
    """Follow derivations, of more and more groups until there are too many to follow.

    Raises:
        TooMuchToWeigh: those of one group are too many.
    """
    followed: _Followed | None = None
    derivations = Derivations()
    # In an order that is the same everywhere, and that mixes what stands together.
    groups = sorted(groups, key=lambda held: crc32(repr(held).encode()))
    count = 1
    while True:
        goals = [(node, row) for held in groups[:count] for row in held]
        order = derivations.follow(goals, at_most=at_most)
        if order is None:
            break
        followed = _Followed(groups[:count], derivations, order)
        if count >= len(groups):
            break
        count *= 4
    if followed is None:
        raise TooMuchToWeigh(
            f"more than {at_most:,} rows bear on the answer",
            attempt="ask about fewer rows: give some columns a value",
        )
    return followed


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
