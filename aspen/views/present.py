"""Present: the lane as the search for repairs sees it: what is there, and what may come or go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from aspen.algebra.plan import Fixpoint, Plan
from aspen.model.delta import Delta
from aspen.model.schema import Relation, Row
from aspen.views.derivations import BaseRow
from aspen.views.drafts import Recursions
from aspen.views.node import Node
from aspen.views.rotate import rotations
from aspen.views.unify import Terms, Var
from aspen.views.why import why

Moved = tuple[str, int, Row]
"""A relation, a weight and a row of it."""

SEARCH = "the search for what is missing"
"""How messages name it."""
_HITS = 30
_HIT_SIZE = 3


@dataclass(frozen=True, slots=True)
class Facts:
    """The lane as one question sees it.

    Args:
        node: gives the node that has a plan's rows.
        relation: gives a base relation.
        times: how often a base table holds a row.
        appears: whether the row in question appears under some changes.
        own: relations that nobody but the engine changes.
        spend: takes steps of the question's.
    """

    node: Callable[[Plan], Node]
    relation: Callable[[str], Relation]
    times: Callable[[str, Row], int]
    appears: Callable[[Sequence[Moved]], bool]
    own: frozenset[str]
    spend: Callable[[int, str], None]


class Present:
    """The rows of plans, looked up by whatever is known of a row; for one search.

    Args:
        given: whether rows of relations that promise to keep them may come.
    """

    def __init__(self, facts: Facts, *, given: bool) -> None:
        self.facts = facts
        self._given = given
        self._rows: dict[int, tuple[Plan, Delta]] = {}
        self._rotated: dict[int, Recursions] = {}
        self._indexes: dict[tuple[int, tuple[int, ...]], dict[Row, list[Row]]] = {}

    def editable(self, relation: Relation) -> bool:
        """Whether rows of a relation may hypothetically come or go."""
        return relation.name not in self.facts.own and (self._given or relation.deletable)

    def removals(self, plan: Plan, rows: Sequence[Row]) -> tuple[list[frozenset[BaseRow]], bool]:
        """Returns sets of base rows whose loss takes some rows away, and whether that is all."""
        sets: set[frozenset[BaseRow]] = set()
        complete = True
        node = self.facts.node(plan)
        for row in rows:
            reasons = why(node, row)
            complete = complete and reasons.complete
            for members in reasons.sets:
                sets.add(frozenset(base for base in members if base[0] not in self.facts.own))
        if frozenset() in sets:
            return [], complete
        hitting = _hitting(
            sorted(sets, key=lambda members: sorted(map(repr, members))), self.facts.spend
        )
        return hitting, complete

    def contents(self, plan: Plan) -> Delta:
        """Returns a plan's rows, computed once."""
        known = self._rows.get(id(plan))
        if known is None:
            known = self._rows[id(plan)] = (plan, self.facts.node(plan).contents())
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
        known = tuple(index for index, term in enumerate(terms) if not isinstance(term, Var))
        rows = self.contents(plan)
        found = self._indexes.get((id(plan), known))
        if found is None:
            found = self._indexes[id(plan), known] = {}
            self.facts.spend(len(rows), SEARCH)
            for row in rows:
                found.setdefault(tuple(row[index] for index in known), []).append(row)
        return found.get(tuple(terms[index] for index in known), [])  # type: ignore[misc]


def _hitting(
    sets: Sequence[frozenset[BaseRow]], spend: Callable[[int, str], None]
) -> list[frozenset[BaseRow]]:
    """Returns minimal sets that share a member with each of the sets, smallest first, some of them.

    Source: Berge's algorithm for minimal transversals, cut at `_HITS` sets of `_HIT_SIZE`.
    """
    hitting: list[frozenset[BaseRow]] = [frozenset()]
    for members in sets:
        grown: set[frozenset[BaseRow]] = set()
        for hit in hitting:
            if hit & members:
                grown.add(hit)
            else:
                grown.update(hit | {base} for base in members)
        spend(len(grown) ** 2 // 10, SEARCH)
        minimal = [one for one in grown if not any(other < one for other in grown)]
        minimal.sort(key=lambda hit: (len(hit), sorted(map(repr, hit))))
        hitting = [hit for hit in minimal if len(hit) <= _HIT_SIZE][:_HITS] or minimal[:1]
    return hitting
