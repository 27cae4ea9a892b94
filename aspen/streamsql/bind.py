"""Border 2: AST → plan (names, types, units, source kinds); sub-queries are Apply."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aspen import units
from aspen.algebra.explain import plan_text
from aspen.algebra.expr import Expr
from aspen.algebra.plan import Distinct, Filter, Plan, Project, SetFunction, SetOperation, Union
from aspen.algebra.renaming import narrowed
from aspen.errors import Position
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, SourceKind, Type
from aspen.streamsql.ast import (
    CompareQuery,
    CreateRelation,
    CreateView,
    Cte,
    Expression,
    Function,
    Item,
    Name,
    OrderedQuery,
    Output,
    Query,
    Select,
    SelectQuery,
    Star,
    Statement,
    UnionQuery,
    ValuesQuery,
    WithQuery,
)
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.bind_from import FromBinder
from aspen.streamsql.bind_group import Grouping, is_grouped
from aspen.streamsql.bind_order import Ordered, bind_order
from aspen.streamsql.bind_recursion import bind_recursion
from aspen.streamsql.bind_subquery import Subqueries
from aspen.streamsql.bind_values import bind_values
from aspen.streamsql.errors import (
    BadName,
    DuplicateOutput,
    NonStratified,
    NotAQuery,
    TypeMismatch,
    UnionArity,
    UnitMismatch,
    UnknownColumn,
    ViewCycle,
    nearest,
    suggestion,
)
from aspen.streamsql.reads import names_read
from aspen.streamsql.recursion_text import reads_itself, recursive_components
from aspen.streamsql.scope import Environment, Scope, bare
from aspen.streamsql.typing_rules import Typed, known_type, meet, relabelled, spelt
from aspen.streamsql.union_all import as_set


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement whose names are looked up.

    Args:
        name: of the view, None for a bare query.
        order: its plan with the keys of its order, where the text gives one.
    """

    name: str | None
    plan: Plan
    order: Ordered | None = None
    outputs: tuple[Output, ...] = ()
    once: bool = False

    @property
    def text(self) -> str:
        """The plan as text, below what it is and above where it goes."""
        head = f"view {self.name}" if self.name else "query"
        lines = [f"once {head}" if self.once else head]
        lines += [f"  {line}" for line in plan_text(self.plan).splitlines()]
        lines += [f"  output to {one.kind.lower()} {one.target}".rstrip() for one in self.outputs]
        return "\n".join(lines) + "\n"


def bind(statement: Statement, catalog: Catalog) -> Bound:
    """Bind one statement.

    Args:
        catalog: the relations and views it may name.

    Raises:
        BindError: whatever does not fit, with its place in the text.
    """
    match statement:
        case CreateRelation(relation):
            raise NotAQuery(
                f"{relation.name} is declared here, nothing is asked",
                position=statement.at,
                found=f"CREATE {relation.kind.value}",
                exists=("SELECT", "WITH", "VALUES", "CREATE VIEW"),
                attempt="declare relations first, then ask",
            )
        case CreateView():
            _check_name(statement, catalog)
            return _bound(statement, statement.name, Environment(catalog))
        case Select():
            return _bound(statement, None, Environment(catalog))


def _bound(statement: CreateView | Select, name: str | None, environment: Environment) -> Bound:
    once = isinstance(statement, Select) and statement.once
    query, named = statement.query, name is not None
    if not isinstance(query, OrderedQuery):
        plan = bind_query(query, environment, named=named)
        return Bound(name, plan, None, statement.outputs, once)
    ordered = bind_order(query, environment, bind_query, named=named)
    plan = narrowed(ordered.plan, ordered.columns)
    return Bound(name, plan, ordered if ordered.keys else None, statement.outputs, once)


def _check_name(statement: CreateView, catalog: Catalog) -> None:
    name = statement.name
    _identifier(name, statement.at)
    if name in catalog and catalog.get(name).kind is not SourceKind.VIEW:
        kind = catalog.get(name).kind.value.lower()
        raise BadName(
            f"{name!r} is a {kind} already",
            position=statement.at,
            found=name,
            attempt=f"choose another name: CREATE VIEW my_{name} AS …",
        )
    if name in names_read(statement.query):
        raise ViewCycle(
            f"view {name!r} reads itself: {name} → {name}",
            position=statement.at,
            found=f"{name} → {name}",
            attempt="recursion stands inside one view: WITH RECURSIVE",
        )


