"""Why-not: what would have to come or go for a missing row to appear, smallest first.

    abduce ──► draft ──► exemplify ──► rows ──► dry epochs     the row appears: it suffices
                                                               without one it does not: minimal

Law:        making a repair's changes lets a row of the pattern appear; leaving one of them out does
            not. Both were tried by the engine itself, in dry epochs, before the repair is reported.
Algorithm:  own. The search may guess (`abduce`), the proof does not.
Ends:       after `REPAIRS` repairs, `PROOFS` dry epochs, or the search; `complete` says whether
            there can be more, of up to `abduce.EDITS` edits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Protocol

from aspen.algebra.plan import Plan
from aspen.model.schema import Relation, Row
from aspen.views.abduce import Abduction
from aspen.views.derivations import BaseRow
from aspen.views.exemplify import exemplify
from aspen.views.node import Node
from aspen.views.pattern import ANY, Pattern
from aspen.views.repair import Edit, Repair, WhyNot
from aspen.views.unify import Term, Var
from aspen.views.why import why

__all__ = ("WhyNot", "why_not")

REPAIRS = 20
PROOFS = 300
"""Dry epochs of one question."""

_HITS = 30
_HIT_SIZE = 3

Moved = tuple[str, int, Row]
"""A relation, a weight and a row of it."""


class Facts(Protocol):
    """The lane as a question sees it."""

    def node(self, plan: Plan) -> Node:
        """Returns the node that has a plan's rows."""
        ...

    def relation(self, name: str) -> Relation:
        """Returns a base relation."""
        ...

    def times(self, relation: str, row: Row) -> int:
        """Returns how often a base table holds a row."""
        ...

    def appears(self, changes: Sequence[Moved]) -> bool:
        """Whether the row in question appears under some changes."""
        ...


class _World:
    """What the search may read, and which updates it may draft.

    Args:
        given: whether rows of relations that promise to keep them may come.
    """

    def __init__(self, facts: Facts, own: frozenset[str], *, given: bool) -> None:
        self._facts = facts
        self._own = own
        self._given = given

    def node(self, plan: Plan) -> Node:
        return self._facts.node(plan)

    def relation(self, name: str) -> Relation:
        return self._facts.relation(name)

    def editable(self, name: str) -> bool:
        return name not in self._own and (self._given or self.relation(name).deletable)

    def removals(self, rows: list[tuple[Node, Row]]) -> tuple[list[frozenset[BaseRow]], bool]:
        sets: set[frozenset[BaseRow]] = set()
        complete = True
        for node, row in rows:
            reasons = why(node, row)
            complete = complete and reasons.complete
            for members in reasons.sets:
                sets.add(frozenset(base for base in members if base[0] not in self._own))
        if frozenset() in sets:
            return [], complete
        return _hitting(sorted(sets, key=lambda members: sorted(map(repr, members)))), complete


def why_not(plan: Plan, wanted: Pattern, facts: Facts, own: frozenset[str]) -> WhyNot:
    """Returns what would have to come or go for a row of a pattern to appear.

    Args:
        plan: over base relations alone; none of its rows fits the pattern.
        own: relations that nobody but the engine changes.

    Relations that promise to keep their rows are taken as they are, unless nothing else helps.
    """
    found = _ask(plan, wanted, facts, own, given=False)
    if not found.repairs:
        other = _ask(plan, wanted, facts, own, given=True)
        found = WhyNot(other.repairs, found.complete and other.complete)
    return found


def _ask(plan: Plan, wanted: Pattern, facts: Facts, own: frozenset[str], *, given: bool) -> WhyNot:
    terms: list[Term] = [
        Var(column) if value is ANY else value  # type: ignore[misc]
        for column, value in zip(plan.columns, wanted, strict=True)
    ]
    search = Abduction(_World(facts, own, given=given), plan, tuple(terms))
    proof = _Proof(facts)
    repairs: list[Repair] = []
    for state in search.drafts():
        if len(repairs) == REPAIRS or proof.left <= 0:
            return WhyNot(repairs, complete=False)
        example = exemplify(state)
        if example is None:
            search.complete = False
            continue
        repair = example.repair(range(len(state.drafts)))
        known = [frozenset(map(_key, one.edits)) for one in repairs]
        if any(one <= frozenset(map(_key, repair.edits)) for one in known):
            continue
        kept = proof.minimal(repair.edits)
        if kept is None:
            search.complete = False
            continue
        proved = example.repair(kept)
        if frozenset(map(_key, proved.edits)) not in known:
            repairs.append(proved)
            search.found(len(proved.edits))
    repairs.sort(key=lambda repair: (len(repair.edits), repr(repair)))
    return WhyNot(repairs, search.complete)


class _Proof:
    """Dry epochs for one question, no more than a budget."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._known: dict[frozenset[object], bool] = {}
        self.left = PROOFS

    def minimal(self, edits: Sequence[Edit]) -> tuple[int, ...] | None:
        """The places of edits that help and of which none can be left out, None for none."""
        kept = tuple(range(len(edits)))
        if not self._helps(edits):
            return None
        while True:
            fewer = combinations(kept, len(kept) - 1)
            smaller = next((k for k in fewer if self._helps([edits[p] for p in k])), None)
            if smaller is None:
                # Without proofs left, nobody knows whether it is minimal.
                return kept if self.left > 0 else None
            kept = smaller

    def _helps(self, edits: Sequence[Edit]) -> bool:
        if not edits:
            return False
        key = frozenset(map(_key, edits))
        known = self._known.get(key)
        if known is None:
            if self.left <= 0:
                return False
            self.left -= 1
            known = self._known[key] = self._facts.appears(changes_of(edits, self._facts.times))
        return known


def changes_of(edits: Iterable[Edit], times: Callable[[str, Row], int]) -> list[Moved]:
    """Returns the changes that edits stand for, open values filled in by the example.

    Args:
        times: how often a base table holds a row; all of them go.
    """
    changes: list[Moved] = []
    for edit in edits:
        if edit.before is not None:
            count = times(edit.relation, edit.before)
            changes.append((edit.relation, -count, edit.before))
        if edit.example is not None:
            changes.append((edit.relation, 1, edit.example))
    return changes


def _key(edit: Edit) -> object:
    return (edit.action, edit.relation, repr(edit.before), repr(edit.after))


def _hitting(sets: Sequence[frozenset[BaseRow]]) -> list[frozenset[BaseRow]]:
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
        minimal = [one for one in grown if not any(other < one for other in grown)]
        minimal.sort(key=lambda hit: (len(hit), sorted(map(repr, hit))))
        hitting = [hit for hit in minimal if len(hit) <= _HIT_SIZE][:_HITS] or minimal[:1]
    return hitting
