"""Abduce: which base rows would make a missing row derivable, walking its plan from the top.

    free_machine('m12', ?, ?)      goals         machine('m12', …) ∧ seat('m12', kg < 5) ∧ …
    machine('m12', 'A', 7)         is there      costs nothing
    seat('m12', kg < 5)            is not        costs an edit: this is the answer

Law:        gives drafts with fewest edits first. A draft is a guess where the plan aggregates or
            picks best rows; `why_not` proves each one before it is reported.
Algorithm:  own; abductive logic programming (Kakas, Kowalski, Toni 1992) over plans, searched
            uniformly by number of edits, then of steps. In a recursion the walk goes back from
            the wanted row over what is there, so it ends at the frontier of what is reached.
Ends:       by `STATES`, by `EDITS`, or when nothing is left to try; `complete` says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count

from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    Plan,
    Project,
    RecursiveRef,
    Scan,
    Ship,
    Union,
    Window,
)
from aspen.model.schema import Relation, Row
from aspen.views.drafts import Draft, Goal, Recursions, SearchState, Unwanted, Wanted
from aspen.views.present import SEARCH, Present
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
            size, steps = len(plain.drafts), plain.steps
            heappush(self._queue, (size + plain.detours, steps, next(self._serial), plain))

    def _unfold(self, state: SearchState) -> Iterator[SearchState]:
        """Take apart every goal that can be met in one way, or by one input of a union."""
        for index, goal in enumerate(state.goals):
            if not isinstance(goal, Wanted) or not isinstance(
                goal.plan, (Ship, Distinct, Filter, Project, Join, AntiJoin, Union)
            ):
                continue
            rest = state.goals[:index] + state.goals[index + 1 :]
            for store, goals in self._inner(goal, state.store):
                after = replace(state, goals=goals + rest)
                after.store = store
                yield from self._unfold(after)
            return
        yield state

    def _inner(self, goal: Wanted, store: Store) -> Iterator[tuple[Store, tuple[Goal, ...]]]:
        plan, terms = goal.plan, goal.terms
        match plan:
            case Ship() | Distinct():
                yield store, (replace(goal, plan=plan.child),)
            case Filter():
                if store.require(plan.predicate, plan.child.columns, terms):
                    yield store, (replace(goal, plan=plan.child),)
            case Project():
                inner = store.under(plan, terms)
                if inner is not None:
                    yield store, (replace(goal, plan=plan.child, terms=inner),)
            case Join():
                yield from self._pair(plan, goal, store)
            case AntiJoin():
                yield store, (replace(goal, plan=plan.left), Unwanted(plan, terms))
            case Union():
                for child in plan.children:
                    yield store.fork(), (replace(goal, plan=child),)

    def _pair(
        self, plan: Join, goal: Wanted, store: Store
    ) -> Iterator[tuple[Store, tuple[Goal, ...]]]:
        terms, width = goal.terms, len(plan.left.columns)
        names = [column.name for column in plan.columns]
        for left, right in plan.on:
            index = names.index(left)
            if not store.equal(terms[index], terms[names.index(right)], plan.columns[index]):
                return
        if store.require(plan.residual, plan.columns, terms):
            yield (
                store,
                (
                    replace(goal, plan=plan.left, terms=terms[:width]),
                    replace(goal, plan=plan.right, terms=terms[width:]),
                ),
            )

    def _expand(self, state: SearchState) -> Iterator[SearchState]:
        """Meet one goal, the one with least choice, in every way."""
        index = min(range(len(state.goals)), key=lambda p: self._choice(state, state.goals[p]))
        goal = state.goals[index]
        rest = replace(state, goals=state.goals[:index] + state.goals[index + 1 :])
        if isinstance(goal, Unwanted):
            yield from self._without(goal, rest)
            return
        plan = goal.plan
        match plan:
            case Scan():
                yield from self._held(goal, plan, rest)
                yield from self._edited(goal, plan, rest)
            case Window():
                yield from self._held(goal, plan, rest)
                yield from self._arriving(goal, plan, rest)
            case Fixpoint():
                yield from self._recursive(goal, plan, goal.within, rest)
            case RecursiveRef():
                whole = next(fixpoint for name, fixpoint in goal.within if name == plan.name)
                yield from self._recursive(goal, whole, goal.within, rest)
            case GroupBy():
                yield from self._held(goal, plan, rest)
                yield from self._grouped(goal, plan, rest)
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
        plan = goal.plan
        if isinstance(plan, RecursiveRef):
            plan = next(fixpoint for name, fixpoint in goal.within if name == plan.name)
        terms = state.store.row(goal.terms)
        if all(isinstance(term, Var) for term in terms):
            return (3 if isinstance(plan, Fixpoint) else 1, len(self._present.contents(plan)))
        matching = len(self._present.matching(plan, terms))
        if isinstance(plan, Fixpoint):
            known = matching and not any(isinstance(term, Var) for term in terms)
            return (0 if known else 2, matching)
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
        columns, width = plan.child.columns, len(plan.keys)
        names = [column.name for column in columns]
        keys = [names.index(key) for key in plan.keys]
        inner: list[Term] = [Var(column) for column in columns]
        for index, term in zip(keys, goal.terms, strict=False):
            inner[index] = term
        state = rest.fork()
        yield replace(state, goals=(*state.goals, Wanted(plan.child, tuple(inner), goal.within)))
        known = rest.store.row(goal.terms[:width])
        if any(isinstance(term, Var) for term in known):
            return
        for member in self._present.ordered(plan.child, rest.store.row(inner), _MEMBERS):
            yield from self._killed(plan.child, [member], rest)

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
