"""Choose: which strategy maintains a recursion at the least cost, and the reason as a sentence.

The model is deliberately coarse: it counts derivations, the one thing whose price was measured, and
guesses how many of them a change moves. `manage.py bench strategies` measures the constants, and
how far the choice is from the best on each of its shapes.

Receives: a plan, rows and changes per relation.     Gives: a strategy's name and a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from aspen.algebra.plan import (
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    Plan,
    RecursiveRef,
    Scan,
    Union,
    Values,
    Window,
    children,
    nodes,
    relations_of,
)
from aspen.views.operators.support.strategies import AUTO, DEFAULT, TRAVERSAL, canonical
from aspen.views.summed_shape import SummedShape, summed_shape
from aspen.views.traversal.shape import traversal_shape

LOAD_US = 1.9  # per derivation, from scratch; measured: bench strategies
MOVE_US = 6.5  # per derivation withdrawn and offered again; measured there, by justification
PROVE_US = 1.7  # per derivation looked at for a proof; measured there, backward-forward's extra

FANOUT = 3.0  # own guess where nothing is known: rows that a row joins with; corridors have 2 to 4
KEPT = 0.5  # own guess: part of the rows that a selection keeps
UNKNOWN_ROWS = 1_000.0  # own guess for a relation nobody counted


class KnownCounts(Protocol):
    """What is known of relations and views."""

    def rows(self, relation: str) -> float | None:
        """Returns how many rows a relation has, of a stream how many keys; None if not counted."""

    def changes(self, relation: str) -> float:
        """Returns how many of its rows change in an epoch in which some do."""


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """What was chosen.

    Args:
        strategy: its name.
        reason: one clause, behind "because".
    """

    strategy: str
    reason: str


@dataclass(frozen=True, slots=True)
class RecursionProfile:
    """A recursion in numbers; all of them are estimates.

    Args:
        edges: rows of the input its step goes along.
        rows: of the view, if every source reaches everything.
        derivations: of those rows.
        moved: derivations that rest on the rows that change in an epoch.
        changes: rows of its inputs that change in an epoch.
        steps: input rows on the way to a row.
        selects: whether only the best row of a group goes on.
    """

    edges: float
    rows: float
    derivations: float
    moved: float
    changes: float
    steps: float
    selects: bool

    @property
    def recompute_ms(self) -> float:
        """Cost of an epoch, from scratch."""
        return self.derivations * LOAD_US / 1e3

    @property
    def justification_ms(self) -> float:
        """Cost of an epoch if all that rests on what changed is retracted."""
        return self.moved * MOVE_US / 1e3

    @property
    def backward_forward_ms(self) -> float:
        """Cost of an epoch if a proof is looked for first, and what has none is retracted."""
        return self.moved * PROVE_US / 1e3 + self.falling * self.justification_ms

    @property
    def falling(self) -> float:
        """Part of the doubted rows for which no proof is found, 0 to 1."""
        if self.selects:
            return 1.0  # a best row's other derivations mostly cost more, so they prove nothing
        # Another way to a row is as long, and stands if none of its input rows went too.
        return 1.0 - math.pow(1.0 - min(1.0, self.changes / self.edges), self.steps)


def choose(plan: Plan, known: KnownCounts) -> StrategyChoice:
    """Choose how a plan's recursion is maintained; of several, the largest decides."""
    found = list(recursions(plan))
    if not found:
        return StrategyChoice(DEFAULT, "nothing is recursive, so there is nothing to choose")
    largest = max(found, key=lambda one: profile_of(one, known).derivations)
    profile = profile_of(largest, known)
    if any(one.recursion == largest for one in summed(plan)):
        return StrategyChoice(
            TRAVERSAL,
            "the recursion is only counted or added up, so the ways to a row need not be told "
            "apart: each key keeps their number and their sums",
        )
    if traversal_shape(largest) is not None:
        return StrategyChoice(
            TRAVERSAL,
            "the recursion goes along edges, and keeping one edge per row costs least: about "
            f"{_count(profile.moved)} of {_count(profile.derivations)} derivations move with a"
            " change",
        )
    costs = {
        "backward-forward": profile.backward_forward_ms,
        "justification": profile.justification_ms,
        "recompute": profile.recompute_ms,
    }
    best = min(costs, key=lambda name: costs[name])
    return StrategyChoice(best, _REASONS[best](profile))


