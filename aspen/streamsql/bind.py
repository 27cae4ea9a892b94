"""Border 2: sqlglot's tree → plan (names, types, units, source kinds); sub-queries are Apply."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Distinct, Filter, Plan, Project, SetFunction, SetOperation, Union
from aspen.algebra.renaming import filtered, narrowed
from aspen.errors import Position
from aspen.model.catalog import Catalog
from aspen.model.schema import SourceKind
from aspen.streamsql.aliases import meant
from aspen.streamsql.bind_alarm import bind_outputs
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.bind_from import FromBinder
from aspen.streamsql.bind_group import Grouping
from aspen.streamsql.bind_order import (
    OrderedQuery,
    bind_order,
    distinct_on,
    is_bare,
    is_ordered,
    kept_in_order,
    unwrapped,
)
from aspen.streamsql.bind_over import Overs, row_aliases
from aspen.streamsql.bind_recursion import bind_recursion
from aspen.streamsql.bind_select import bind_select, expanded
from aspen.streamsql.bind_source import renamed
from aspen.streamsql.bind_subquery import Subqueries
from aspen.streamsql.bind_values import bind_values
from aspen.streamsql.decimals import kept
from aspen.streamsql.errors import (
    BadName,
    NonStratified,
    NotAQuery,
    SyntaxRefused,
    UnboundedRecursion,
    UnionArity,
    Unsupported,
    ViewCycle,
)
from aspen.streamsql.positions import whole
from aspen.streamsql.reads import names_read
from aspen.streamsql.recursion_text import reads_itself, recursive_components
from aspen.streamsql.scope import Environment
from aspen.streamsql.statement import Output, Statement
from aspen.streamsql.tree import Item, is_grouped, unsupported
from aspen.streamsql.typing_rules import relabelled, unified
from aspen.streamsql.unread import refuse_unread


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement whose names are looked up.

    Args:
        name: of the view, None for a bare query.
        order: its plan with the keys of its order, where the text gives one.
        unproved: its recursions that are not known to end.
    """

    name: str | None
    plan: Plan
    order: OrderedQuery | None = None
    outputs: tuple[Output, ...] = ()
    once: bool = False
    unproved: tuple[UnboundedRecursion, ...] = ()

    @property
    def text(self) -> str:
        """The plan as text, below what it is and above where it goes."""
        head = f"view {self.name}" if self.name else "query"
        lines = [f"once {head}" if self.once else head]
        lines += [f"  {line}" for line in plan_text(self.plan).splitlines()]
        lines += [f"  output to {one.text}" for one in self.outputs]
        return "\n".join(lines) + "\n"


def bind(statement: Statement, catalog: Catalog) -> Bound:
    """Bind one statement.

    Args:
        catalog: the relations and views it may name.

    Raises:
        BindError: whatever does not fit, with its position in the text.
        Unsupported: what StreamSQL leaves out.
    """
    if statement.relation is not None:
        raise NotAQuery(
            f"{statement.name} is declared here, nothing is asked",
            position=statement.at,
            found=statement.kind,
            exists=("SELECT", "WITH", "VALUES", "CREATE VIEW"),
            attempt="declare relations first, then ask",
        )
    if statement.name:
        _check_name(statement, catalog)
    named = bool(statement.name)
    try:
        environment = environment_of(catalog)
        ordered = bind_ordered(statement.query, environment, named=named)
    except RecursionError as error:
        raise Unsupported(
            "the query is nested too deeply", attempt="split it into views or CTEs"
        ) from error
    refuse_unread(statement.query)
    plan = narrowed(ordered.plan, ordered.columns)
    order = kept_in_order(ordered) if ordered.keys else None
    once = statement.kind == "once"
    outputs = bind_outputs(statement.outputs, plan, catalog)
    unproved = tuple(environment.unproved)
    return Bound(statement.name or None, kept(plan), order, outputs, once, unproved)


def environment_of(catalog: Catalog) -> Environment:
    """Returns what names mean outside every query."""
    return Environment(catalog, bind_query)


def _check_name(statement: Statement, catalog: Catalog) -> None:
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


def bind_query(tree: exp.Expr, environment: Environment, *, named: bool = True) -> Plan:
    """Bind a SELECT, a UNION, VALUES or a WITH.

    Args:
        named: whether its column names will be seen; if not, equal ones are told apart.
    """
    ordered = bind_ordered(tree, environment, named=named)
    return narrowed(ordered.plan, ordered.columns)


def bind_ordered(tree: exp.Expr, environment: Environment, *, named: bool = True) -> OrderedQuery:
    """Bind a query with the keys of its order, as `bind_query`."""
    found = tree.args.get("with_")
    if found is not None:
        environment = _with(found, environment)
    if not is_ordered(tree):
        if isinstance(tree, exp.Subquery):
            return bind_ordered(tree.this, environment, named=named)
        plan = _plain(tree, environment, [], named=named)
        return OrderedQuery(plan, (), plan.columns)
    body = unwrapped(tree.this) if isinstance(tree, exp.Subquery) else tree
    if body is not tree and not (isinstance(body, exp.Select) and is_bare(body)):
        return bind_order(tree, None, lambda _: bind_query(body, environment, named=named))
    select = body if isinstance(body, exp.Select) else None
    return bind_order(tree, select, lambda more: _plain(body, environment, more, named=named))


def _plain(tree: exp.Expr, environment: Environment, hidden: list[Item], *, named: bool) -> Plan:
    """Bind a query without its WITH and its order.

    Args:
        hidden: outputs that only the order needs.
    """
    match tree:
        case exp.Select():
            return _select(tree, environment, hidden, named=named)
        case exp.Union():
            return _union(tree, environment, named=named)
        case exp.Except() | exp.Intersect():
            return _compare(tree, environment, named=named)
        case exp.Values():
            return bind_values(tree)
    raise unsupported(type(tree).__name__.upper(), tree, "a SELECT")


