"""One source in FROM: a relation with its window, a view, a CTE or a sub-select."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from aspen.algebra.lowerable import REMEMBERED_BELOW_HZ
from aspen.algebra.plan import Plan, RecursiveRef, Scan, Window
from aspen.errors import Position
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.streamsql.bind_values import bind_series
from aspen.streamsql.decimals import taken
from aspen.streamsql.dialect import bounds_of
from aspen.streamsql.errors import (
    MisplacedWindow,
    UnboundedStream,
    UnionArity,
    UnknownName,
    nearest,
    suggestion,
)
from aspen.streamsql.positions import at, whole
from aspen.streamsql.scope import Environment, NamedSource, RecursionMark, Scope, bare
from aspen.streamsql.tree import unsupported
from aspen.streamsql.typing_rules import relabelled

EVENT_TIMES = (Type.FLOAT, Type.TIMESTAMPTZ)

SYSTEM_SCHEMA = "sys"
"""The one schema there is: `sys.queries` is the relation `sys_queries`."""


class SourceBinder:
    """Binds the sources of one SELECT.

    Args:
        environment: what names in FROM mean, and the scope around.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        outer = environment.outer
        scopes = () if outer is None else outer.around
        self._taken = {source.alias for scope in scopes for source in scope.sources.values()}

    def beside(self, scope: Scope) -> SourceBinder:
        """Returns a binder of sources that read the rows of those before them."""
        made = SourceBinder(self.environment.inside(scope))
        self._taken |= made._taken
        made._taken = self._taken
        return made

    def bind(self, tree: exp.Expr, unnamed: str) -> tuple[str, Plan, NamedSource]:
        """Bind a source.

        Args:
            unnamed: how a sub-select without an alias is called.

        Returns:
            What the text calls it, its rows, and what its name means.
        """
        columns = [column.name for column in tree.args["alias"].columns] if _named(tree) else []
        match tree:
            case exp.Lateral(this=exp.Subquery(this=query)):
                return self._query(query, tree.alias or unnamed, columns, whole(tree))
            case exp.Values() | exp.Subquery():
                query = tree if isinstance(tree, exp.Values) else tree.this
                return self._query(query, tree.alias or unnamed, columns, whole(tree))
            case exp.Table(this=exp.Anonymous(name=call)):
                spoken, alias = tree.alias or call, self._alias(tree.alias or call)
                derived = _derived(alias, bind_series(tree), columns or [call], spoken, whole(tree))
                return spoken, *derived
            case exp.Table(this=exp.Identifier()):
                if not columns:
                    return self._relation(tree)
                inner = tree.copy()
                inner.set("alias", None)
                inner.set("joins", None)
                query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner))
                return self._query(query, tree.alias, columns, at(tree.this))
        spelt = f"{type(tree).__name__.upper()} in FROM"
        raise unsupported(spelt, tree, "a relation, a view or a sub-select")

    def _alias(self, alias: str) -> str:
        """Returns the alias a plan can use: one that no source around or beside has."""
        number, chosen = 2, alias
        while chosen in self._taken:
            chosen, number = f"{alias}_{number}", number + 1
        self._taken.add(chosen)
        return chosen

    def _query(
        self, query: exp.Expr, spoken: str, columns: list[str], here: Position
    ) -> tuple[str, Plan, NamedSource]:
        alias = self._alias(spoken)
        plan = self.environment.bind(query, named=False)
        return spoken, *_derived(alias, plan, columns, spoken, here)

    def _relation(self, tree: exp.Table) -> tuple[str, Plan, NamedSource]:
        # Of `FROM ..room` the parser keeps empty texts where names would be.
        qualified, above = tree.args.get("db") is not None, tree.args.get("catalog") is not None
        if qualified and (above or tree.db != SYSTEM_SCHEMA):
            raise unsupported("schema in front of a name", tree, "the bare name")
        # What stands in a schema is called by its own name: `FROM sys.queries WHERE queries.…`.
        name = relation_name(tree)
        spoken = tree.alias or tree.name
        alias = self._alias(spoken)
        known = self.environment.ctes.get(name)
        if known is not None:
            _no_window(tree, name, "a query's result")
            columns = _prefixed(alias, known.columns)
            if isinstance(known, RecursionMark):
                ref = RecursiveRef(known.name, alias, columns)
                return spoken, ref, NamedSource(alias, columns, True)
            return spoken, relabelled(known, columns), NamedSource(alias, columns)
        if name not in self.environment.catalog:
            raise UnknownName(
                f"there is no relation or view {name!r}",
                position=at(tree.this),
                found=name,
                exists=nearest(name, self.environment.names),
                attempt=suggestion(name, self.environment.names)
                or "see the schema browser for the names",
            )
        relation = self.environment.catalog.get(name)
        columns = _prefixed(alias, relation.columns)
        source = NamedSource(alias, columns)
        stream = relation.kind is SourceKind.STREAM
        scan = Scan(relation.name, alias, columns, relation.deletable, stream)
        if not stream:
            _no_window(tree, name, f"a {relation.kind.value.lower()}")
            return spoken, taken(scan), source
        window = tree.args.get("stream_window")
        if window is not None:
            return spoken, taken(_window(window, scan, Scope({spoken: source}), relation)), source
        if relation.ttl_s:
            return spoken, taken(Window(scan, range_s=relation.ttl_s)), source
        raise UnboundedStream(
            f"stream {name!r} never ends: say how much of it counts",
            position=at(tree.this),
            found=name,
            exists=("[RANGE 30 SECONDS]", "[ROWS 1]", "[PARTITION BY … ROWS 1]"),
            attempt=f"{name} [RANGE 30 SECONDS]",
        )


