"""Lift: a query's constants become parameters, so that queries of one shape are one dataflow.

    σ a = 5 ∧ b < 7 (t)     ──►     t ⋈ a = p1 ∧ b < p2  parameters(p1, p2)      and (5, 7)

Rows carry the parameters they belong to as further columns, up to the root; whoever asked with
(5, 7) takes the rows that end in (5, 7). Only comparisons of a column with a constant are lifted;
other constants stay, and make queries that differ in them differ in shape. A filter that was
pushed below a window is first taken out again, where that changes nothing: a window that many
queries read must not depend on the constants of one.

Source: [GOE19] section 10.3, data-plane multi-tenancy; NiagaraCQ (2000), constants as a join table.
Own: rows carry parameter values instead of tenants, so equal questions share their rows too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from aspen.algebra.expr import COMPARISONS, Col, Const, Expr, Op, columns_in, conjunction, conjuncts
from aspen.algebra.plan import (
    AggregateFunction,
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    RecursiveRef,
    Scan,
    SetOperation,
    Ship,
    TopK,
    Union,
    Values,
    Window,
    children,
    with_children,
)
from aspen.model.schema import Column, Type, Value

PARAMETERS = "parameters"
"""Name of the relation a lifted plan reads its parameters from."""

_TYPES: dict[type, Type] = {str: Type.TEXT, bool: Type.BOOL, int: Type.INT, float: Type.FLOAT}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


@dataclass(frozen=True, slots=True)
class Lifted:
    """A plan without its constants.

    Args:
        shape: the plan; it scans `PARAMETERS`, and its last columns are the parameters.
        columns: of `PARAMETERS`.
        values: the constants, in the order of `columns`.
    """

    shape: Plan
    columns: tuple[Column, ...]
    values: tuple[Value, ...]


def lift(plan: Plan) -> Lifted | None:
    """Give the shape of a plan and its constants, None when no constant can be lifted.

    Law: for any set of parameters that holds `values`, the rows of `shape` that end in `values` are
        the rows of `plan`.
    Law: plans that differ in lifted constants alone have equal shapes.
    """
    plan = unpushed(plan)
    found = list(_constants(plan))
    if not found:
        return None
    columns = tuple(
        Column(f"parameter_{number}", _TYPES[type(constant.value)])
        for number, constant in enumerate(found, start=1)
    )
    lifting = _Lifting(columns)
    shape = lifting.canonical(plan, lifting.lift(plan))
    return Lifted(shape, columns, tuple(constant.value for constant in found))


def unpushed(plan: Plan) -> Plan:
    """Take filters out of the windows they were pushed into.

    Law: the same rows. A window by time alone keeps or drops each row for itself, and one per
        partition never compares rows that differ in a partition column.
    """
    inner = tuple(unpushed(child) for child in children(plan))
    if inner != children(plan):
        plan = with_children(plan, inner)
    if not isinstance(plan, Window) or not isinstance(plan.child, Filter):
        return plan
    below, free = plan.child, frozenset(plan.partition_by)
    parts = list(conjuncts(below.predicate))
    out = [part for part in parts if plan.rows is None or columns_in(part) <= free]
    if not out:
        return plan
    kept = conjunction(part for part in parts if part not in out)
    inside = below.child if kept is None else Filter(below.child, kept)
    outside = conjunction(out)
    assert outside is not None
    return Filter(unpushed(replace(plan, child=inside)), outside)


def _comparison(expr: Expr) -> tuple[str, str, Const] | None:
    """Give (column, operator, constant) of a comparison that is lifted."""
    if not isinstance(expr, Op) or expr.symbol not in COMPARISONS:
        return None
    if isinstance(expr.left, Col) and isinstance(expr.right, Const):
        column, symbol, constant = expr.left, expr.symbol, expr.right
    elif isinstance(expr.left, Const) and isinstance(expr.right, Col):
        column, symbol, constant = expr.right, _MIRRORED[expr.symbol], expr.left
    else:
        return None
    return None if constant.value is None else (column.name, symbol, constant)


def _constants(plan: Plan) -> Iterable[Const]:
    """Give the constants to lift, in the order in which `_Lifting` meets them."""
    for child in _open_children(plan):
        yield from _constants(child)
    if isinstance(plan, Filter):
        for part in conjuncts(plan.predicate):
            compared = _comparison(part)
            if compared is not None:
                yield compared[2]


def _open_children(plan: Plan) -> tuple[Plan, ...]:
    """Give the inputs whose constants are lifted.

    A window decides by what it saw since it was opened, so its filters stay its own; a recursion
    is one view for all who read it.
    """
    match plan:
        case Scan() | Values() | Window() | Fixpoint() | RecursiveRef() | OuterJoin() | MarkJoin():
            return ()
        case Join() | AntiJoin() | SetOperation():
            return (plan.left, plan.right)
        case Union():
            return plan.children
        case _:
            return (plan.child,)


@dataclass(frozen=True, slots=True)
class _Tagged:
    """A plan that carries parameters.

    Args:
        names: its parameter columns, None where it carries none.
    """

    plan: Plan
    names: tuple[str, ...] | None = None


class _Lifting:
    """One lifting; it counts the constants it meets and the scans it makes."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self._columns = columns
        self._met = 0
        self._scans = 0

    def canonical(self, plan: Plan, tagged: _Tagged) -> Plan:
        """Give the columns of `plan`, then the parameters, under their own names."""
        tagged = self._carrying(tagged)
        assert tagged.names is not None
        own = tuple((column, Col(column.name)) for column in plan.columns)
        parameters = zip(self._columns, tagged.names, strict=True)
        return Project(tagged.plan, (*own, *((column, Col(name)) for column, name in parameters)))

    def lift(self, plan: Plan) -> _Tagged:
        match plan:
            case (
                Scan()
                | Values()
                | Window()
                | Fixpoint()
                | RecursiveRef()
                | OuterJoin()
                | MarkJoin()
            ):
                return _Tagged(plan)
            case Filter():
                return self._filter(plan, self.lift(plan.child))
            case Project():
                return self._project(plan, self.lift(plan.child))
            case Distinct() | Ship():
                child = self.lift(plan.child)
                return _Tagged(replace(plan, child=child.plan), child.names)
            case TopK():
                child = self.lift(plan.child)
                apart = plan.partition_by + (child.names or ())
                return _Tagged(replace(plan, child=child.plan, partition_by=apart), child.names)
            case GroupBy():
                return self._group(plan, self.lift(plan.child))
            case Join():
                return self._join(plan, self.lift(plan.left), self.lift(plan.right))
            case AntiJoin():
                return self._anti_join(plan, self.lift(plan.left), self.lift(plan.right))
            case Union():
                return self._union(plan, [self.lift(child) for child in plan.children])
            case SetOperation():
                left, right = self.lift(plan.left), self.lift(plan.right)
                if left.names is None and right.names is None:
                    return _Tagged(plan)
                sides = [self.canonical(plan.left, left), self.canonical(plan.right, right)]
                return self._apart(replace(plan, left=sides[0], right=sides[1]))

    def _filter(self, plan: Filter, child: _Tagged) -> _Tagged:
        kept: list[Expr] = []
        compared: list[tuple[str, str, int]] = []
        for part in conjuncts(plan.predicate):
            found = _comparison(part)
            if found is None:
                kept.append(part)
            else:
                compared.append((found[0], found[1], self._met))
                self._met += 1
        below = child.plan
        if kept:
            predicate = conjunction(kept)
            assert predicate is not None
            below = Filter(below, predicate)
        if not compared:
            return _Tagged(below, child.names)
        if child.names is not None:
            tests = [Op(s, Col(c), Col(child.names[place])) for c, s, place in compared]
            test = conjunction(tests)
            assert test is not None
            return _Tagged(Filter(below, test), child.names)
        scan, names = self._scan()
        equal = tuple((c, names[place]) for c, s, place in compared if s == "=")
        rest = (Op(s, Col(c), Col(names[place])) for c, s, place in compared if s != "=")
        return _Tagged(Join(below, scan, equal, conjunction(rest)), names)

    def _project(self, plan: Project, child: _Tagged) -> _Tagged:
        if child.names is None:
            return _Tagged(replace(plan, child=child.plan))
        carried = tuple(self._fresh(child.names))
        return _Tagged(
            Project(child.plan, plan.outputs + carried), tuple(column.name for column, _ in carried)
        )

    def _group(self, plan: GroupBy, child: _Tagged) -> _Tagged:
        if child.names is None:
            return _Tagged(replace(plan, child=child.plan))
        grouped = GroupBy(child.plan, plan.keys + child.names, plan.aggregates)
        if plan.keys:
            return _Tagged(grouped, child.names)
        # Without keys there is a row for an empty input too: one for each parameter without one.
        scan, names = self._scan()
        lonely = AntiJoin(scan, grouped, tuple(zip(names, child.names, strict=True)))
        empty = tuple(
            (a.output, Const(0 if a.function is AggregateFunction.COUNT else None))
            for a in plan.aggregates
        )
        tags = [(c, Col(name)) for c, name in zip(self._named(child.names), names, strict=True)]
        return _Tagged(Union((grouped, Project(lonely, (*tags, *empty)))), child.names)

    def _join(self, plan: Join, left: _Tagged, right: _Tagged) -> _Tagged:
        on = plan.on
        if left.names is not None and right.names is not None:
            on += tuple(zip(left.names, right.names, strict=True))
        joined = Join(left.plan, right.plan, on, plan.residual)
        return _Tagged(joined, left.names if left.names is not None else right.names)

    def _anti_join(self, plan: AntiJoin, left: _Tagged, right: _Tagged) -> _Tagged:
        on = plan.on
        if right.names is not None:
            left = self._carrying(left)
            assert left.names is not None
            on += tuple(zip(left.names, right.names, strict=True))
        return _Tagged(AntiJoin(left.plan, right.plan, on, plan.residual), left.names)

    def _union(self, plan: Union, parts: list[_Tagged]) -> _Tagged:
        if all(part.names is None for part in parts):
            return _Tagged(plan)
        pairs = zip(plan.children, parts, strict=True)
        return self._apart(Union(tuple(self.canonical(child, part) for child, part in pairs)))

    def _apart(self, plan: Plan) -> _Tagged:
        """Give a canonical plan's parameters names of their own, for the joins above."""
        count = len(plan.columns) - len(self._columns)
        own = tuple((column, Col(column.name)) for column in plan.columns[:count])
        carried = tuple(self._fresh(tuple(column.name for column in self._columns)))
        return _Tagged(Project(plan, own + carried), tuple(column.name for column, _ in carried))

    def _carrying(self, tagged: _Tagged) -> _Tagged:
        """Let a plan without parameters be there for each of them."""
        if tagged.names is not None:
            return tagged
        scan, names = self._scan()
        return _Tagged(Join(tagged.plan, scan), names)

    def _scan(self) -> tuple[Scan, tuple[str, ...]]:
        names = self._next_names()
        return Scan(PARAMETERS, names[0].split(".")[0], self._named(names)), names

    def _fresh(self, names: tuple[str, ...]) -> Iterable[tuple[Column, Expr]]:
        for column, name in zip(self._named(self._next_names()), names, strict=True):
            yield column, Col(name)

    def _next_names(self) -> tuple[str, ...]:
        self._scans += 1
        return tuple(f"lifted{self._scans}.{column.name}" for column in self._columns)

    def _named(self, names: tuple[str, ...]) -> tuple[Column, ...]:
        pairs = zip(names, self._columns, strict=True)
        return tuple(replace(column, name=name) for name, column in pairs)