def bind_query(query: Query, environment: Environment, *, named: bool = True) -> Plan:
    """Bind a SELECT, a UNION or a WITH.

    Args:
        named: whether its column names will be seen; if not, equal ones are told apart.
    """
    match query:
        case SelectQuery():
            return bind_select(query, environment, named=named)
        case UnionQuery():
            return _union(query, environment, named=named)
        case CompareQuery():
            return _compare(query, environment, named=named)
        case ValuesQuery():
            return bind_values(query)
        case OrderedQuery():
            ordered = bind_order(query, environment, bind_query, named=named)
            return narrowed(ordered.plan, ordered.columns)
        case WithQuery():
            return _with(query, environment, named=named)


def bind_select(query: SelectQuery, environment: Environment, *, named: bool = True) -> Plan:
    """Bind one SELECT."""
    rows = FromBinder(environment, bind_query).bind(query)
    single = Subqueries(environment, bind_query, rows.scope)
    late = Subqueries(environment, bind_query, rows.scope)
    plan = rows.plan
    if is_grouped(query):
        grouping = Grouping(rows.scope, query, single, late)
        outputs = _outputs(query, rows.scope, grouping.binder, named=named)
        having = grouping.binder.predicate(query.having, "HAVING") if query.having else None
        late.check_grouped(grouping.names, query.at)
        plan = late.over(grouping.over(single.over(plan)))
        if having is not None:
            plan = Filter(plan, having.expr)
    else:
        outputs = _outputs(query, rows.scope, ExpressionBinder(rows.scope, None, late), named=named)
        plan = late.over(plan)
    if rows.recursive and (rows.computes or single.found or late.found):
        raise NonStratified(
            "a sub-query's value in a recursive step has no least answer",
            position=query.at,
            found="a sub-query",
            attempt="compute it in a CTE or view that the step joins with",
        )
    plan = Project(plan, tuple(outputs))
    return Distinct(plan) if query.distinct else plan


def _outputs(
    query: SelectQuery, scope: Scope, binder: ExpressionBinder, *, named: bool
) -> list[tuple[Column, Expr]]:
    outputs: list[tuple[Column, Expr]] = []
    for item in _expanded(query.items, scope):
        assert not isinstance(item.value, Star)
        typed = binder.bind(item.value)
        name = item.alias or _natural(item.value, len(outputs) + 1)
        taken = {column.name for column, _ in outputs}
        if not named or not (item.alias or isinstance(item.value, Name)):
            name = _untaken(name, taken, len(outputs) + 1)
        _identifier(name, item.at)
        if name in taken:
            raise DuplicateOutput(
                f"two output columns are called {name!r}",
                position=item.at,
                found=name,
                exists=[column.name for column, _ in outputs],
                attempt=f"rename one: AS {name}_2",
            )
        outputs.append((_column(name, typed), typed.expr))
    return outputs


def _untaken(name: str, taken: set[str], number: int) -> str:
    while name in taken:
        name = f"{name}_{number}"
    return name


def _expanded(items: tuple[Item, ...], scope: Scope) -> list[Item]:
    expanded: list[Item] = []
    for item in items:
        if not isinstance(item.value, Star):
            expanded.append(item)
            continue
        wanted = item.value.qualifier
        if wanted and wanted not in scope.sources:
            raise UnknownColumn(
                f"nothing in FROM is called {wanted!r}",
                position=item.at,
                found=f"{wanted}.*",
                exists=nearest(wanted, scope.sources),
                attempt=suggestion(wanted, scope.sources) or "name the source in FROM",
            )
        for alias, source in scope.sources.items():
            if wanted in ("", alias):
                expanded += [
                    Item(Name(alias, bare(column), item.at), at=item.at)
                    for column in source.columns
                    if wanted or column.name not in scope.hidden
                ]
    return expanded


def _natural(value: Expression, number: int) -> str:
    match value:
        case Name(_, name):
            return name
        case Function(name):
            return name
        case _:
            return f"column_{number}"


def _identifier(name: str, at: Position) -> None:
    if not name.isidentifier():
        raise BadName(
            f"{name!r} is no name",
            position=at,
            found=name,
            attempt="letters, digits and underscores, not starting with a digit",
        )


