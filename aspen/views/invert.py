"""Invert: what a wanted row asks of an operator's input, and of values that are still open."""

from __future__ import annotations

from collections.abc import Callable

from aspen.algebra.expr import Col, Const
from aspen.algebra.plan import AntiJoin, Project
from aspen.model.schema import Row
from aspen.views.unify import Check, Store, Term, Terms, Var, check_of


def computed(plan: Project, terms: Terms, store: Store) -> Terms | None:
    """Returns the row a projection takes, None where no row can give the wanted one."""
    columns = plan.child.columns
    places = {column.name: place for place, column in enumerate(columns)}
    inner: list[Term] = [Var(column) for column in columns]
    for (_, expr), term in zip(plan.outputs, terms, strict=True):
        if isinstance(expr, Col):
            if not store.same(inner[places[expr.name]], term):
                return None
        elif isinstance(expr, Const) and not store.same(term, expr.value):
            return None
    given = tuple(inner)
    for (_, expr), term in zip(plan.outputs, terms, strict=True):
        if not isinstance(expr, Col | Const):
            store.add(check_of(expr, columns, given, out=term))
    return given


def may_be(row: Row, terms: Terms, store: Store) -> bool:
    """Whether a row fits terms already, so that nothing needs to change."""
    trial = store.fork()
    return trial.same_row(terms, row) and trial.settle()


def fresh(key: Terms, taken: set[Row]) -> Check:
    """Check that a key is none of those taken."""
    used = tuple(range(len(key)))
    return Check(lambda row: row not in taken, key, used, True, None, ())


def fails(check: Check) -> Check:
    """Check that another check does not hold."""
    compute: Callable[[Row], object] = check.compute
    return Check(
        lambda row: compute(row) is not True, check.terms, check.used, True, None, check.columns
    )


def differs(terms: Terms, plan: AntiJoin, lefts: list[str], rights: list[str], width: int) -> Check:
    """Check that a joined row is no match of an anti-join."""
    pairs = [(lefts.index(one), width + rights.index(other)) for one, other in plan.on]
    used = tuple(place for pair in pairs for place in pair)
    compute: Callable[[Row], object] | None = None
    more: tuple[int, ...] = ()
    if plan.residual is not None:
        check = check_of(plan.residual, plan.left.columns + plan.right.columns, terms)
        compute, more = check.compute, check.used
    return Check(
        lambda row: (
            any(row[one] is None or row[one] != row[other] for one, other in pairs)
            or (compute is not None and compute(row) is not True)
        ),
        terms,
        tuple(dict.fromkeys((*used, *more))),
        True,
        None,
        plan.left.columns + plan.right.columns,
    )
