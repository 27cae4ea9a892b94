"""EXISTS, IN, ANY, ALL and scalar sub-queries: each an Apply over the rows around it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from aspen.algebra.expr import Case, Col, Const, Expr, IsNull, Outer, as_outer, chain
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    Apply,
    ApplyKind,
    Filter,
    Fixpoint,
    GroupBy,
    Plan,
    Project,
    Scan,
    children,
)
from aspen.algebra.renaming import extended, filtered, narrowed
from aspen.algebra.rewrite.dependent import outer_names
from aspen.errors import Position
from aspen.model.schema import Column, Type
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.errors import NotGrouped, UnionArity, Unsupported
from aspen.streamsql.positions import at
from aspen.streamsql.scope import Environment, Scope
from aspen.streamsql.tree import SubqueryTest
from aspen.streamsql.typing_calls import call
from aspen.streamsql.typing_operators import operator
from aspen.streamsql.typing_rules import Typed, known_type, relabelled


@dataclass(frozen=True, slots=True)
class _Found:
    """A sub-query that is bound.

    Args:
        output: where its answer is kept as a column; None for a condition.
    """

    right: Plan
    kind: ApplyKind
    output: Column | None = None


@dataclass
class Subqueries:
    """The sub-queries of one stage of a SELECT.

    Args:
        scope: of the rows around them.
        found: those bound so far.
        needles: what they compare, where it is computed.
        clock: has the log's time, None where nobody asked for it.
    """

    environment: Environment
    scope: Scope
    found: list[_Found] = field(default_factory=list)
    needles: list[tuple[Column, Expr]] = field(default_factory=list)
    clock: Column | None = None

    @property
    def made(self) -> frozenset[str]:
        """Names of the columns that hold the answers."""
        return frozenset(one.output.name for one in self.found if one.output is not None)

    @property
    def vary(self) -> bool:
        """Whether an answer may differ from row to row."""
        return any(
            one.kind is not ApplyKind.VALUE or bool(outer_names(one.right))
            for one in self.found
            if one.output is not None
        )

    def over(self, plan: Plan) -> Plan:
        """Returns the rows of a plan that pass the conditions, with the answers beside them."""
        columns = plan.columns
        waiting = list(self.needles)
        for one in self.found:
            read = outer_names(one.right)
            plan = extended(plan, [needle for needle in waiting if needle[0].name in read])
            plan = Apply(plan, one.right, one.kind, one.output)
        made = tuple(one.output for one in self.found if one.output is not None)
        return narrowed(plan, columns + made)

    def test(self, test: SubqueryTest, at: Position, outer: ExpressionBinder) -> Typed:
        """Bind a question to a query as a value, its negation aside."""
        first, *others = map(self._mark, self._tests(test, at, outer))
        if not others:
            return Typed(first, Type.BOOL, "", False, at)
        unknown = tuple((other, Const(None)) for other in others)
        answer = Case(((first, Const(True)), *unknown), Const(False))
        return Typed(answer, Type.BOOL, "", True, at)

    def condition(self, test: SubqueryTest, at: Position, outer: ExpressionBinder) -> None:
        """Bind a question to a query as a condition that rows pass or not."""
        tests = self._tests(test, at, outer)
        kind = ApplyKind.NOT_EXISTS if test.negated else ApplyKind.EXISTS
        self.found += [_Found(one, kind) for one in (tests if test.negated else tests[:1])]

    def check_grouped(self, keys: frozenset[str], at: Position) -> None:
        """Refuse sub-queries over groups that read what the groups have lost.

        Args:
            keys: names of the columns of the groups.
            at: of the SELECT.
        """
        for one in self.found:
            lost = (outer_names(one.right) & self.scope.inner_names) - keys
            if lost:
                name = min(lost)
                raise NotGrouped(
                    f"a sub-query reads column {name!r}, which is neither grouped nor aggregated",
                    position=at,
                    found=name,
                    exists=sorted(keys),
                    attempt=f"add {name} to GROUP BY",
                )

    def _fresh(self, kind: Type, unit: str, *, nullable: bool) -> Column:
        number = next(self.environment.numbers)
        return Column(f"sub_{number}.value", kind, unit, nullable)

    def _mark(self, test: Plan) -> Col:
        column = self._fresh(Type.BOOL, "", nullable=False)
        self.found.append(_Found(test, ApplyKind.MARK, column))
        return Col(column.name)

    def scalar(self, query: exp.Expr) -> Typed:
        """Bind a query that stands for a value: its only one, null where it has no single one."""
        here = at(query)
        plan = self._query(query, here)
        if len(plan.columns) != 1:
            raise UnionArity(
                "a sub-query that stands for a value has one column",
                position=here,
                found=f"{len(plan.columns)} columns",
                attempt="select one column",
            )
        column = plan.columns[0]
        output = self._fresh(column.type, column.unit, nullable=True)
        self.found.append(_Found(plan, ApplyKind.VALUE, output))
        return Typed(Col(output.name), known_type(plan, 0), column.unit, True, here)

    def now(self, at: Position) -> Typed:
        """Bind the log's time, the one row of `clock`; null before the first tick."""
        if self.clock is None:
            seconds = self.environment.catalog.get("clock").columns[0]
            read = replace(seconds, name=f"clock.{seconds.name}")
            self.clock = self._fresh(seconds.type, seconds.unit, nullable=True)
            latest = Aggregate(AggregateFunction.MAX, read.name, replace(self.clock, name="now.s"))
            plan = GroupBy(Scan("clock", "clock", (read,)), (), (latest,))
            self.found.append(_Found(plan, ApplyKind.VALUE, self.clock))
        column = self.clock
        seconds_passed = Typed(Col(column.name), column.type, column.unit, True, at)
        return call("to_timestamp", [seconds_passed], at)

    def _query(self, query: exp.Expr, here: Position) -> Plan:
        plan = self.environment.inside(self.scope).bind(query, named=False)
        refuse_recursion_around(plan, here)
        return plan

    def _tests(self, test: SubqueryTest, here: Position, outer: ExpressionBinder) -> list[Plan]:
        """Returns what has rows if a sub-query is true, then what has some if it is unknown."""
        plan = self._query(test.query, here)
        if test.needle is None:
            child = plan.child if isinstance(plan, Project) else plan
            return [Project(child, ())]
        row = isinstance(test.needle, exp.Tuple)
        needles = test.needle.expressions if row else [test.needle]
        if len(plan.columns) != len(needles):
            wanted = "one column" if len(needles) == 1 else f"{len(needles)} columns"
            raise UnionArity(
                f"IN compares with {wanted}",
                position=here,
                found=f"{len(plan.columns)} columns",
                attempt=f"select {wanted}",
            )
        if row and test.symbol != "=":
            raise Unsupported(
                "rows of several values are compared by = alone",
                position=here,
                found=test.symbol,
                attempt="IN or NOT IN, or compare the columns in a WHERE with EXISTS",
            )
        kinds = [known_type(plan, index) for index in range(len(needles))]
        names = [f"partner_{next(self.environment.numbers)}.value" for _ in needles]
        columns = [replace(c, name=name) for c, name in zip(plan.columns, names, strict=True)]
        plan = relabelled(plan, tuple(columns))
        pairs = [
            (
                self._around(outer.bind(needle)),
                Typed(Col(column.name), kind, column.unit, column.nullable, here),
            )
            for needle, column, kind in zip(needles, columns, kinds, strict=True)
        ]
        equal = [operator(test.symbol, one, other, here).expr for one, other in pairs]
        nulls = [[IsNull(side.expr) for side in pair if side.nullable] for pair in pairs]
        tests: list[Plan] = [filtered(plan, equal)]
        if not row:
            return tests + [Filter(plan, null) for null in nulls[0]]
        if any(nulls):
            # Unknown where no pair is known to differ.
            alike = (chain("OR", [e, *null]) for e, null in zip(equal, nulls, strict=True))
            tests.append(filtered(plan, alike))
        return tests

    def _around(self, needle: Typed) -> Typed:
        """Returns a value of the rows around as a sub-query reads it."""
        if not isinstance(needle.expr, Col | Outer | Const):
            kind = needle.type or Type.TEXT
            column = self._fresh(kind, needle.unit, nullable=needle.nullable)
            self.needles.append((column, needle.expr))
            return replace(needle, expr=Outer(column.name))
        return replace(needle, expr=as_outer(needle.expr))


def refuse_recursion_around(plan: Plan, here: Position) -> None:
    """Refuse a recursion in a sub-query that reads the rows around it.

    Raises:
        Unsupported: there is one.
    """
    if _recursion_reads(plan):
        raise Unsupported(
            "a recursive query inside a sub-query reads the rows around it",
            position=here,
            found="WITH RECURSIVE",
            attempt="make it a view with a column for what it reads, and join with it",
        )


def _recursion_reads(plan: Plan) -> bool:
    """Whether a recursion in a plan reads the rows around it."""
    own = isinstance(plan, Fixpoint) and bool(outer_names(plan))
    return own or any(map(_recursion_reads, children(plan)))
