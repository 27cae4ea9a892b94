"""Border 4: plan → better plan, by rules that keep its meaning."""

from aspen.algebra.rewrite.driver import RewriteDoesNotSettle, Step, rewrite, rewrite_steps
from aspen.algebra.rewrite.pipeline import RULES
from aspen.algebra.rewrite.rule import Rule

__all__ = ["RULES", "RewriteDoesNotSettle", "Rule", "Step", "rewrite", "rewrite_steps"]
