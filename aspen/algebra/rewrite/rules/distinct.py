"""Distinct over what is a set already."""

from __future__ import annotations

from aspen.algebra.plan import Distinct, Filter, Fixpoint, GroupBy, Plan
from aspen.algebra.rewrite.rule import Rule


def is_set(plan: Plan) -> bool:
    """Whether every row of a plan surely has weight 1."""
    match plan:
        case Distinct() | GroupBy() | Fixpoint():
            return True
        case Filter(child):
            return is_set(child)
        case _:
            return False


# Claim: distinct changes nothing where every weight is 1.
# Guard: a Project over a set is no set, as rids repeat in the counter-example.
DISTINCT_OF_SET = Rule(
    name="distinct_of_set",
    claim="distinct(s) = s, s a set",
    counter_example="SELECT DISTINCT rid FROM (SELECT DISTINCT mid, rid FROM machine) m",
    match=lambda plan: isinstance(plan, Distinct),
    guard=lambda plan: isinstance(plan, Distinct) and is_set(plan.child),
    build=lambda plan: plan.child if isinstance(plan, Distinct) else None,
)
