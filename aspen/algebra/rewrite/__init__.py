"""Border 4: plan → better plan, by rules that keep its meaning."""

from aspen.algebra.rewrite.driver import RewriteDoesNotSettle, Step, flat, rewrite, rewrite_steps
from aspen.algebra.rewrite.pipeline import FLATTENING, RULES
from aspen.algebra.rewrite.rule import Rule
