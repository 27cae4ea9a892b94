"""GROUP BY: which expressions are keys, which aggregates, and what may stand beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from aspen.algebra.expr import Col, Const, Expr, Outer, columns_in, outer_in
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    GroupBy,
    Plan,
    Project,
    Union,
)
from aspen.errors import Position
from aspen.model.schema import Column, Type
from aspen.streamsql.aggregates import bind_aggregate
from aspen.streamsql.bind_expr import ExpressionBinder, SubqueryBinder
from aspen.streamsql.errors import MisplacedAggregate, NotGrouped, TypeMismatch
from aspen.streamsql.grouping_sets import grouping_sets
from aspen.streamsql.positions import at
from aspen.streamsql.scope import Scope
from aspen.streamsql.tree import (
    FunctionCall,
    Item,
    call_of,
    called_at,
    has_aggregate,
    has_over,
    has_subquery,
    is_grouping,
)
from aspen.streamsql.typing_rules import Typed


class Grouping:
    """Binds the select list and HAVING of a grouped query.

    Args:
        scope: of the query's FROM.
        select: the query.
        items: its select list.
        rows: takes sub-queries over single rows, in keys and arguments of aggregates.
        groups: takes sub-queries over groups.
    """

    def __init__(
        self,
        scope: Scope,
        select: exp.Expr,
        items: list[Item],
        rows: SubqueryBinder,
        groups: SubqueryBinder,
    ) -> None:
        self.rows = ExpressionBinder(scope, subqueries=rows)
        self.binder = ExpressionBinder(scope, self._first, groups)
        aliases = {
            item.alias: item.value
            for item in items
            if item.alias and not item.value.is_star and not has_aggregate(item.value)
        }
        self.keys: list[tuple[Column, Typed]] = []
        self.sets = [
            frozenset(self._key(self._meant(node, aliases)) for node in keys)
            for keys in grouping_sets(select, items)
        ]
        everywhere = frozenset[str].intersection(*self.sets)
        self.keys = [
            (column, typed)
            if column.name in everywhere
            else (replace(column, nullable=True), replace(typed, nullable=True))
            for column, typed in self.keys
        ]
        self.may_be_empty = not all(self.sets)
        self.aggregates: list[Aggregate] = []
        self.arguments: dict[str, tuple[Column, Expr]] = {}
        self.marks: list[tuple[Column, tuple[str, ...]]] = []

    @property
    def names(self) -> frozenset[str]:
        """Names of the key columns."""
        return frozenset(column.name for column, _ in self.keys)

    def over(self, plan: Plan) -> Plan:
        """Returns the groups of a plan's rows, once the select list and HAVING are bound."""
        keys = tuple((column, typed.expr) for column, typed in self.keys)
        more = (pair for name, pair in self.arguments.items() if name not in self.names)
        computed = (*keys, *more)
        if any(expr != Col(column.name) for column, expr in computed):
            plan = Project(plan, computed)
        if len(self.sets) == 1 and not self.marks:
            return GroupBy(plan, tuple(column.name for column, _ in keys), tuple(self.aggregates))
        return Union(tuple(self._of_set(plan, names) for names in self.sets))

    def _of_set(self, plan: Plan, names: frozenset[str]) -> Plan:
        """Returns the groups by some of the keys, with nulls for the others."""
        keys = tuple(column.name for column, _ in self.keys if column.name in names)
        grouped = GroupBy(plan, keys, tuple(self.aggregates))
        found = (
            (column, Col(column.name) if column.name in names else Const(None))
            for column, _ in self.keys
        )
        made = ((one.output, Col(one.output.name)) for one in self.aggregates)
        marks = ((column, Const(_mask(keys, names))) for column, keys in self.marks)
        return Project(grouped, (*found, *made, *marks))

    def _meant(self, node: exp.Expr, aliases: dict[str, exp.Expr]) -> exp.Expr:
        """GROUP BY may name an output, where no source has a column of that name."""
        if not isinstance(node, exp.Column) or node.table or node.name not in aliases:
            return node
        hidden = any(name.endswith(f".{node.name}") for name in self.rows.scope.spoken)
        return node if hidden else aliases[node.name]

    def _key(self, node: exp.Expr) -> str:
        """Returns the name of the column that holds a key."""
        if has_aggregate(node):
            raise MisplacedAggregate(
                "GROUP BY groups by values of single rows", position=at(node), attempt="use HAVING"
            )
        typed = self.rows.bind(node)
        for column, key in self.keys:
            if typed.expr == key.expr:
                return column.name
        plain = isinstance(typed.expr, Col)
        name = typed.expr.name if isinstance(typed.expr, Col) else f"key_{len(self.keys) + 1}"
        kind = typed.type or Type.TEXT
        if not plain and typed.type is None:
            raise TypeMismatch("GROUP BY NULL groups nothing", position=typed.at, found="NULL")
        self.keys.append((Column(name, kind, typed.unit, typed.nullable), typed))
        return name

    def _first(self, node: exp.Expr) -> Typed | None:
        call = call_of(node)
        if call is not None and call.aggregate is not None:
            return self._aggregate(call, call.aggregate, node)
        if is_grouping(node):
            return self._mark(node)
        if has_aggregate(node) or has_subquery(node) or has_over(node):
            return None
        typed = self.rows.bind(node)
        if isinstance(typed.expr, Const):
            return typed
        for column, key in self.keys:
            if typed.expr == key.expr:
                return Typed(Col(column.name), key.type, key.unit, key.nullable, at(node))
        if isinstance(typed.expr, Outer):
            # A column of the rows around a sub-query is one value for all its groups.
            return typed
        if isinstance(node, exp.Column):
            keys = [column.name for column, _ in self.keys]
            raise NotGrouped(
                f"column {node.name!r} is neither grouped nor aggregated",
                position=at(node),
                found=node.name,
                exists=keys,
                attempt=f"add it to GROUP BY, or take MIN({node.name})",
            )
        return None

    def _mark(self, node: exp.Expr) -> Typed:
        """Binds GROUPING(a, b): a bit per key, set in groups that are not by it."""
        named: list[str] = []
        for argument in node.expressions:
            wanted = self.rows.bind(argument).expr
            found = [column.name for column, key in self.keys if key.expr == wanted]
            if not found:
                raise NotGrouped(
                    "GROUPING takes keys of GROUP BY",
                    position=at(argument),
                    found=argument.sql(),
                    exists=sorted(self.names),
                    attempt="name an expression of GROUP BY",
                )
            named += found
        column = Column(f"grouping_{len(self.marks) + 1}", Type.INT)
        self.marks.append((column, tuple(named)))
        return Typed(Col(column.name), Type.INT, "", False, at(node))

    def _aggregate(self, call: FunctionCall, function: AggregateFunction, node: exp.Expr) -> Typed:
        here = called_at(node)
        for argument in call.arguments:
            if has_aggregate(argument):
                raise MisplacedAggregate(
                    "an aggregate cannot stand inside an aggregate",
                    position=at(argument),
                    attempt="aggregate twice: a sub-select in FROM",
                )
        found = bind_aggregate(
            call, function, node, self.rows.bind, self._argument, may_be_empty=self.may_be_empty
        )
        self._refuse_around(call, here)
        return self._added(found, here)

    def _refuse_around(self, call: FunctionCall, here: Position) -> None:
        """Refuse an aggregate over columns of the query around alone, as it counts there."""
        read = [self.rows.bind(argument).expr for argument in call.arguments]
        if any(map(outer_in, read)) and not any(map(columns_in, read)):
            raise MisplacedAggregate(
                f"{call.name.upper()} reads nothing but the query around, where it would count",
                position=here,
                found=call.name.upper(),
                attempt="aggregate in the query around, or name a column of this one's FROM",
            )

    def _added(self, wanted: Aggregate, here: Position) -> Typed:
        """Returns the column of an aggregate, computed once however often it is written."""
        for known in self.aggregates:
            if replace(known, output=wanted.output) == wanted:
                break
        else:
            name = f"{wanted.function.value.lower()}_{len(self.aggregates) + 1}"
            known = replace(wanted, output=replace(wanted.output, name=name))
            self.aggregates.append(known)
        output = known.output
        return Typed(Col(output.name), output.type, output.unit, output.nullable, here)

    def _argument(self, value: Typed, word: str = "value") -> str:
        """Returns the name of the column that holds what an aggregate reads."""
        for name, (_, expr) in self.arguments.items():
            if expr == value.expr:
                return name
        number = len(self.aggregates) + 1
        name = value.expr.name if isinstance(value.expr, Col) else f"{word}_{number}"
        column = Column(name, value.type or Type.TEXT, value.unit, value.nullable)
        self.arguments[name] = (column, value.expr)
        return name


def _mask(keys: Iterable[str], present: frozenset[str]) -> int:
    """Returns the bits of GROUPING: the last key's is the lowest."""
    mask = 0
    for key in keys:
        mask = 2 * mask + (key not in present)
    return mask
