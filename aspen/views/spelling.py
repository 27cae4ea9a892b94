"""Spelling: expressions as texts that are equal where they compute the same of equal rows."""

from __future__ import annotations

from aspen.algebra.expr import Col, Expr, substitute
from aspen.model.schema import Column


def spelling(expr: Expr, columns: tuple[Column, ...]) -> str:
    """Spell an expression by column indices, so that equal computations are spelt equally."""
    numbered: dict[str, Expr] = {c.name: Col(str(i)) for i, c in enumerate(columns)}
    # repr tells 1 from 1.0 and TRUE, which are equal in Python.
    return repr(substitute(expr, numbered))
