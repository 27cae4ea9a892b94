"""A rewrite rule: a named value with an argument for itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aspen.algebra.plan import Plan


def always(_plan: Plan) -> bool:
    """Match or guard of a rule that needs none."""
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One equivalence of plans, used from left to right.

    Args:
        name: what it does, as goldens and EXPLAIN name it.
        claim: the equivalence, in algebra or one sentence.
        counter_example: where it would be wrong without its guard, or why nothing is.
        build: the new node; None where a node has not the shape, or nothing would change.
        match: whether a node has the shape, where `build` does not say so itself.
        guard: whether the claim holds for it.

    Law: over all data, the node and what is built for it have the same rows and columns.
    """

    name: str
    claim: str
    counter_example: str
    build: Callable[[Plan], Plan | None]
    match: Callable[[Plan], bool] = always
    guard: Callable[[Plan], bool] = always

    def apply(self, plan: Plan) -> Plan | None:
        """Rewrite the root of a plan; None where the rule does not apply or changes nothing."""
        if not self.match(plan) or not self.guard(plan):
            return None
        built = self.build(plan)
        return None if built == plan else built
