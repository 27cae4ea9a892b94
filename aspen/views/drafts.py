"""Drafts: the points of a search for repairs: what was decided, and what is still wanted.

Law:        states are spelt alike iff they want and decided alike, whatever their variables are
            called and whatever is known of these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aspen.algebra.plan import AntiJoin, Fixpoint, Plan
from aspen.model.schema import Relation, Row
from aspen.views.repair import Action
from aspen.views.unify import Store, Terms, Var

Recursions = tuple[tuple[str, Fixpoint], ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """An edit whose row may have open values.

    Args:
        hint: a row like the one that comes, for values that do not matter.
    """

    action: Action
    relation: Relation
    before: Row | None
    after: Terms | None
    hint: Row | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A row of a plan that has to be there."""

    plan: Plan
    terms: Terms
    within: Recursions


@dataclass(frozen=True, slots=True)
class Unwanted:
    """No row of an anti-join's right side may match a left row."""

    plan: AntiJoin
    left: Terms


Goal = Wanted | Unwanted


@dataclass(slots=True, eq=False)
class SearchState:
    """A point of the search: what was decided, and what is still wanted.

    Args:
        detours: times it derived rows besides ones that are there.
    """

    goals: tuple[Goal, ...]
    drafts: tuple[Draft, ...]
    store: Store
    steps: int = 0
    detours: int = 0

    def fork(self) -> SearchState:
        """Returns a copy that goes its own way."""
        return replace(self, store=self.store.fork(), steps=self.steps + 1)

    def plus(self, draft: Draft) -> SearchState:
        """Returns a copy with one more edit."""
        return replace(self.fork(), drafts=(*self.drafts, draft))


def replace_goals(state: SearchState, goals: tuple[Goal, ...]) -> SearchState:
    """Returns a state with other goals over the same store."""
    return replace(state, goals=goals)


def spelling(state: SearchState) -> object:
    """Spell a state so that equal ones are equal, whatever their variables are called."""
    numbers: dict[Var, int] = {}

    def spelt(terms: Terms | None) -> object:
        if terms is None:
            return None
        out: list[object] = []
        for term in state.store.row(terms):
            if isinstance(term, Var):
                out.append(("?", numbers.setdefault(term, len(numbers))))
            else:
                out.append((type(term), term))
        return tuple(out)

    goals = tuple(
        (id(goal.plan), spelt(goal.terms if isinstance(goal, Wanted) else goal.left))
        for goal in state.goals
    )
    drafts = frozenset((d.action, d.relation.name, d.before, spelt(d.after)) for d in state.drafts)
    return goals, drafts
