"""thin."""

from __future__ import annotations
from aspen.algebra.plan import Plan


class RewriteDoesNotSettle(Exception):
    """x."""


RULES = ()


def rewrite(plan: Plan) -> Plan:
    """Thin."""
    return plan
