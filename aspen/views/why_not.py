"""Why-not: what would have to come or go for a missing row to appear, smallest first.

    abduce ──► draft ──► examples ──► rows ──► dry epochs     the row appears: it suffices
                                                               without one it does not: minimal

Law:        making a repair's changes lets a row of the pattern appear; leaving one of them out does
            not. Both were tried by the engine itself, in dry epochs, before the repair is reported.
Algorithm:  own. The search may guess (`abduce`), the proof does not.
Ends:       after `REPAIRS` repairs, `PROOFS` dry epochs, or the search; `complete` says whether
            there can be more, of up to `abduce.EDITS` edits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, islice

from aspen.algebra.plan import Plan
from aspen.model.schema import Row
from aspen.views.abduce import Abduction
from aspen.views.exemplify import examples, repair_of
from aspen.views.pattern import ANY, Pattern
from aspen.views.present import SEARCH, Facts, Moved, Present
from aspen.views.repair import Edit, Repair, WhyNot
from aspen.views.unify import Term, Var
from aspen.views.work import WorkExceeded

REPAIRS = 20
PROOFS = 300
"""Dry epochs of one question."""
EXAMPLES = 4
"""Ways to fill a draft's open values that are tried: one may match what it should not."""
_STEPS = 1_000
"""Of work in finding values for a draft."""


def why_not(plan: Plan, wanted: Pattern, facts: Facts) -> WhyNot:
    """Returns what would have to come or go for a row of a pattern to appear.

    Args:
        plan: over base relations alone; none of its rows fits the pattern.

    Relations that promise to keep their rows are taken as they are, unless nothing else helps.
    """
    found = _ask(plan, wanted, facts, given=False)
    if not found.repairs:
        other = _ask(plan, wanted, facts, given=True)
        found = WhyNot(other.repairs, found.complete and other.complete)
    return found


def _ask(plan: Plan, wanted: Pattern, facts: Facts, *, given: bool) -> WhyNot:
    terms: list[Term] = [
        Var(column) if value is ANY else value  # type: ignore[misc]
        for column, value in zip(plan.columns, wanted, strict=True)
    ]
    search = Abduction(Present(facts, given=given), plan, tuple(terms))
    proof = _Proof(facts)
    repairs: list[Repair] = []
    try:
        _prove(search, proof, repairs)
    except WorkExceeded:
        if not repairs:
            raise
        search.complete = False
    repairs.sort(key=lambda repair: (len(repair.edits), repr(repair)))
    return WhyNot(repairs, search.complete)


def _prove(search: Abduction, proof: _Proof, repairs: list[Repair]) -> None:
    """Prove the drafts of a search, and note those that are repairs."""
    for state in search.drafts():
        if len(repairs) == REPAIRS or proof.left <= 0:
            search.complete = False
            return
        proof.facts.spend(_STEPS, SEARCH)
        known = [frozenset(map(_key, one.edits)) for one in repairs]
        proved = None
        for filled in islice(examples(state), EXAMPLES):
            repair = repair_of(state, filled, range(len(state.drafts)))
            if any(one <= frozenset(map(_key, repair.edits)) for one in known):
                break
            kept = proof.minimal(repair.edits)
            if kept is not None:
                proved = repair_of(state, filled, kept)
                break
        else:
            search.complete = False
        if proved is not None and frozenset(map(_key, proved.edits)) not in known:
            repairs.append(proved)
            search.found(len(proved.edits))


class _Proof:
    """Dry epochs for one question, no more than a budget."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._known: dict[frozenset[object], bool] = {}
        self.left = PROOFS

    def minimal(self, edits: Sequence[Edit]) -> tuple[int, ...] | None:
        """Returns the indices of edits that help, none of which can be left out; None for none."""
        kept = tuple(range(len(edits)))
        if not self._helps(edits):
            return None
        while True:
            fewer = combinations(kept, len(kept) - 1)
            smaller = next((k for k in fewer if self._helps([edits[index] for index in k])), None)
            if smaller is None:
                # Without proofs left, nobody knows whether it is minimal.
                return kept if self.left > 0 else None
            kept = smaller

    def _helps(self, edits: Sequence[Edit]) -> bool:
        if not edits:
            return False
        key = frozenset((_key(edit), repr(edit.example)) for edit in edits)
        known = self._known.get(key)
        if known is None:
            if self.left <= 0:
                return False
            self.left -= 1
            known = self._known[key] = self.facts.appears(changes_of(edits, self.facts.times))
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
    return (edit.relation, repr(edit.before), repr(edit.after))
