"""Abduce: which base rows would make a missing row derivable, walking its plan from the top.

    free_machine('m12', ?, ?)      goals         machine('m12', …) ∧ seat('m12', kg < 5) ∧ …
    machine('m12', 'A', 7)         is there      costs nothing
    seat('m12', kg < 5)            is not        costs an edit: this is the answer

Law:        gives drafts with fewest edits first. A draft is a guess where the plan aggregates or
            picks best rows; `why_not` proves each one before it is reported.
Algorithm:  own; abductive logic programming (Kakas, Kowalski, Toni 1992) over plans, searched
            by the least number of edits, then of steps. In a recursion the walk goes back from
            the wanted row over what is there, so it ends at the frontier of what is reached.
Ends:       by `STATES`, by `EDITS`, or when nothing is left to try; `complete` says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count

from aspen.algebra.plan import (
    Filter,
    Fixpoint,
    GroupBy,
    Over,
    Plan,
    Project,
    RecursiveRef,
    Scan,
    SetOperation,
    Ship,
    TopK,
    Window,
)
from aspen.model.schema import Column, Relation, Row
from aspen.views.drafts import Draft, Goal, Recursions, SearchState, Unwanted, Wanted
from aspen.views.present import SEARCH, Present
from aspen.views.simpler_goals import SIMPLER, simpler
from aspen.views.unify import Store, Term, Terms, Var, differs, fresh

EDITS = 5
"""Edits of one repair at most."""
STATES = 2_500
"""States made; 0.1 to 0.5 ms each."""
MORE = 1_000
"""States made after the first repair was found."""
_STEPS = 100
"""Of work in a state."""
_FAN = 100
"""Rows that are there tried for one goal."""
_MEMBERS = 8
"""Rows of a group whose loss is tried."""


class Abduction:
    """One search.

    Args:
        present: the rows that are there.
        plan: over base relations alone.
        terms: the wanted row, open values as variables.
    """

    def __init__(self, present: Present, plan: Plan, terms: Terms) -> None:
        self.complete = True
        self._present = present
        self._serial = count()
        self._queue: list[tuple[int, int, int, SearchState]] = []
        self._seen: set[object] = set()
        self._limit = EDITS
        self._left = STATES
        self._any = False
        self._push(SearchState((Wanted(plan, terms, ()),), (), Store()))

    def drafts(self) -> Iterator[SearchState]:
        """Returns states without goals, fewest edits first."""
        while self._queue:
            cost, _, _, state = heappop(self._queue)
            if cost > self._limit:
                self.complete = False
                return
            if not state.goals:
                if state.drafts:
                    yield state
                continue
            for after in self._expand(state):
                self._present.facts.spend(_STEPS, SEARCH)
                self._left -= 1
                if self._left < 0:
                    self.complete = False
                    return
                self._push(after)

    def found(self, edits: int) -> None:
        """Hear of a repair of that many edits: larger ones are worth a little more search."""
        self._limit = min(self._limit, edits + 1)
        if not self._any:
            self._any, self._left = True, min(self._left, MORE)

    def _push(self, state: SearchState) -> None:
        for plain in self._unfold(state):
            if not plain.store.settle():
                continue
            if len(plain.drafts) > self._limit:
                self.complete = False
                continue
            spelt = plain.spelling()
            if spelt in self._seen:
                self.complete = self.complete and not plain.store.checks
                continue
            self._seen.add(spelt)
            cost = max(len(plain.drafts), self._least_edits(plain)) + plain.detours
            heappush(self._queue, (cost, plain.steps, next(self._serial), plain))

    def _least_edits(self, state: SearchState) -> int:
        """Returns how many edits a state's goals take at least: one may serve several."""
        return any(
            isinstance(goal, Wanted) and not self._matching(state, goal) for goal in state.goals
        )

    def _matching(self, state: SearchState, goal: Wanted) -> int:
        """Count the rows that are there and could meet a goal."""
        plan = self._whole(goal)
        terms = state.store.row(goal.terms)
        if all(isinstance(term, Var) for term in terms):
            return len(self._present.contents(plan))
        return len(self._present.matching(plan, terms))

    @staticmethod
    def _whole(goal: Wanted) -> Plan:
        """Returns what a goal is about: of a reference into a recursion, the recursion."""
        if not isinstance(goal.plan, RecursiveRef):
            return goal.plan
        return next(fixpoint for name, fixpoint in goal.within if name == goal.plan.name)

    def _unfold(self, state: SearchState) -> Iterator[SearchState]:
        """Take apart every goal that can be met in one way, or by one input of a union."""
        for index, goal in enumerate(state.goals):
            if not isinstance(goal, Wanted) or not isinstance(goal.plan, SIMPLER):
                continue
            # What compares rows as a whole counts them, too.
            self.complete = self.complete and not isinstance(goal.plan, SetOperation)
            rest = state.goals[:index] + state.goals[index + 1 :]
            for store, goals in simpler(goal, state.store):
                after = replace(state, goals=goals + rest)
                after.store = store
                yield from self._unfold(after)
            return
        yield state

    def _expand(self, state: SearchState) -> Iterator[SearchState]:
        """Meet one goal, the one with least choice, in every way."""
        index = min(range(len(state.goals)), key=lambda p: self._choice(state, state.goals[p]))
        goal = state.goals[index]
        rest = replace(state, goals=state.goals[:index] + state.goals[index + 1 :])
        if isinstance(goal, Unwanted):
            yield from self._without(goal, rest)
            return
        plan = self._whole(goal)
        match plan:
            case Scan():
                yield from self._held(goal, plan, rest)
                yield from self._edited(goal, plan, rest)
            case Window():
                yield from self._held(goal, plan, rest)
                yield from self._arriving(goal, plan, rest)
            case Fixpoint():
                yield from self._recursive(goal, plan, goal.within, rest)
            case GroupBy():
                yield from self._held(goal, plan, rest)
                yield from self._grouped(goal, plan, rest)
            case TopK() | Over():
                yield from self._held(goal, plan, rest)
                yield from self._ranked(goal, plan, rest)
            case _:
                # What picks rows by order or by counts is taken as it is.
                self.complete = False
                yield from self._held(goal, plan, rest)

    def _choice(self, state: SearchState, goal: Goal) -> tuple[int, int]:
        """Rank goals: tables, then recursions, then what may not be there.

        Recursions wait until all else that a step reads is met: then a walk back through them has
        one goal at a time, and meets itself where it goes round a cycle.
        """
        if isinstance(goal, Unwanted):
            return (4, 0)
        plan, matching = self._whole(goal), self._matching(state, goal)
        is_open = [isinstance(term, Var) for term in state.store.row(goal.terms)]
        if all(is_open):
            return (3 if isinstance(plan, Fixpoint) else 1, matching)
        if isinstance(plan, Fixpoint):
            return (0 if matching and not any(is_open) else 2, matching)
        return (0, matching)

    def _held(self, goal: Wanted, plan: Plan, rest: SearchState) -> Iterator[SearchState]:
        """Take a row that is there."""
        terms = rest.store.row(goal.terms)
        if len(self._present.matching(plan, terms)) > _FAN:
            self.complete = False
        for row in self._present.ordered(plan, terms, _FAN):
            state = rest.fork()
            if state.store.same_row(goal.terms, row):
                yield state

    def _edited(self, goal: Wanted, plan: Scan, rest: SearchState) -> Iterator[SearchState]:
        """Suppose a row comes, or one with its key changes."""
        relation = self._present.facts.relation(plan.relation)
        yield from self._supposed(goal, relation, rest)
        if not self._present.editable(relation):
            return
        terms = rest.store.row(goal.terms)
        keys = tuple(relation.index(name) for name in relation.key)
        if not keys:
            yield rest.plus(Draft(relation, None, terms))
            return
        known = tuple(
            terms[index] if index in keys else Var(relation.columns[index])
            for index in range(len(terms))
        )
        holders = self._present.ordered(plan, known, _FAN)
        for before in holders:
            if rest.store.may_be(before, terms):
                continue
            state = rest.fork()
            fixed = all(state.store.same(terms[index], before[index]) for index in keys)
            if fixed:
                yield state.plus(Draft(relation, before, terms, before))
        if not holders or any(isinstance(terms[index], Var) for index in keys):
            state = rest.plus(Draft(relation, None, terms))
            taken = {tuple(row[index] for index in keys) for row in self._present.contents(plan)}
            key = tuple(terms[index] for index in keys)
            state.store.add(fresh(key, taken))
            yield state

    def _arriving(self, goal: Wanted, plan: Window, rest: SearchState) -> Iterator[SearchState]:
        """Suppose a stream row arrives that enters a window."""
        inner: Plan = plan.child
        terms, state = goal.terms, rest.fork()
        while not isinstance(inner, Scan):
            match inner:
                case Ship():
                    pass
                case Filter():
                    if not state.store.require(inner.predicate, inner.child.columns, terms):
                        return
                case Project():
                    below = state.store.under(inner, terms)
                    if below is None:
                        return
                    terms = below
                case _:
                    self.complete = False
                    return
            inner = inner.child
        relation = self._present.facts.relation(inner.relation)
        wanted = replace(goal, plan=inner, terms=terms)
        yield from self._supposed(wanted, relation, state)
        if self._present.editable(relation):
            names = [column.name for column in plan.columns]
            parts = [names.index(name) for name in plan.partition_by]
            known = state.store.row(goal.terms)
            like = tuple(
                known[p] if p in parts else Var(plan.columns[p]) for p in range(len(known))
            )
            held = self._present.ordered(plan, like, 1) if parts else []
            hint = held[0] if held and len(held[0]) == len(terms) else None
            yield state.plus(Draft(relation, None, state.store.row(terms), hint))

    def _supposed(
        self, goal: Wanted, relation: Relation, rest: SearchState
    ) -> Iterator[SearchState]:
        """Take a row that a draft inserts already."""
        for draft in rest.drafts:
            if draft.relation is relation and draft.after is not None:
                state = rest.fork()
                if state.store.same_row(goal.terms, draft.after):
                    yield state

    def _recursive(
        self, goal: Wanted, plan: Fixpoint, within: Recursions, rest: SearchState
    ) -> Iterator[SearchState]:
        """Take a row of the recursion, or derive one by its base or its step."""
        yield from self._held(goal, plan, rest)
        terms = rest.store.row(goal.terms)
        there = bool(self._present.matching(plan, terms))
        if there and not any(isinstance(term, Var) for term in terms):
            return
        if there and plan.best is not None:
            names = [column.name for column in plan.columns]
            if not any(isinstance(terms[names.index(key)], Var) for key in plan.best.keys):
                # The group has its best row; how another might beat it is not searched.
                self.complete = False
                return
        inner = self._present.around(plan, within)
        for part in (plan.base, plan.step):
            state = rest.fork()
            # Where rows are there, more of them are worth less than a row that is not.
            state.detours += there
            yield replace(state, goals=(*state.goals, Wanted(part, goal.terms, inner)))

    def _grouped(self, goal: Wanted, plan: GroupBy, rest: SearchState) -> Iterator[SearchState]:
        """Suppose one more row in the group, or one fewer; what that gives is for the proof."""
        self.complete = False
        columns = plan.child.columns
        inner: list[Term] = [Var(column) for column in columns]
        for index, term in zip(_indices(plan.keys, columns), goal.terms, strict=False):
            inner[index] = term
        yield replace(
            rest.fork(), goals=(*rest.goals, Wanted(plan.child, tuple(inner), goal.within))
        )
        yield from self._fewer(plan.child, plan.keys, inner, rest)

    def _ranked(self, goal: Wanted, plan: TopK | Over, rest: SearchState) -> Iterator[SearchState]:
        """Suppose the row is there, and one fewer beside it; what that gives is for the proof."""
        self.complete = False
        columns = plan.child.columns
        below = Wanted(plan.child, goal.terms[: len(columns)], goal.within)
        state = replace(rest.fork(), goals=(*rest.goals, below))
        yield state
        yield from self._fewer(plan.child, plan.partition_by, below.terms, state)

    def _fewer(
        self, child: Plan, keys: Sequence[str], terms: Sequence[Term], rest: SearchState
    ) -> Iterator[SearchState]:
        """Suppose one of the rows that agree with some columns goes."""
        known = rest.store.row(terms)
        parts = _indices(keys, child.columns)
        if any(isinstance(known[index], Var) for index in parts):
            return
        like = tuple(
            term if index in parts else Var(child.columns[index])
            for index, term in enumerate(known)
        )
        for member in self._present.ordered(child, like, _MEMBERS):
            yield from self._killed(child, [member], rest)

    def _without(self, goal: Unwanted, rest: SearchState) -> Iterator[SearchState]:
        """See that nothing on the right matches: by choice of open values, or by loss of rows."""
        plan = goal.plan
        left = rest.store.row(goal.left)
        lefts = [column.name for column in plan.left.columns]
        rights = [column.name for column in plan.right.columns]
        wanted: list[Term] = [Var(column) for column in plan.right.columns]
        for one, other in plan.on:
            value = left[lefts.index(one)]
            if value is None:
                yield rest.fork()
                return
            wanted[rights.index(other)] = value
        state, matching = rest.fork(), []
        for row in self._present.matching(plan.right, tuple(wanted)):
            check = differs(plan, left + row)
            if any(isinstance(check.terms[index], Var) for index in check.used):
                state.store.add(check)
            elif not check.compute(left + row):  # type: ignore[arg-type]
                matching.append(row)
        if matching:
            yield from self._killed(plan.right, matching, state)
        else:
            yield state

    def _killed(self, plan: Plan, rows: list[Row], rest: SearchState) -> Iterator[SearchState]:
        """Suppose base rows go, without which none of some rows of a plan is there."""
        removals, complete = self._present.removals(plan, rows)
        self.complete = self.complete and complete
        for lost in removals:
            state = rest.fork()
            known = {(draft.relation.name, draft.before) for draft in state.drafts}
            state.drafts += tuple(
                Draft(self._present.facts.relation(name), row, None)
                for name, row in sorted(lost, key=repr)
                if (name, row) not in known
            )
            yield state


def _indices(names: Sequence[str], columns: Sequence[Column]) -> list[int]:
    known = [column.name for column in columns]
    return [known.index(name) for name in names]
