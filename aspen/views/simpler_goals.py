"""Simpler goals: what a wanted row needs of the plans below, where no choice of rows is needed.

    a.mid = s.mid ⋈       wanted (m12, A, m12, 7)   a wanted (m12, A) and s wanted (m12, 7)
    EXCEPT                wanted (m12)              left wanted (m12), right without it

Law:    a row of the plan is there iff, for one of the alternatives, the rows wanted are there and
        those unwanted are not. How often a row is there and what nulls are equal to is for the
        proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Join,
    MarkJoin,
    OuterJoin,
    Project,
    SetFunction,
    SetOperation,
    Ship,
    Union,
)
from aspen.views.drafts import Goal, Unwanted, Wanted
from aspen.views.unify import Store, Var

SIMPLER = (
    *(Ship, Distinct, Filter, Project, Union, SetOperation),
    *(Join, AntiJoin, OuterJoin, MarkJoin),
)

_Needed = tuple[Store, tuple[Goal, ...]]


def simpler(goal: Wanted, store: Store) -> Iterator[_Needed]:
    """Returns, of each alternative, what is known of values then and what is needed.

    Args:
        goal: of a SIMPLER plan.
    """
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
            yield from _pair(plan, goal, store)
        case OuterJoin():
            width = len(plan.left.columns)
            yield from _pair(plan, goal, store.fork())
            if all(store.same(term, None) for term in terms[width:]):
                yield store, _without_partner(plan, goal)
        case MarkJoin():
            opened = (*terms[:-1], *(Var(column) for column in plan.right.columns))
            other = store.fork()
            if other.same(terms[-1], True):
                yield from _pair(plan, replace(goal, terms=opened), other)
            if store.same(terms[-1], False):
                yield store, _without_partner(plan, goal)
        case AntiJoin():
            yield store, _without_partner(plan, goal)
        case SetOperation(function=SetFunction.EXCEPT):
            yield store, _without_partner(_lacking(plan), goal)
        case SetOperation():
            yield store, (replace(goal, plan=plan.left), replace(goal, plan=plan.right))
        case Union():
            for child in plan.children:
                yield store.fork(), (replace(goal, plan=child),)


_Matched = Join | OuterJoin | MarkJoin | AntiJoin


def _pair(plan: _Matched, goal: Wanted, store: Store) -> Iterator[_Needed]:
    """Want a row of each side, such that they match."""
    terms, columns = goal.terms, plan.left.columns + plan.right.columns
    names, width = [column.name for column in columns], len(plan.left.columns)
    for left, right in plan.on:
        index = names.index(left)
        if not store.equal(terms[index], terms[names.index(right)], columns[index]):
            return
    if store.require(plan.residual, columns, terms):
        yield (
            store,
            (
                replace(goal, plan=plan.left, terms=terms[:width]),
                replace(goal, plan=plan.right, terms=terms[width:]),
            ),
        )


@lru_cache(maxsize=64)  # states know their goals' plans by identity
def _lacking(plan: SetOperation) -> AntiJoin:
    """Returns the rows of the left side that equal none of the right."""
    lefts = [column.name for column in plan.left.columns]
    rights = [column.name for column in plan.right.columns]
    return AntiJoin(plan.left, plan.right, tuple(zip(lefts, rights, strict=True)))


def _without_partner(plan: _Matched, goal: Wanted) -> tuple[Goal, ...]:
    """Want a row of the left side, and no row of the right one that matches it."""
    left = goal.terms[: len(plan.left.columns)]
    return replace(goal, plan=plan.left, terms=left), Unwanted(plan, left)