def _select(
    select: exp.Select, environment: Environment, hidden: list[Item], *, named: bool
) -> Plan:
    if not select.expressions:
        raise SyntaxRefused(
            "SELECT selects nothing", position=whole(select), attempt="name columns, or write *"
        )
    rows = FromBinder(environment).bind(select)
    own = rows.items
    hidden = [item._replace(value=meant(item.value, rows.named)) for item in hidden]
    items = [*expanded(own, rows.scope), *hidden]
    single, late = Subqueries(environment, rows.scope), Subqueries(environment, rows.scope)
    overs = Overs(environment, select)
    plan = rows.plan
    if is_grouped(select, hidden):
        grouping = Grouping(rows.scope, select, own, single, late)
        binder = overs.binder(grouping.binder)
        outputs = bind_select(items, binder, named=named)
        found = select.args.get("having")
        having = None
        if found is not None:
            having = grouping.binder.predicate(meant(found.this, rows.named), "HAVING")
        late.check_grouped(grouping.names, whole(select))
        plan = late.over(grouping.over(single.over(plan)))
        if having is not None:
            plan = Filter(plan, having.expr)
    else:
        binder = overs.binder(ExpressionBinder(rows.scope, None, late))
        outputs = bind_select(items, binder, named=named)
        plan = late.over(plan)
    qualify = overs.qualify(binder, row_aliases(select))
    plan = filtered(overs.over(plan), () if qualify is None else (qualify,))
    if rows.recursive and (rows.varies or single.found or late.vary or overs.found):
        spelt = "OVER" if overs.found else "a sub-query"
        raise NonStratified(
            f"the value of {spelt} in a recursive step has no least answer",
            position=whole(select),
            found=spelt,
            attempt="compute it in a CTE or view that the step joins with",
        )
    plan = Project(plan, tuple(outputs))
    # DISTINCT ON is cut by its order, as LIMIT is.
    distinct = select.args.get("distinct") is not None and not distinct_on(select)
    return Distinct(plan) if distinct else plan


def _identifier(name: str, at: Position) -> None:
    if not name.isidentifier():
        raise BadName(
            f"{name!r} is no name",
            position=at,
            found=name,
            attempt="letters, digits and underscores, not starting with a digit",
        )


def _union(tree: exp.Expr, environment: Environment, *, named: bool) -> Plan:
    # A chain of unions nests to the left, deeper than Python's stack.
    chain = [tree]
    while isinstance(chain[-1].this, exp.Union) and is_bare(chain[-1].this):
        chain.append(chain[-1].this)
    plan = bind_query(chain[-1].this, environment, named=named)
    for union in reversed(chain):
        right = bind_query(union.expression, environment, named=False)
        columns = unified(plan, right, whole(union.expression))
        distinct = bool(union.args.get("distinct"))
        parts = [part for side in (plan, right) for part in _branches(side, distinct=distinct)]
        plan = Union(tuple(relabelled(part, columns) for part in parts))
        plan = Distinct(plan) if distinct else plan
    return plan


def _branches(plan: Plan, *, distinct: bool) -> tuple[Plan, ...]:
    """Takes a union of the same kind apart: a UNION (b UNION c) is one union of three."""
    match plan:
        case Union(parts):
            return parts
        case Distinct(Union(parts)) if distinct:
            return parts
    return (plan,)


def _compare(tree: exp.Expr, environment: Environment, *, named: bool) -> Plan:
    function = type(tree).__name__.upper()
    left = bind_query(tree.this, environment, named=named)
    right = bind_query(tree.expression, environment, named=False)
    columns = unified(left, right, whole(tree.expression), function)
    sides = [relabelled(side, columns) for side in (left, right)]
    keeps_duplicates = not tree.args.get("distinct")
    return SetOperation(sides[0], sides[1], SetFunction[function], keeps_duplicates)


def _with(tree: exp.Expr, environment: Environment) -> Environment:
    """Returns an environment that knows the queries of a WITH."""
    recursive = bool(tree.args.get("recursive"))
    taken: set[str] = set()
    for cte in tree.expressions:
        here = whole(cte.args["alias"].this)
        _identifier(cte.alias, here)
        if cte.alias in taken:
            raise BadName(
                f"two queries of the WITH are called {cte.alias!r}",
                position=here,
                found=cte.alias,
                attempt=f"rename one: {cte.alias}_2",
            )
        taken.add(cte.alias)
    parts = (
        recursive_components(tree.expressions) if recursive else [(c,) for c in tree.expressions]
    )
    for part in parts:
        if recursive and (len(part) > 1 or reads_itself(part[0])):
            for name, plan in bind_recursion(part, environment, tree.meta.get("most")).items():
                environment = environment.with_cte(name, plan)
            continue
        (cte,) = part
        query = environment.bind(cte.this, named=False)
        environment = environment.with_cte(cte.alias, _renamed(cte, query))
    return environment


def _renamed(cte: exp.CTE, query: Plan) -> Plan:
    names = cte.alias_column_names
    if not names:
        return query
    if len(names) > len(query.columns):
        raise UnionArity(
            f"{cte.alias} names {len(names)} columns, its query has {len(query.columns)}",
            position=whole(cte.args["alias"].this),
            found=", ".join(names),
            exists=[column.name for column in query.columns],
            attempt="name each column once",
        )
    return relabelled(query, renamed(query.columns, names))
