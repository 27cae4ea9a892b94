"""Present: what is there, looked up by whatever is known of a row."""

from __future__ import annotations

from heapq import nsmallest
from typing import Protocol

from aspen.algebra.plan import Fixpoint, Plan
from aspen.model.delta import Delta
from aspen.model.schema import Relation, Row
from aspen.views.derivations import BaseRow
from aspen.views.drafts import Recursions
from aspen.views.node import Node
from aspen.views.rotate import rotations
from aspen.views.unify import Terms, Var


class PresentRows(Protocol):
    """What the search reads."""

    def node(self, plan: Plan) -> Node:
        """Returns the node that has a plan's rows."""
        ...

    def relation(self, name: str) -> Relation:
        """Returns a base relation."""
        ...

    def editable(self, name: str) -> bool:
        """Whether rows of a relation may hypothetically come or go."""
        ...

    def removals(self, rows: list[tuple[Node, Row]]) -> tuple[list[frozenset[BaseRow]], bool]:
        """Sets of base rows whose loss takes all those rows away, and whether that is all."""
        ...


class Present:
    """The rows of plans, indexed as they are asked for; for one question."""

    def __init__(self, world: PresentRows) -> None:
        self._world = world
        self._rows: dict[int, tuple[Plan, Delta]] = {}
        self._rotated: dict[int, Recursions] = {}
        self._indexes: dict[tuple[int, tuple[int, ...]], dict[Row, list[Row]]] = {}

    def contents(self, plan: Plan) -> Delta:
        """Returns a plan's rows, computed once."""
        known = self._rows.get(id(plan))
        if known is None:
            known = self._rows[id(plan)] = (plan, self._world.node(plan).contents())
        return known[1]

    def around(self, plan: Fixpoint, within: Recursions) -> Recursions:
        """Returns the recursions that a step may read, made once: rows are remembered by plan.

        Args:
            within: those around the recursion.
        """
        own = self._rotated.get(id(plan))
        if own is None:
            own = tuple((one.name, one) for one in rotations(plan))
            self._rotated.update(dict.fromkeys((id(one) for _, one in own), own))
        names = {name for name, _ in own}
        return (*own, *(pair for pair in within if pair[0] not in names))

    def ordered(self, plan: Plan, terms: Terms, at_most: int) -> list[Row]:
        """Returns some matching rows; which ones must not depend on how they came."""
        return nsmallest(at_most, self.matching(plan, terms), key=repr)

    def matching(self, plan: Plan, terms: Terms) -> list[Row]:
        """Returns the rows that are there and agree with the known terms."""
        places = tuple(p for p, term in enumerate(terms) if not isinstance(term, Var))
        rows = self.contents(plan)
        index = self._indexes.get((id(plan), places))
        if index is None:
            index = self._indexes[id(plan), places] = {}
            for row in rows:
                index.setdefault(tuple(row[place] for place in places), []).append(row)
        return index.get(tuple(terms[place] for place in places), [])  # type: ignore[misc]
