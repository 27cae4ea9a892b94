"""A rewrite rule: a named value with an argument for itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aspen.algebra.plan import Plan


def always(_plan: Plan) -> bool:
    """Guard of a rule that holds wherever it matches."""
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One equivalence of plans, used from left to right.

    Args:
        name: what it does, as goldens and EXPLAIN name it.
        claim: the equivalence, in algebra or one sentence.
        counter_example: where it would be wrong without its guard, or why nothing is.
        match: whether a node has the shape.
        guard: whether the claim holds for it.
        build: the new node; None when nothing would change.

    Law: over all data, the node and what is built for it have the same rows and columns.
    """

    name: str
    claim: str
    counter_example: str
    match: Callable[[Plan], bool]
    build: Callable[[Plan], Plan | None]
    guard: Callable[[Plan], bool] = always

    def apply(self, plan: Plan) -> Plan | None:
        """Rewrite the root of a plan; None where the rule does not apply or changes nothing."""
        if not self.match(plan) or not self.guard(plan):
            return None
        built = self.build(plan)
        return None if built == plan else built
