"""sqlglot's FROM → our sources; inner joins become a list with conditions, outer ones a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from aspen.algebra.plan import WindowBounds
from aspen.streamsql.ast import (
    DerivedSource,
    Expression,
    Item,
    JoinedSource,
    Literal,
    Name,
    NamedSource,
    Query,
    SelectQuery,
    Source,
    Star,
    ValuesQuery,
    WindowClause,
    leaves,
)
from aspen.streamsql.bind_expr import operands
from aspen.streamsql.dialect import StreamWindow
from aspen.streamsql.errors import Unsupported
from aspen.streamsql.spans import Spans
from aspen.streamsql.translate_expr import ExpressionTranslator, word

_LONGEST_SERIES = 100_000
SYSTEM_SCHEMA = "sys"
"""The one schema there is: `sys.queries` is the relation `sys_queries`."""


@dataclass(slots=True)
class _Group:
    """Sources between two commas, with the conditions of their inner joins."""

    sources: list[Source] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)


class FromTranslator:
    """Turns the FROM of one SELECT into sources and conditions.

    Args:
        expressions: translates conditions.
        query: translates a sub-select, VALUES included.
        refuse_clauses: refuses what StreamSQL leaves out behind a source.
    """

    def __init__(
        self,
        spans: Spans,
        expressions: ExpressionTranslator,
        query: Callable[[exp.Expr], Query],
        refuse_clauses: Callable[[exp.Expr], None],
    ) -> None:
        self.spans = spans
        self.expressions = expressions
        self.query = query
        self.refuse_clauses = refuse_clauses

    def sources(self, tree: exp.Select) -> tuple[list[Source], list[Expression]]:
        """Translate FROM.

        Returns:
            The sources, and the conditions of their inner joins.
        """
        found = tree.args.get("from_")
        groups = [_Group()]
        if found is not None:
            self._source(found.this, groups)
        for join in tree.args.get("joins") or ():
            self._join(join, groups)
        return (
            [source for group in groups for source in group.sources],
            [condition for group in groups for condition in group.conditions],
        )

    def _join(self, join: exp.Expr, groups: list[_Group]) -> None:
        side = str(join.args.get("side") or "")
        kind = str(join.args.get("kind") or "")
        method = str(join.args.get("method") or "")
        using = tuple(word(part) for part in join.args.get("using") or ())
        if kind in ("SEMI", "ANTI", "STRAIGHT") or method not in ("", "NATURAL"):
            spelt = f"{method} {side} {kind}".strip() + " JOIN"
            raise self._unsupported(spelt, join.this, "EXISTS or NOT EXISTS")
        on = join.args.get("on")
        comma = not (side or kind or method or using or on is not None)
        inner = _Group()
        if not (side or method or using):
            if comma:
                groups.append(inner)
            self._source(join.this, groups)
            if on is not None:
                groups[-1].conditions.append(self.expressions.translate(on))
            return
        right = [_Group()]
        self._source(join.this, right)
        condition = None if on is None else self.expressions.translate(on)
        left = self._left(groups, right, condition, side)
        joined = JoinedSource(
            side or "INNER",
            tuple(left.sources),
            self.expressions.conjunction(left.conditions),
            tuple(right[0].sources),
            self.expressions.conjunction(right[0].conditions),
            condition,
            using,
            method == "NATURAL",
            self.spans.of(join.this),
        )
        groups.append(_Group([joined]))

    def _left(
        self, groups: list[_Group], right: list[_Group], on: Expression | None, side: str
    ) -> _Group:
        """Take what stands left of an outer join: the sources since the comma, or all of them.

        Law: `a, (b LEFT JOIN c)` == `(a, b) LEFT JOIN c` wherever both can be read.
        """
        last = groups.pop()
        if side != "LEFT" or on is None or not groups:
            return last
        known = {leaf.alias for part in (last, *right) for s in part.sources for leaf in leaves(s)}
        if {name.qualifier for name in _names(on)} <= known:
            return last
        whole = _Group(
            [source for group in (*groups, last) for source in group.sources],
            [condition for group in (*groups, last) for condition in group.conditions],
        )
        groups.clear()
        return whole

    def _source(self, tree: exp.Expr, groups: list[_Group]) -> None:
        group = groups[-1]
        alias = tree.args.get("alias")
        columns: tuple[str, ...] = ()
        if alias is not None and alias.args.get("columns"):
            columns = tuple(word(part) for part in alias.args["columns"])
        named = word(alias.this) if alias is not None and alias.this is not None else ""
        at = self.spans.of(tree)
        if isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Table):
            # FROM (a JOIN b ON …)
            inside = [_Group()]
            self._source(tree.this, inside)
            for part in inside:
                group.sources += part.sources
                group.conditions += part.conditions
        elif isinstance(tree, exp.Values | exp.Subquery):
            self.refuse_clauses(tree)
            query = self.query(tree if isinstance(tree, exp.Values) else tree.this)
            name = named or f"query_{len(groups)}_{len(group.sources) + 1}"
            group.sources.append(DerivedSource(query, name, columns, at))
        elif isinstance(tree, exp.Table) and isinstance(tree.this, exp.Anonymous):
            call = str(tree.this.this).lower()
            rows = self._series(call, tree)
            group.sources.append(DerivedSource(rows, named or call, columns or (call,), at))
        elif isinstance(tree, exp.Table) and isinstance(tree.this, exp.Identifier):
            group.sources.append(self._table(tree, named, columns))
        else:
            spelt = f"{type(tree).__name__.upper()} in FROM"
            raise self._unsupported(spelt, tree, "a relation, a view or a sub-select")
        for join in tree.args.get("joins") or ():
            self._join(join, groups)

    def _series(self, call: str, tree: exp.Table) -> ValuesQuery:
        """Write out `range(n)` and `generate_series(a, b)`: whole numbers, one per row."""
        given = [self.expressions.translate(part) for part in tree.this.expressions]
        numbers = [v.value for v in given if isinstance(v, Literal) and type(v.value) is int]
        known = call in ("range", "generate_series") and len(numbers) == len(given)
        if not known or not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:  # noqa: PLR2004 - a, b, step
            what = f"{call.upper()} in FROM"
            raise self._unsupported(what, tree, "range(10), generate_series(1, 10), or VALUES")
        start, stop = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
        step = numbers[2] if len(numbers) == 3 else 1  # noqa: PLR2004 - as above
        if call == "generate_series":
            stop += 1 if step > 0 else -1
        series = range(start, stop, step)
        if len(series) > _LONGEST_SERIES:
            raise self._unsupported("series this long", tree, f"at most {_LONGEST_SERIES:,} rows")
        at = self.spans.of(tree)
        # A series without rows still has its column: no rows of one.
        if not series:
            raise self._unsupported("empty series", tree, "WHERE FALSE")
        return ValuesQuery(tuple((Literal(number, at),) for number in series), at)

    def _table(self, tree: exp.Table, named: str, columns: tuple[str, ...]) -> Source:
        at = self.spans.of(tree.this)
        name = word(tree.this)
        schema = tree.args.get("db")
        if schema is not None and (word(schema) != SYSTEM_SCHEMA or tree.args.get("catalog")):
            raise self._unsupported("schema in front of a name", tree, "the bare name")
        self.refuse_clauses(tree)
        window = tree.args.get("stream_window")
        spec = self._window(window) if window is not None else None
        # What stands in a schema is called by its own name: `FROM sys.queries WHERE queries.…`.
        whole_name = name if schema is None else f"{SYSTEM_SCHEMA}_{name}"
        source = NamedSource(whole_name, named or name, spec, at)
        if not columns:
            return source
        whole = SelectQuery((Item(Star("", at), at=at),), (replace(source, alias=name),), at=at)
        return DerivedSource(whole, named, columns, at)

    def _window(self, window: StreamWindow) -> WindowClause:
        names: list[Name] = []
        for part in window.args.get("partition_by") or ():
            name = self.expressions.translate(part)
            if not isinstance(name, Name):
                raise self._unsupported("expression in PARTITION BY", part, "name a column")
            names.append(name)
        bounds = {name: window.args.get(name) for name in WindowBounds._fields}
        return WindowClause(tuple(names), WindowBounds(**bounds), self.spans.head(window))

    def _unsupported(self, what: str, tree: exp.Expr, attempt: str) -> Unsupported:
        return Unsupported(
            f"StreamSQL has no {what}", position=self.spans.of(tree), found=what, attempt=attempt
        )


def _names(node: Expression) -> Iterator[Name]:
    if isinstance(node, Name):
        yield node
    for part in operands(node):
        yield from _names(part)
