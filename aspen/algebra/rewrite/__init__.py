"""Border 4: plan → better plan, by rules that keep its meaning."""

from aspen.algebra.rewrite.driver import RULES, RewriteDoesNotSettle, rewrite

__all__ = ["RULES", "RewriteDoesNotSettle", "rewrite"]
