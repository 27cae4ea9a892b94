"""Lift: a query's constants become parameters, so that queries of one template are one dataflow.

    σ a = 5 ∧ b < 7 (t)     ──►     t ⋈ a = p1 ∧ b < p2  parameters(p1, p2)      and (5, 7)

Rows carry the parameters they belong to as further columns, up to the root; whoever asked with
(5, 7) takes the rows that end in (5, 7). Only comparisons of a column with a constant are lifted;
other constants stay, and make queries that differ in them differ in template. A filter that was
pushed below a window is first taken out again, where that changes nothing: a window that many
queries read must not depend on the constants of one.

A recursion carries the parameters its own base and steps compare with, and no others: the rows of
equal ones are there once. Constants that begin its demand (`aspen.algebra.rewrite.magic`) are
lifted too, so that the parameters are the demand.

Source: [GOE19] section 10.3, data-plane multi-tenancy; NiagaraCQ (2000), constants as a join table.
Own: rows carry parameter values instead of tenants, so equal questions share their rows too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from aspen.algebra.expr import Col, Const, Expr, Op, conjunction, conjuncts
from aspen.algebra.lift_constants import (
    begins_demand,
    comparison,
    constants_of,
    open_children,
    unpushed,
)
from aspen.algebra.plan import (
    AggregateFunction,
    AntiJoin,
    Apply,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    NotFlat,
    OuterJoin,
    Over,
    Plan,
    Project,
    Recursive,
    RecursiveRef,
    Scan,
    SetOperation,
    Ship,
    TopK,
    Union,
    Values,
    Window,
    with_children,
)
from aspen.algebra.renaming import as_they_are, filtered
from aspen.model.schema import Column, Type, Value

PARAMETERS = "parameters"
"""Name of the relation a lifted plan reads its parameters from."""

_TYPES: dict[type, Type] = {str: Type.TEXT, bool: Type.BOOL, int: Type.INT, float: Type.FLOAT}


@dataclass(frozen=True, slots=True)
class Lifted:
    """A plan without its constants.

    Args:
        template: the plan; it scans `PARAMETERS`, and its last columns are the parameters.
        columns: of `PARAMETERS`.
        values: the constants, in the order of `columns`.
    """

    template: Plan
    columns: tuple[Column, ...]
    values: tuple[Value, ...]


def lift(plan: Plan) -> Lifted | None:
    """Returns the template of a plan and its constants, None when no constant can be lifted.

    Law: for any set of parameters that has `values`, the rows of `template` that end in `values`
        are the rows of `plan`.
    Law: plans that differ in lifted constants alone, and have the same recursions twice where the
        other has, have equal templates.
    """
    plan = unpushed(plan)
    found = [met.constant for met in constants_of(plan)]
    if not found:
        return None
    columns = tuple(
        Column(f"parameter_{number}", _TYPES[type(constant.value)])
        for number, constant in enumerate(found, start=1)
    )
    lifting = _Lifting(columns, columns, count(1))
    template = lifting.canonical(plan, lifting.lift(plan))
    return Lifted(template, columns, tuple(constant.value for constant in found))


@dataclass(frozen=True, slots=True)
class _Tagged:
    """A plan that carries parameters.

    Args:
        names: its parameter columns, None where it carries none.
    """

    plan: Plan
    names: tuple[str, ...] | None = None


class _Lifting:
    """One lifting; it counts the constants it meets.

    Args:
        every: the columns of `PARAMETERS`.
        columns: those of the constants it meets: all, or a recursion's own.
        scans: numbers for the scans it makes.
        recursion: names of the relations that carry the columns, None outside of recursion.
        orders: whether comparisons by order are lifted.
    """

    def __init__(
        self,
        every: tuple[Column, ...],
        columns: tuple[Column, ...],
        scans: count[int],
        recursion: frozenset[str] | None = None,
        *,
        orders: bool = True,
    ) -> None:
        self._every = every
        self._columns = columns
        self._scans = scans
        self._recursion = recursion
        self._orders = orders
        self._met = 0
        self._known: dict[Plan, tuple[Column, ...]] = {}

    def canonical(self, plan: Plan, tagged: _Tagged) -> Plan:
        """Returns the columns of `plan`, then the parameters, under their own names."""
        tagged = self._carrying(tagged)
        assert tagged.names is not None
        own = as_they_are(plan.columns)
        parameters = zip(self._columns, tagged.names, strict=True)
        return Project(tagged.plan, (*own, *((column, Col(name)) for column, name in parameters)))

    def lift(self, plan: Plan) -> _Tagged:
        match plan:
            case Scan() | Window():
                return _Tagged(plan)
            case Values():
                return self._values(plan)
            case RecursiveRef():
                if self._recursion is None or plan.name not in self._recursion:
                    return _Tagged(plan)
                names = self._next_names()
                return _Tagged(replace(plan, columns=plan.columns + self._named(names)), names)
            case Fixpoint():
                return self._fixpoint(plan)
            case Filter():
                return self._filter(plan, self.lift(plan.child))
            case Project():
                return self._project(plan, self.lift(plan.child))
            case Distinct() | Ship():
                child = self.lift(plan.child)
                return _Tagged(replace(plan, child=child.plan), child.names)
            case TopK() | Over():
                child = self.lift(plan.child)
                apart = plan.partition_by + (child.names or ())
                return _Tagged(replace(plan, child=child.plan, partition_by=apart), child.names)
            case GroupBy():
                return self._group(plan, self.lift(plan.child))
            case Join():
                return self._join(plan, self.lift(plan.left), self.lift(plan.right))
            case AntiJoin() | OuterJoin() | MarkJoin():
                return self._beside(plan, self.lift(plan.left), self.lift(plan.right))
            case Union():
                return self._union(plan, [self.lift(child) for child in plan.children])
            case SetOperation():
                left, right = self.lift(plan.left), self.lift(plan.right)
                if left.names is None and right.names is None:
                    return _Tagged(plan)
                sides = [self.canonical(plan.left, left), self.canonical(plan.right, right)]
                return self._apart(replace(plan, left=sides[0], right=sides[1]))
            case Apply():
                raise NotFlat

    def _values(self, plan: Values) -> _Tagged:
        if self._recursion is None:
            return _Tagged(plan)
        if not plan.demand:
            if plan.rows:
                return _Tagged(plan)
            names = self._next_names()
            return _Tagged(Values(plan.columns + self._named(names), ()), names)
        start, self._met = self._met, self._met + len(plan.columns)
        scan, names = self._scan()
        carried = tuple(self._fresh(names))
        asked = zip(plan.columns, names[start : self._met], strict=True)
        outputs = (*((column, Col(name)) for column, name in asked), *carried)
        return _Tagged(Project(scan, outputs), tuple(column.name for column, _ in carried))

    def _fixpoint(self, plan: Fixpoint) -> _Tagged:
        """Let a recursion carry the parameters of its own constants."""
        found = constants_of(plan, orders=self._orders)
        own = self._known.get(plan)
        if own is None:
            start, self._met = self._met, self._met + len(found)
            own = self._known[plan] = self._columns[start : self._met]
        if not own:
            return _Tagged(plan)
        if self._recursion is None and all(met.demand for met in found):
            # Everybody's demand together: the filters above find what each asked for.
            return _Tagged(self._widened(plan, iter(own), {}))
        # An own lifting of its parameters alone; the relations of recursions around it stay.
        names = frozenset(relation.name for relation in plan.relations)
        orders = self._orders and not begins_demand(plan)
        inner = _Lifting(self._every, own, self._scans, names, orders=orders)
        tags = inner._next_names()
        made = [inner._relation(relation, tags) for relation in plan.relations]
        first = made[0]
        tagged = replace(
            plan,
            columns=first.columns,
            base=first.base,
            step=first.step,
            best=first.best,
            others=tuple(made[1:]),
        )
        if own == self._columns:
            return _Tagged(tagged, tags)
        scan, carried = self._scan()
        indices = [self._columns.index(column) for column in own]
        on = tuple((tag, carried[index]) for tag, index in zip(tags, indices, strict=True))
        return _Tagged(Join(tagged, scan, on), carried)

    def _widened(self, plan: Plan, columns: Iterator[Column], known: dict[Plan, Plan]) -> Plan:
        if isinstance(plan, Values) and plan.demand:
            scan, names = self._scan()
            by_column = dict(zip(self._columns, names, strict=True))
            return Distinct(
                Project(scan, tuple((one, Col(by_column[next(columns)])) for one in plan.columns))
            )
        if plan in known:
            return known[plan]
        # Recursions that are equal have their constants in common, as in `constants_of`.
        inner = dict[Plan, Plan]() if isinstance(plan, Fixpoint) else known
        made = tuple(self._widened(child, columns, inner) for child in open_children(plan))
        widened = with_children(plan, made) if made else plan
        if isinstance(plan, Fixpoint):
            known[plan] = widened
        return widened

    def _relation(self, relation: Recursive, tags: tuple[str, ...]) -> Recursive:
        best = relation.best
        return Recursive(
            relation.name,
            relation.columns + self._named(tags),
            self.canonical(relation.base, self.lift(relation.base)),
            self.canonical(relation.step, self.lift(relation.step)),
            None if best is None else replace(best, keys=best.keys + tags),
        )

    def _filter(self, plan: Filter, child: _Tagged) -> _Tagged:
        kept: list[Expr] = []
        compared: list[tuple[str, str, int]] = []
        for part in conjuncts(plan.predicate):
            found = comparison(part, orders=self._orders)
            if found is None:
                kept.append(part)
            else:
                compared.append((found[0], found[1], self._met))
                self._met += 1
        below = filtered(child.plan, kept)
        if not compared:
            return _Tagged(below, child.names)
        if child.names is not None:
            tests = (Op(s, Col(c), Col(child.names[index])) for c, s, index in compared)
            return _Tagged(filtered(below, tests), child.names)
        scan, names = self._scan()
        equal = tuple((c, names[index]) for c, s, index in compared if s == "=")
        rest = (Op(s, Col(c), Col(names[index])) for c, s, index in compared if s != "=")
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

    def _beside(
        self, plan: AntiJoin | OuterJoin | MarkJoin, left: _Tagged, right: _Tagged
    ) -> _Tagged:
        on = plan.on
        if right.names is not None:
            left = self._carrying(left)
            assert left.names is not None
            on += tuple(zip(left.names, right.names, strict=True))
        return _Tagged(replace(plan, left=left.plan, right=right.plan, on=on), left.names)

    def _union(self, plan: Union, parts: list[_Tagged]) -> _Tagged:
        if all(part.names is None for part in parts):
            return _Tagged(plan)
        pairs = zip(plan.children, parts, strict=True)
        return self._apart(Union(tuple(self.canonical(child, part) for child, part in pairs)))

    def _apart(self, plan: Plan) -> _Tagged:
        """Returns a canonical plan's parameters names of their own, for the joins above."""
        count = len(plan.columns) - len(self._columns)
        own = as_they_are(plan.columns[:count])
        carried = tuple(self._fresh(tuple(column.name for column in self._columns)))
        return _Tagged(Project(plan, own + carried), tuple(column.name for column, _ in carried))

    def _carrying(self, tagged: _Tagged) -> _Tagged:
        """Let a plan without parameters be there for each of them."""
        if tagged.names is not None:
            return tagged
        scan, names = self._scan()
        return _Tagged(Join(tagged.plan, scan), names)

    def _scan(self) -> tuple[Plan, tuple[str, ...]]:
        names = self._next_names()
        alias = names[0].split(".")[0]
        every = tuple(replace(c, name=f"{alias}.{c.name}") for c in self._every)
        scan = Scan(PARAMETERS, alias, every)
        if self._columns == self._every:
            return scan, names
        return Distinct(Project(scan, as_they_are(self._named(names)))), names

    def _fresh(self, names: tuple[str, ...]) -> Iterable[tuple[Column, Expr]]:
        for column, name in zip(self._named(self._next_names()), names, strict=True):
            yield column, Col(name)

    def _next_names(self) -> tuple[str, ...]:
        number = next(self._scans)
        return tuple(f"lifted{number}.{column.name}" for column in self._columns)

    def _named(self, names: tuple[str, ...]) -> tuple[Column, ...]:
        pairs = zip(names, self._columns, strict=True)
        return tuple(replace(column, name=name) for name, column in pairs)