def _column(name: str, typed: Typed) -> Column:
    return Column(name, typed.type or Type.TEXT, typed.unit, typed.nullable)


def _union(query: UnionQuery, environment: Environment, *, named: bool) -> Plan:
    left = bind_query(query.left, environment, named=named)
    right = bind_query(query.right, environment, named=False)
    columns = unified(left, right, query.right.at)
    distinct = not query.keeps_duplicates
    parts = [part for side in (left, right) for part in _branches(side, distinct=distinct)]
    united = Union(tuple(relabelled(part, columns) for part in parts))
    return Distinct(united) if distinct else united


def _branches(plan: Plan, *, distinct: bool) -> tuple[Plan, ...]:
    """Takes a union of the same kind apart: a UNION (b UNION c) is one union of three."""
    match plan:
        case Union(parts):
            return parts
        case Distinct(Union(parts)) if distinct:
            return parts
    return (plan,)


def _compare(query: CompareQuery, environment: Environment, *, named: bool) -> Plan:
    left = bind_query(query.left, environment, named=named)
    right = bind_query(query.right, environment, named=False)
    columns = unified(left, right, query.right.at, query.function)
    sides = [relabelled(side, columns) for side in (left, right)]
    return SetOperation(sides[0], sides[1], SetFunction[query.function], query.keeps_duplicates)


def unified(left: Plan, right: Plan, at: Position, word: str = "UNION") -> tuple[Column, ...]:
    """Returns the columns two queries share, named by the left one.

    Args:
        word: what combines them.

    Raises:
        UnionArity: different numbers of columns.
        TypeMismatch: types that do not meet.
        UnitMismatch: units that do not.
    """
    if len(left.columns) != len(right.columns):
        raise UnionArity(
            f"one side has {len(left.columns)} columns, the other {len(right.columns)}",
            position=at,
            found=", ".join(column.name for column in right.columns),
            exists=[column.name for column in left.columns],
            attempt="select the same columns on both sides",
        )
    columns: list[Column] = []
    for i, (one, other) in enumerate(zip(left.columns, right.columns, strict=True)):
        kind, fits = meet(known_type(left, i), known_type(right, i))
        if not fits:
            raise TypeMismatch(
                f"column {one.name!r} is {spelt(one.type)} on one side of {word}"
                f" and {spelt(other.type)} on the other",
                position=at,
                found=spelt(other.type),
                exists=(spelt(one.type),),
                attempt="CAST one side",
            )
        unit = units.common(one.unit, other.unit)
        if unit is None:
            raise UnitMismatch(
                f"column {one.name!r} is in {one.unit} on one side of {word}"
                f" and in {other.unit} on the other",
                position=at,
                found=other.unit,
                exists=(one.unit,),
                attempt="name the quantity in a column of its own and the other NULL",
            )
        nullable = one.nullable or other.nullable
        columns.append(Column(one.name, kind or Type.TEXT, unit, nullable))
    return tuple(columns)


def _with(query: WithQuery, environment: Environment, *, named: bool) -> Plan:
    for cte in query.ctes:
        _identifier(cte.name, cte.at)
    if query.recursive:
        query = replace(query, ctes=tuple(map(as_set, query.ctes)))
    parts = recursive_components(query) if query.recursive else [(cte,) for cte in query.ctes]
    for part in parts:
        if query.recursive and (len(part) > 1 or reads_itself(part[0])):
            plans = bind_recursion(part, environment, bind_query, unified, query.most)
            for name, plan in plans.items():
                environment = environment.with_cte(name, plan)
            continue
        (cte,) = part
        plain = _renamed(cte, bind_query(cte.query, environment, named=not cte.columns))
        environment = environment.with_cte(cte.name, plain)
    return bind_query(query.body, environment, named=named)


def _renamed(cte: Cte, query: Plan) -> Plan:
    if not cte.columns:
        return query
    if len(cte.columns) != len(query.columns):
        raise UnionArity(
            f"{cte.name} names {len(cte.columns)} columns, its query has {len(query.columns)}",
            position=cte.at,
            found=", ".join(cte.columns),
            exists=[column.name for column in query.columns],
            attempt="name each column once",
        )
    columns = tuple(
        replace(column, name=name) for column, name in zip(query.columns, cte.columns, strict=True)
    )
    return relabelled(query, columns)
