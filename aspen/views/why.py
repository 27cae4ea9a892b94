"""Why a row is in a view: its derivations, followed down to the base rows, on demand.

Nothing is kept for this: the operators are asked for the ways one row came to be. Rows of
non-deletable relations count as given. Where a row has too many reasons to list, one is given.
"""

from __future__ import annotations

from dataclasses import dataclass

from aspen.model.schema import Row
from aspen.provenance.bdd import Bdd, Function, Variable
from aspen.provenance.depth_first import depth_first_items
from aspen.provenance.why import TooManyReasons, minimal_sets, necessary
from aspen.views.derivations import BaseRow, Derivations, Item, Needed
from aspen.views.node import Node

_MAX_ITEMS = 20_000
_STEPS = 5
"""Of work in a conjunction."""
_MAX_NODES = 20_000  # decision nodes: about 0.2 s


@dataclass(frozen=True, slots=True)
class Why:
    """What a row rests on.

    Args:
        sets: minimal sets of deletable base rows, each of which suffices; smallest first.
        necessary: base rows in every set: lose one, and the row goes.
        complete: all sets are listed; otherwise one that suffices.
    """

    sets: tuple[frozenset[BaseRow], ...]
    necessary: frozenset[BaseRow]
    complete: bool


class _TooLarge(Exception):
    """The full answer is beyond the budget."""


def why(node: Node, row: Row) -> Why:
    """Returns what a row of a node rests on, between epochs.

    Raises:
        KeyError: the node has no such row.

    Law: a view over the base rows of one set (and the given ones) has the row; without a necessary
        row it has not. Both hold below NOT EXISTS, sums and choices of the best only as far as
        these stay as they are: a worse choice may give the same row.
    """
    if row not in node.contents():
        raise KeyError(row)
    session = _Session(every=True)
    try:
        return session.answer(node, row)
    except (_TooLarge, TooManyReasons, RecursionError):
        one = _Session(every=False).answer(node, row)
    return Why(one.sets[:1], session.needed((node, row), one.sets[0]), complete=False)


class _Session:
    """One question; it remembers derivations and functions for its own length."""

    def __init__(self, *, every: bool) -> None:
        self._every = every
        self._manager = Bdd()
        self._derivations = Derivations(every=every)
        self._variables: dict[BaseRow, Variable] = {}
        self._order: list[Item] = []

    def answer(self, node: Node, row: Row) -> Why:
        manager = self._manager
        function = self._solve((node, row))
        names = {variable: base for base, variable in self._variables.items()}
        sets = minimal_sets(manager, function)
        needed = necessary(manager, function)
        return Why(
            tuple(frozenset(names[v] for v in members) for members in sets),
            frozenset(names[v] for v in needed),
            complete=self._every,
        )

    def needed(self, goal: Item, candidates: frozenset[BaseRow]) -> frozenset[BaseRow]:
        """Returns those of the candidates without which the goal has no derivation.

        Beyond the budget, all candidates are given: none is known to be dispensable.
        """
        if not self._order:
            return candidates
        return candidates & Needed(self._derivations, self._order, goal[0].meter).bases(goal)

    def _solve(self, goal: Item) -> Function:
        """Returns the least solution of the equations row = OR over ways of AND over parts."""
        order = self._derivations.follow([goal], at_most=_MAX_ITEMS if self._every else None)
        if order is None:
            raise _TooLarge
        self._order = order
        manager = self._manager
        self._variables = {base: manager.allocate() for base in self._traversal(order)}
        values: dict[Item, Function] = dict.fromkeys(order, manager.false)
        moving = True
        while moving:
            moving = False
            for item in order:
                new = self._value(item, values)
                if new != values[item]:
                    values[item], moving = new, True
                    if manager.live_nodes() > _MAX_NODES:
                        raise _TooLarge
        return values[goal]

    def _value(self, item: Item, values: dict[Item, Function]) -> Function:
        manager = self._manager
        base = self._derivations.base(item)
        if base is not None:
            return manager.literal(self._variables[base])
        value = manager.false
        for way in self._derivations.ways(item):
            product = manager.true
            item[0].meter.spend(_STEPS * len(way), "combining reasons")
            for part in way:
                product = manager.conjoin(product, values[part])
            value = manager.disjoin(value, product)
        return value

    def _traversal(self, order: list[Item]) -> list[BaseRow]:
        """Returns the base rows as a depth-first traversal from the goal passes them.

        A base row leads from the row it helps to derive to the rows used beside it. The first
        ones come lowest in the diagrams, so that the rest of a path stays one function.

        Source: [LTZIL09] section VI.
        """
        find = self._derivations.base
        ways: dict[BaseRow, list[tuple[Item, Item]]] = {}
        for item in reversed(order):
            base = find(item)
            if base is not None:
                ways.setdefault(base, [])
                continue
            for way in self._derivations.ways(item):
                beside = [part for part in way if find(part) is None]
                for part in way:
                    taken = find(part)
                    if taken is not None:
                        ends = beside or [part]
                        ways.setdefault(taken, []).extend((item, end) for end in ends)
        return depth_first_items(ways)