def relation_name(tree: exp.Table) -> str:
    """Returns the name of the relation, view or CTE that a table in FROM is."""
    return f"{SYSTEM_SCHEMA}_{tree.name}" if tree.args.get("db") else tree.name


def _named(tree: exp.Expr) -> bool:
    return tree.args.get("alias") is not None


def _derived(
    alias: str, plan: Plan, names: list[str], spoken: str, here: Position
) -> tuple[Plan, NamedSource]:
    columns = _prefixed(alias, plan.columns)
    if len(names) > len(columns):
        raise UnionArity(
            f"{spoken} names {len(names)} columns, its query has {len(columns)}",
            position=here,
            found=", ".join(names),
            exists=[bare(column) for column in columns],
            attempt="name each column once",
        )
    columns = renamed(columns, [f"{alias}.{name}" for name in names])
    return relabelled(plan, columns), NamedSource(alias, columns)


def renamed(columns: tuple[Column, ...], names: list[str]) -> tuple[Column, ...]:
    """Returns columns under new names; those behind the last name keep theirs."""
    pairs = zip(columns, names, strict=False)
    return (*(replace(column, name=name) for column, name in pairs), *columns[len(names) :])


def _no_window(tree: exp.Table, name: str, what: str) -> None:
    window = tree.args.get("stream_window")
    if window is not None:
        raise MisplacedWindow(
            f"{name!r} is {what}: only a stream has a window",
            position=at(window),
            found=name,
            attempt="leave the window out",
        )


def _window(tree: exp.Expr, scan: Scan, scope: Scope, relation: Relation) -> Window:
    by: list[str] = []
    for part in tree.args.get("partition_by") or ():
        if not isinstance(part, exp.Column):
            raise unsupported("expression in PARTITION BY", part, "name a column")
        by.append(scope.find(part.table, part.name, at(part)).name)
    bounds, on = bounds_of(tree), _event_time(tree, scope)
    if relation.ttl_s and bounds.session_s is not None:
        raise MisplacedWindow(
            f"rows of stream {relation.name!r} are kept for {relation.ttl_s:g} s, and a session"
            " lasts as long as rows come",
            position=at(tree),
            found=relation.name,
            attempt=f"[RANGE {relation.ttl_s:g} SECONDS]",
        )
    if bounds.slide_rows is not None and relation.rate_hz >= REMEMBERED_BELOW_HZ:
        raise MisplacedWindow(
            f"rows of stream {relation.name!r} are not counted: it is declared at"
            f" {relation.rate_hz:g} rows/s",
            position=at(tree),
            found=relation.name,
            attempt="[ROWS 10 RANGE 1 HOUR SLIDE 1 SECOND]",
        )
    if relation.ttl_s:
        # No window holds what its stream has forgotten.
        ttl_s = relation.ttl_s - (bounds.lateness_s or 0.0)
        if ttl_s <= 0:
            raise MisplacedWindow(
                f"rows of stream {relation.name!r} are kept for {relation.ttl_s:g} s, no longer"
                " than the lateness",
                position=at(tree),
                found=relation.name,
                attempt=f"a LATENESS below {relation.ttl_s:g} SECONDS",
            )
        bounds = bounds._replace(range_s=min(bounds.range_s or ttl_s, ttl_s))
    return Window(scan, tuple(by), *bounds, on=on)


def _event_time(tree: exp.Expr, scope: Scope) -> str | None:
    """Returns the column that says when a row happened."""
    on = tree.args.get("on")
    if on is None:
        return None
    if not isinstance(on, exp.Column):
        raise unsupported("expression in ON of a window", on, "name a column")
    column = scope.find(on.table, on.name, at(on))
    if column.type not in EVENT_TIMES:
        raise MisplacedWindow(
            f"{on.name!r} does not say when a row happened: it is {column.type.value}",
            position=at(on),
            found=column.type.value,
            exists=[one.value for one in EVENT_TIMES],
            attempt="a column of FLOAT seconds since 1970, or of TIMESTAMPTZ",
        )
    return column.name


def _prefixed(alias: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(replace(column, name=f"{alias}.{bare(column)}") for column in columns)