def choose_or_take(plan: Plan, known: KnownCounts, spelt: str = AUTO) -> StrategyChoice:
    """Take the strategy somebody named, or choose one for `auto`.

    Raises:
        UnknownStrategy: no such strategy.
    """
    if spelt == AUTO:
        return choose(plan, known)
    return StrategyChoice(canonical(spelt), "it was asked for")


_REASONS: dict[str, Callable[[RecursionProfile], str]] = {
    "recompute": lambda s: (
        f"{_count(s.changes)} of {_count(s.edges)} input rows change in an epoch, which costs "
        f"{_ms(min(s.justification_ms, s.backward_forward_ms))} to follow and "
        f"{_ms(s.recompute_ms)} to compute anew"
    ),
    "justification": lambda s: (
        f"a change moves about {_count(s.moved)} of {_count(s.derivations)} derivations in "
        f"{_ms(s.justification_ms)}, where computing anew takes {_ms(s.recompute_ms)}; only the "
        "best rows go on, so other proofs are seldom found"
    ),
    "backward-forward": lambda s: (
        f"rows have other derivations to rest on: looking for proofs of about {_count(s.moved)} "
        f"of {_count(s.derivations)} takes {_ms(s.backward_forward_ms)}, where retracting takes "
        f"{_ms(s.justification_ms)} and computing anew {_ms(s.recompute_ms)}"
    ),
}


def profile_of(recursion: Fixpoint, known: KnownCounts) -> RecursionProfile:
    """Estimate a recursion."""
    steps = children(recursion)[1:]
    base = recursion.base
    fixed = [part for step in steps for part in fixed_parts(step)] or [base]
    edges = max(1.0, *(estimate(part, known) for part in fixed))
    nodes = max(1.0, edges / FANOUT)
    stepped = frozenset().union(*(relations_of(part) for part in fixed))
    # A recursion that begins with all edges goes from everywhere to everywhere.
    every = bool(relations_of(base)) and relations_of(base) <= stepped
    sources = nodes if every else max(1.0, estimate(base, known))
    read = relations_of(base) | stepped
    changes = max((known.changes(name) for name in sorted(read)), default=0.0)
    hops = math.sqrt(nodes)  # the diameter of a plane graph
    moved = sources * hops * max(1.0, changes)
    derivations = sources * edges
    return RecursionProfile(
        edges,
        sources * nodes,
        derivations,
        min(derivations, moved),
        changes,
        hops,
        recursion.best is not None,
    )


def estimate(plan: Plan, known: KnownCounts) -> float:
    """Estimate how many rows a plan has."""
    match plan:
        case Scan():
            counted = known.rows(plan.relation)
            return UNKNOWN_ROWS if counted is None else counted
        case Values():
            return float(len(plan.rows))
        case RecursiveRef():
            return 0.0
        case Window():
            return estimate(plan.child, known) * (plan.rows or 1)
        case Filter():
            return estimate(plan.child, known) * KEPT
        case Join():
            left, right = estimate(plan.left, known), estimate(plan.right, known)
            return max(left, right) if plan.on else left * right * KEPT
        case Union():
            return sum(estimate(child, known) for child in plan.children)
        case Fixpoint():
            return profile_of(plan, known).rows
        case _:
            return estimate(children(plan)[0], known)


def recursions(plan: Plan) -> Iterator[Fixpoint]:
    """Returns the recursions of a plan, each once."""
    found: set[Fixpoint] = set()
    met: set[int] = set()
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if id(node) not in met:
            met.add(id(node))
            waiting += children(node)
            if isinstance(node, Fixpoint) and node not in found:
                found.add(node)
                yield node


def summed(plan: Plan) -> list[SummedShape]:
    """Returns the recursions of a plan that it only counts or adds up."""
    shapes = [summed_shape(node) for node in nodes(plan) if isinstance(node, GroupBy)]
    return [shape for shape in shapes if shape is not None]


def fixed_parts(plan: Plan) -> Iterator[Plan]:
    """Returns the largest parts of a step that do not read the recursion."""
    if any(isinstance(node, RecursiveRef) for node in nodes(plan)):
        for child in children(plan):
            yield from fixed_parts(child)
    else:
        yield plan


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _ms(duration_ms: float) -> str:
    return f"{duration_ms:.2g} ms" if duration_ms < 1 else f"{duration_ms:,.0f} ms"
