"""Rotate: a mutual recursion, seen from each of its relations."""

from __future__ import annotations

from collections.abc import Iterator

from aspen.algebra.plan import Fixpoint, Join


def kept_as(plan: Fixpoint | Join) -> Iterator[Fixpoint | Join]:
    """Returns the plans that the node of a recursion, or of joins, keeps."""
    yield from rotations(plan) if isinstance(plan, Fixpoint) else (plan,)


def rotations(plan: Fixpoint) -> Iterator[Fixpoint]:
    """Returns the plan of every relation of a recursion, the plan itself first.

    Law: they are kept by one node of a circuit, which numbers its relations alike for all.
    """
    relations = plan.relations
    yield plan
    for index, one in enumerate(relations[1:], start=1):
        rest = relations[:index] + relations[index + 1 :]
        yield Fixpoint(one.name, one.columns, one.base, one.step, one.best, rest)
