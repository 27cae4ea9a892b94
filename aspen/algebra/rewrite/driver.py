"""Applies rules until none changes anything, and names those that never stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan, children, with_children
from aspen.algebra.plan_parts import refuse_large
from aspen.algebra.rewrite.pipeline import FLATTENING, RULES
from aspen.algebra.rewrite.rule import Rule
from aspen.effort import spend
from aspen.errors import AspenError

_MOST_STEPS = 10_000
_TIMES, _DEEPER = 3, 80
"""So much deeper may a plan be after rewriting; magic sets and domains put some above each node."""


class RewriteDoesNotSettle(AspenError, code="aspen.algebra.rewrite_does_not_settle"):
    """Rules that undo each other, or grow a plan for ever."""


@dataclass(frozen=True, slots=True)
class Step:
    """One rule, applied once, and the whole plan after it."""

    rule: Rule
    plan: Plan


def rewrite(plan: Plan, rules: Sequence[Rule] = RULES) -> Plan:
    """Returns the plan on which no rule changes anything.

    Law: the same rows and columns as before, over all data.

    Raises:
        RewriteDoesNotSettle: the rules never come to rest; the message names them.
    """
    steps = rewrite_steps(plan, rules)
    return steps[-1].plan if steps else plan


def flat(plan: Plan) -> Plan:
    """Returns a plan without Apply, as engines compute it, its joins connected.

    Law: as `rewrite`.
    """
    return rewrite(plan, FLATTENING)


def rewrite_steps(plan: Plan, rules: Sequence[Rule] = RULES) -> list[Step]:
    """Rewrite, and give every step on the way.

    Raises:
        RewriteDoesNotSettle: as `rewrite`.
    """
    refuse_large(plan)
    steps: list[Step] = []
    deepest = _TIMES * plan.height + _DEEPER
    # A plan that comes again is met by one kept at some power of two [Brent 1980].
    kept, since, lap = plan, 0, 1
    settled: list[dict[int, Plan]] = [{} for _ in rules]
    while True:
        step = _next(plan, rules, settled)
        if step is None:
            return steps
        steps.append(step)
        plan = step.plan
        refuse_large(plan)
        if plan.height > deepest or plan == kept or len(steps) > _MOST_STEPS:
            raise _unsettled(steps[since if plan == kept else -2 :])
        if len(steps) == lap:
            kept, since, lap = plan, lap, 2 * lap


def _next(plan: Plan, rules: Sequence[Rule], settled: Sequence[dict[int, Plan]]) -> Step | None:
    for rule, known in zip(rules, settled, strict=True):
        changed = None if id(plan) in known else _anywhere(plan, rule, known)
        if changed is not None:
            return Step(rule, changed)
    return None


def _anywhere(plan: Plan, rule: Rule, settled: dict[int, Plan]) -> Plan | None:
    """Applies a rule at the first node, from the root down, that it changes.

    Args:
        settled: by identity, the nodes in which the rule changes nothing; more are added. They
            are held, so that no other node gets the identity of one.
    """
    spend(1, rule.name)
    changed = rule.apply(plan)
    if changed is not None:
        return changed
    inputs = children(plan)
    for index, child in enumerate(inputs):
        below = None if id(child) in settled else _anywhere(child, rule, settled)
        if below is not None:
            return with_children(plan, (*inputs[:index], below, *inputs[index + 1 :]))
    settled[id(plan)] = plan
    return None


def _unsettled(cycle: Sequence[Step]) -> RewriteDoesNotSettle:
    names = list(dict.fromkeys(step.rule.name for step in cycle))
    first, last = cycle[0].plan, cycle[-1].plan
    return RewriteDoesNotSettle(
        f"rules {' and '.join(names)} do not settle:\n{plan_text(first)}becomes\n{plan_text(last)}",
        found=", ".join(names),
        attempt="give one of them a guard that refuses what the other builds",
    )
