"""GROUP BY: which expressions are keys, which aggregates, and what may stand beside them."""

from __future__ import annotations

from aspen.algebra.expr import Col, Const, Expr, Outer
from aspen.algebra.plan import Aggregate, AggregateFunction, GroupBy, Plan, Project
from aspen.model.schema import Column, Type
from aspen.streamsql.ast import Expression, Function, Name, SelectQuery, Star
from aspen.streamsql.bind_expr import (
    ExpressionBinder,
    SubqueryBinder,
    has_aggregate,
    has_subquery,
    is_aggregate,
)
from aspen.streamsql.errors import MisplacedAggregate, NotGrouped, TypeMismatch, WrongArity
from aspen.streamsql.scope import Scope
from aspen.streamsql.typing_rules import Typed, require


def is_grouped(query: SelectQuery) -> bool:
    """Whether a SELECT groups its rows."""
    values = [item.value for item in query.items if not isinstance(item.value, Star)]
    return bool(query.group_by or query.having or any(map(has_aggregate, values)))


class Grouping:
    """Binds the select list and HAVING of a grouped query.

    Args:
        scope: of the query's FROM.
        query: the SELECT.
        rows: takes sub-queries over single rows, in keys and arguments of aggregates.
        groups: takes sub-queries over groups.
    """

    def __init__(
        self, scope: Scope, query: SelectQuery, rows: SubqueryBinder, groups: SubqueryBinder
    ) -> None:
        self.rows = ExpressionBinder(scope, subqueries=rows)
        self.binder = ExpressionBinder(scope, self._first, groups)
        aliases = {
            item.alias: item.value
            for item in query.items
            if item.alias and not isinstance(item.value, Star) and not has_aggregate(item.value)
        }
        self.keys: list[tuple[Column, Typed]] = []
        for node in query.group_by:
            self._key(self._meant(node, aliases))
        self.aggregates: list[Aggregate] = []
        self.arguments: dict[str, tuple[Column, Expr]] = {}

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
        return GroupBy(plan, tuple(column.name for column, _ in keys), tuple(self.aggregates))

    def _meant(self, node: Expression, aliases: dict[str, Expression]) -> Expression:
        """GROUP BY may name an output, where no source has a column of that name."""
        if not isinstance(node, Name) or node.qualifier or node.name not in aliases:
            return node
        hidden = any(name.endswith(f".{node.name}") for name in self.rows.scope.spoken)
        return node if hidden else aliases[node.name]

    def _key(self, node: Expression) -> None:
        if has_aggregate(node):
            raise MisplacedAggregate(
                "GROUP BY groups by values of single rows", position=node.at, attempt="use HAVING"
            )
        typed = self.rows.bind(node)
        if any(typed.expr == key.expr for _, key in self.keys):
            return
        plain = isinstance(typed.expr, Col)
        name = typed.expr.name if isinstance(typed.expr, Col) else f"key_{len(self.keys) + 1}"
        kind = typed.type or Type.TEXT
        if not plain and typed.type is None:
            raise TypeMismatch("GROUP BY NULL groups nothing", position=typed.at, found="NULL")
        self.keys.append((Column(name, kind, typed.unit, typed.nullable), typed))

    def _first(self, node: Expression) -> Typed | None:
        if isinstance(node, Function) and is_aggregate(node):
            return self._aggregate(node)
        if has_aggregate(node) or has_subquery(node):
            return None
        typed = self.rows.bind(node)
        if isinstance(typed.expr, Const):
            return typed
        for column, key in self.keys:
            if typed.expr == key.expr:
                return Typed(Col(column.name), key.type, key.unit, key.nullable, node.at)
        if isinstance(typed.expr, Outer):
            # A column of the rows around a sub-query is one value for all its groups.
            return typed
        if isinstance(node, Name):
            keys = [column.name for column, _ in self.keys]
            raise NotGrouped(
                f"column {node.name!r} is neither grouped nor aggregated",
                position=node.at,
                found=node.name,
                exists=keys,
                attempt=f"add it to GROUP BY, or take MIN({node.name})",
            )
        return None

    def _aggregate(self, node: Function) -> Typed:
        function = AggregateFunction[node.name.upper()]
        if node.star:
            if function is not AggregateFunction.COUNT:
                raise WrongArity(
                    f"{function.value}(*) means nothing",
                    position=node.at,
                    exists=("COUNT(*)",),
                    attempt="name a column",
                )
            return self._added(function, None, Column("made", Type.INT), node)
        if len(node.arguments) != 1:
            raise WrongArity(
                f"{function.value} takes 1 argument(s), not {len(node.arguments)}",
                position=node.at,
                found=str(len(node.arguments)),
                exists=("1 argument(s)",),
                attempt=f"{function.value}(column)",
            )
        if has_aggregate(node.arguments[0]):
            raise MisplacedAggregate(
                "an aggregate cannot stand inside an aggregate",
                position=node.arguments[0].at,
                attempt="aggregate twice: a sub-select in FROM",
            )
        value = self.rows.bind(node.arguments[0])
        maybe = value.nullable or not self.keys
        kind = value.type or Type.TEXT
        match function:
            case AggregateFunction.COUNT:
                made = Column("made", Type.INT)
            case AggregateFunction.SUM:
                require(value, (Type.INT, Type.FLOAT), "SUM")
                made = Column("made", kind, value.unit, maybe)
            case AggregateFunction.AVG:
                require(value, (Type.INT, Type.FLOAT), "AVG")
                made = Column("made", Type.FLOAT, value.unit, maybe)
            case _:
                made = Column("made", kind, value.unit, maybe)
        return self._added(function, value, made, node)

    def _added(
        self, function: AggregateFunction, value: Typed | None, made: Column, node: Function
    ) -> Typed:
        name = None if value is None else self._argument(value)
        for known in self.aggregates:
            if (known.function, known.argument, known.distinct) == (function, name, node.distinct):
                output = known.output
                return Typed(Col(output.name), output.type, output.unit, output.nullable, node.at)
        number = len(self.aggregates) + 1
        output = Column(f"{function.value.lower()}_{number}", made.type, made.unit, made.nullable)
        self.aggregates.append(Aggregate(function, name, output, node.distinct))
        return Typed(Col(output.name), output.type, output.unit, output.nullable, node.at)

    def _argument(self, value: Typed) -> str:
        """Returns the name of the column that holds what is aggregated."""
        for name, (_, expr) in self.arguments.items():
            if expr == value.expr:
                return name
        number = len(self.aggregates) + 1
        name = value.expr.name if isinstance(value.expr, Col) else f"value_{number}"
        column = Column(name, value.type or Type.TEXT, value.unit, value.nullable)
        self.arguments[name] = (column, value.expr)
        return name
