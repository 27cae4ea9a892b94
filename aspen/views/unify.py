"""Unify: rows of which some values are open, and what must hold of them.

    terms     (mid 'm12', rid ?r, node ?n)      store    ?r = 'A'      checks    ?kg < 5.0

Law:        `settle` is false only if no values of the open variables pass all checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from aspen.algebra.evaluate import compile_expr
from aspen.algebra.expr import Col, Const, Expr, Op, columns_in, conjuncts
from aspen.algebra.plan import Project
from aspen.algebra.plan_joins import Matching
from aspen.model.schema import Column, Row, Value


class Var:
    """A value that is open; equal only to itself."""

    __slots__ = ("column",)

    def __init__(self, column: Column) -> None:
        self.column = column

    def __repr__(self) -> str:
        return f"?{self.column.name}"


Term = Value | Var
Terms = tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """Something that must hold once its variables have values.

    Args:
        compute: over a row of `terms`.
        terms: the row; only the values at `used` count.
        out: what `compute` must give; True for a predicate.
        expr: what is computed, None where no text says it.
        columns: the row's, by which `expr` names its values.
    """

    compute: Callable[[Row], Value]
    terms: Terms
    used: tuple[int, ...]
    out: Term
    expr: Expr | None
    columns: tuple[Column, ...]


def check_of(expr: Expr, columns: tuple[Column, ...], terms: Terms, *, out: Term = True) -> Check:
    """Returns the check that an expression over a row has some value."""
    read = columns_in(expr)
    used = tuple(index for index, column in enumerate(columns) if column.name in read)
    return Check(compile_expr(expr, columns), terms, used, out, expr, columns)


def fresh(key: Terms, taken: set[Row]) -> Check:
    """Check that a key is none of those taken."""
    used = tuple(range(len(key)))
    return Check(lambda row: row not in taken, key, used, True, None, ())


def differs(plan: Matching, terms: Terms) -> Check:
    """Check that a left and a right row do not match."""
    lefts = [column.name for column in plan.left.columns]
    rights = [column.name for column in plan.right.columns]
    pairs = [(lefts.index(one), len(lefts) + rights.index(other)) for one, other in plan.on]
    used = [index for pair in pairs for index in pair]
    compute: Callable[[Row], Value] | None = None
    if plan.residual is not None:
        check = check_of(plan.residual, plan.left.columns + plan.right.columns, terms)
        compute = check.compute
        used += check.used
    return Check(
        lambda row: (
            any(row[one] is None or row[one] != row[other] for one, other in pairs)
            or (compute is not None and compute(row) is not True)
        ),
        terms,
        tuple(dict.fromkeys(used)),
        True,
        None,
        plan.left.columns + plan.right.columns,
    )


class Store:
    """Values of variables, and the checks that still wait for some."""

    __slots__ = ("bound", "checks", "moved")

    def __init__(self) -> None:
        self.bound: dict[Var, Term] = {}
        self.checks: list[Check] = []
        self.moved = False

    def fork(self) -> Store:
        """Returns a copy that goes its own way."""
        other = Store()
        other.bound = dict(self.bound)
        other.checks = list(self.checks)
        return other

    def walk(self, term: Term) -> Term:
        """Returns a term's value as far as it is known."""
        while isinstance(term, Var):
            found = self.bound.get(term, term)
            if found is term:
                break
            term = found
        return term

    def row(self, terms: Iterable[Term]) -> Terms:
        """Returns the values of terms as far as they are known."""
        return tuple(map(self.walk, terms))

    def same(self, one: Term, other: Term) -> bool:
        """Make two terms the same value, null being one of them; false if they cannot be."""
        one, other = self.walk(one), self.walk(other)
        if isinstance(one, Var):
            if one is not other:
                self.bound[one] = other
                self.moved = True
            return True
        if isinstance(other, Var):
            self.bound[other] = one
            self.moved = True
            return True
        return one == other and (one is None) == (other is None)

    def same_row(self, terms: Sequence[Term], row: Sequence[Term]) -> bool:
        """Make rows the same, value by value."""
        return all(self.same(term, value) for term, value in zip(terms, row, strict=True))

    def equal(self, one: Term, other: Term, column: Column) -> bool:
        """Make two terms equal as SQL has it: null equals nothing."""
        if not self.same(one, other):
            return False
        value = self.walk(one)
        if isinstance(value, Var):
            self.add(Check(_there, (value,), (0,), True, None, (column,)))
        return value is not None

    def require(self, predicate: Expr | None, columns: tuple[Column, ...], terms: Terms) -> bool:
        """Make a predicate over a row true, as far as is known now."""
        names = [column.name for column in columns]
        for part in conjuncts(predicate):
            match part:
                case Op("=", Col(left), Col(right)):
                    index = names.index(left)
                    fine = self.equal(terms[index], terms[names.index(right)], columns[index])
                case Op("=", Col(name), Const(value)) | Op("=", Const(value), Col(name)):
                    index = names.index(name)
                    fine = self.equal(terms[index], value, columns[index])
                case _:
                    self.add(check_of(part, columns, terms))
                    fine = True
            if not fine:
                return False
        return True

    def under(self, plan: Project, terms: Terms) -> Terms | None:
        """Returns the row a projection takes to give a row, None where no row can."""
        columns = plan.child.columns
        inner = {column.name: Var(column) for column in columns}
        given = tuple(inner.values())
        for (_, expr), term in zip(plan.outputs, terms, strict=True):
            match expr:
                case Col(name):
                    fine = self.same(inner[name], term)
                case Const(value):
                    fine = self.same(term, value)
                case _:
                    self.add(check_of(expr, columns, given, out=term))
                    fine = True
            if not fine:
                return None
        return given

    def may_be(self, row: Row, terms: Terms) -> bool:
        """Whether a row fits terms already, so that nothing needs to change."""
        trial = self.fork()
        return trial.same_row(terms, row) and trial.settle()

    def add(self, check: Check) -> None:
        """Note a check; `settle` looks at it."""
        self.checks.append(check)
        self.moved = True

    def settle(self) -> bool:
        """Compute what can be computed; false if a check fails."""
        while self.moved:
            self.moved = False
            waiting: list[Check] = []
            checks, self.checks = self.checks, waiting
            for check in checks:
                row = list(check.terms)
                for index in check.used:
                    row[index] = self.walk(row[index])
                if any(isinstance(row[index], Var) for index in check.used):
                    waiting.append(check)
                    continue
                value = check.compute(tuple(row))  # type: ignore[arg-type]
                if not (value is True if check.out is True else self.same(check.out, value)):
                    return False
        return True


def _there(row: Row) -> Value:
    return row[0] is not None
