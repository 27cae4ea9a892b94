"""Drafts: the points of a search for repairs: what was decided, and what is still wanted.

Law:        states are spelt alike iff they want and decided alike, whatever their variables are
            called and whatever is known of these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aspen.algebra.plan import Fixpoint, Plan
from aspen.algebra.plan_joins import Matching
from aspen.model.schema import Relation, Row
from aspen.views.unify import Store, Terms, Var

Recursions = tuple[tuple[str, Fixpoint], ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """An edit whose row may have open values.

    Args:
        before: the row that goes or changes; None where one comes.
        after: the row that comes or that it changes to; None where one goes.
        hint: a row like the one that comes, for values that do not matter.
    """

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
    """No row of a plan's right side may match a left row."""

    plan: Matching
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

    def spelling(self) -> object:
        """Spell the state so that equal ones are equal, whatever their variables are called."""
        numbers: dict[Var, int] = {}

        def spelt(terms: Terms | None) -> object:
            if terms is None:
                return None
            return tuple(
                ("?", numbers.setdefault(term, len(numbers)))
                if isinstance(term, Var)
                else (type(term), term)
                for term in self.store.row(terms)
            )

        goals = tuple(
            (id(goal.plan), spelt(goal.terms if isinstance(goal, Wanted) else goal.left))
            for goal in self.goals
        )
        drafts = frozenset((d.relation.name, d.before, spelt(d.after)) for d in self.drafts)
        return goals, drafts
