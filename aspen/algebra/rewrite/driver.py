"""Applies rules until none changes anything, and names those that never stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan, children, with_children
from aspen.algebra.rewrite.pipeline import FLATTENING, RULES
from aspen.algebra.rewrite.rule import Rule
from aspen.errors import AspenError

_MOST_STEPS = 10_000
_DEEPER = 80
"""Nodes a plan may be deeper after rewriting; magic sets and domains put some above each node."""


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
    steps: list[Step] = []
    seen = {plan: 0}
    deepest = _depth(plan) + _DEEPER
    settled: list[set[int]] = [set() for _ in rules]
    while True:
        step = _next(plan, rules, settled)
        if step is None:
            return steps
        steps.append(step)
        plan = step.plan
        if _depth(plan) > deepest or plan in seen or len(steps) > _MOST_STEPS:
            cycle = steps[seen.get(plan, len(steps) - 2) :]
            raise _unsettled(cycle)
        seen[plan] = len(steps)


def _depth(plan: Plan) -> int:
    return 1 + max(map(_depth, children(plan)), default=0)


def _next(plan: Plan, rules: Sequence[Rule], settled: Sequence[set[int]]) -> Step | None:
    for rule, known in zip(rules, settled, strict=True):
        changed = _anywhere(plan, rule, known)
        if changed is not None:
            return Step(rule, changed)
    return None


def _anywhere(plan: Plan, rule: Rule, settled: set[int]) -> Plan | None:
    """Applies a rule at the first node, from the root down, that it changes.

    Args:
        settled: identities of the nodes in which the rule changes nothing; more are added. The
            steps hold every node, so no other gets its identity.
    """
    if id(plan) in settled:
        return None
    changed = rule.apply(plan)
    if changed is not None:
        return changed
    inputs = children(plan)
    for index, child in enumerate(inputs):
        below = _anywhere(child, rule, settled)
        if below is not None:
            return with_children(plan, (*inputs[:index], below, *inputs[index + 1 :]))
    settled.add(id(plan))
    return None


def _unsettled(cycle: Sequence[Step]) -> RewriteDoesNotSettle:
    names = list(dict.fromkeys(step.rule.name for step in cycle))
    first, last = cycle[0].plan, cycle[-1].plan
    return RewriteDoesNotSettle(
        f"rules {' and '.join(names)} do not settle:\n{plan_text(first)}becomes\n{plan_text(last)}",
        found=", ".join(names),
        attempt="give one of them a guard that refuses what the other builds",
    )
