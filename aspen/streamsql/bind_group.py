"""GROUP BY: which expressions are keys, which aggregates, and what may stand beside them."""

from __future__ import annotations

from sqlglot import exp

from aspen.algebra.expr import Col, Const, Expr, Outer
from aspen.algebra.plan import Aggregate, AggregateFunction, GroupBy, Plan, Project
from aspen.errors import Position
from aspen.model.schema import Column, Type
from aspen.streamsql.bind_expr import ExpressionBinder, SubqueryBinder
from aspen.streamsql.errors import MisplacedAggregate, NotGrouped, TypeMismatch, WrongArity
from aspen.streamsql.positions import at
from aspen.streamsql.scope import Scope
from aspen.streamsql.tree import (
    Call,
    Item,
    call_of,
    constant,
    has_aggregate,
    has_subquery,
    unsupported,
)
from aspen.streamsql.typing_rules import Typed, require


def group_keys(select: exp.Expr, items: list[Item]) -> list[exp.Expr]:
    """Returns the expressions that GROUP BY names.

    Raises:
        Unsupported: ROLLUP and the like.
        NotGrouped: a whole number that is the index of no output.
    """
    group = select.args.get("group")
    if group is None:
        return []
    for key in ("rollup", "cube", "grouping_sets", "totals"):
        if group.args.get(key):
            spelt = f"GROUP BY {key.upper().replace('_', ' ')}"
            raise unsupported(spelt, group, "write a UNION ALL of plain groupings")
    if group.args.get("all"):
        plain = (item.value for item in items if not item.value.is_star)
        return [value for value in plain if not has_aggregate(value)]
    return [_group_key(key, items) for key in group.expressions]


def _group_key(key: exp.Expr, items: list[Item]) -> exp.Expr:
    """Returns a key; a whole number is the index of an output."""
    literal = constant(key) if isinstance(key, exp.Literal) else None
    if literal is None or type(literal.value) is not int:
        return key
    index = literal.value
    if not 1 <= index <= len(items) or items[index - 1].value.is_star:
        raise NotGrouped(
            f"there is no output {index} to group by",
            position=at(key),
            found=str(index),
            exists=[f"1 to {len(items)}"],
            attempt="name the column",
        )
    return items[index - 1].value


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
        for node in group_keys(select, items):
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

    def _meant(self, node: exp.Expr, aliases: dict[str, exp.Expr]) -> exp.Expr:
        """GROUP BY may name an output, where no source has a column of that name."""
        if not isinstance(node, exp.Column) or node.table or node.name not in aliases:
            return node
        hidden = any(name.endswith(f".{node.name}") for name in self.rows.scope.spoken)
        return node if hidden else aliases[node.name]

    def _key(self, node: exp.Expr) -> None:
        if has_aggregate(node):
            raise MisplacedAggregate(
                "GROUP BY groups by values of single rows", position=at(node), attempt="use HAVING"
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

    def _first(self, node: exp.Expr) -> Typed | None:
        call = call_of(node)
        if call is not None and call.aggregate is not None:
            return self._aggregate(call, call.aggregate, node)
        if has_aggregate(node) or has_subquery(node):
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

    def _aggregate(self, call: Call, function: AggregateFunction, node: exp.Expr) -> Typed:
        here = at(node.this) if isinstance(node, exp.Filter) else at(node)
        if call.star:
            if function is not AggregateFunction.COUNT:
                raise WrongArity(
                    f"{function.value}(*) means nothing",
                    position=here,
                    exists=("COUNT(*)",),
                    attempt="name a column",
                )
            return self._added(function, None, Column("made", Type.INT), call, here)
        if len(call.arguments) != 1:
            raise WrongArity(
                f"{function.value} takes 1 argument(s), not {len(call.arguments)}",
                position=here,
                found=str(len(call.arguments)),
                exists=("1 argument(s)",),
                attempt=f"{function.value}(column)",
            )
        if has_aggregate(call.arguments[0]):
            raise MisplacedAggregate(
                "an aggregate cannot stand inside an aggregate",
                position=at(call.arguments[0]),
                attempt="aggregate twice: a sub-select in FROM",
            )
        value = self.rows.bind(call.arguments[0])
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
        return self._added(function, value, made, call, here)

    def _added(
        self,
        function: AggregateFunction,
        value: Typed | None,
        made: Column,
        call: Call,
        here: Position,
    ) -> Typed:
        name = None if value is None else self._argument(value)
        for known in self.aggregates:
            if (known.function, known.argument, known.distinct) == (function, name, call.distinct):
                output = known.output
                return Typed(Col(output.name), output.type, output.unit, output.nullable, here)
        number = len(self.aggregates) + 1
        output = Column(f"{function.value.lower()}_{number}", made.type, made.unit, made.nullable)
        self.aggregates.append(Aggregate(function, name, output, call.distinct))
        return Typed(Col(output.name), output.type, output.unit, output.nullable, here)

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
