"""The federation: which site runs which part of a plan, at what cost, and why."""
