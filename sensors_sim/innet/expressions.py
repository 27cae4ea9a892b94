"""Expressions on motes, which cannot put a query in error: what is out of range is null to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from aspen.algebra import evaluate
from aspen.algebra.expr import Expr
from aspen.algebra.whole import OutOfRange
from aspen.model.schema import Column, Row

Made = TypeVar("Made")


def compile_predicate(expr: Expr, columns: Sequence[Column]) -> Callable[[Row], bool]:
    """Returns the function that says whether an expression is true of a row."""
    return _total(evaluate.compile_predicate(expr, columns), instead=False)


def compile_row(exprs: Sequence[Expr], columns: Sequence[Column]) -> Callable[[Row], Row]:
    """Returns the function that computes a row; one with a number out of range is all nulls."""
    return _total(evaluate.compile_row(exprs, columns), instead=(None,) * len(exprs))


def _total(compute: Callable[[Row], Made], instead: Made) -> Callable[[Row], Made]:
    def computed(row: Row) -> Made:
        try:
            return compute(row)
        except OutOfRange:
            return instead

    return computed
