"""A rewrite rule: a named value with an argument for itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aspen.algebra.plan import Plan


@dataclass(frozen=True, slots=True)
class Rule:
    """One equivalence of plans, used from left to right.

    Args:
        name: what it does, as goldens and EXPLAIN name it.
        claim: the equivalence, in algebra or one sentence.
        counter_example: where it would be wrong without its guard, or why nothing is.
        build: the new node; None where a node has not the shape, or nothing would change.
        match: whether a node has the shape; None where `build` says so itself.
        guard: whether the claim holds for it; None where it holds for all of the shape.

    Law: over all data, the node and what is built for it have the same rows and columns.
    """

    name: str
    claim: str
    counter_example: str
    build: Callable[[Plan], Plan | None]
    match: Callable[[Plan], bool] | None = None
    guard: Callable[[Plan], bool] | None = None

    def apply(self, plan: Plan) -> Plan | None:
        """Rewrite the root of a plan; None where the rule does not apply or changes nothing."""
        if self.match is not None and not self.match(plan):
            return None
        if self.guard is not None and not self.guard(plan):
            return None
        built = self.build(plan)
        return None if built is None or built == plan else built
