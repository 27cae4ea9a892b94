"""sqlglot's tree → our AST; what StreamSQL leaves out is refused by name."""

from __future__ import annotations

from sqlglot import exp

from aspen.errors import Position
from aspen.streamsql.ast import (
    CreateView,
    Cte,
    DerivedSource,
    Expression,
    Item,
    Name,
    NamedSource,
    Query,
    Select,
    SelectQuery,
    Source,
    Star,
    Statement,
    UnionQuery,
    WindowSpec,
    WithQuery,
)
from aspen.streamsql.dialect import StreamWindow
from aspen.streamsql.errors import NotAQuery, SyntaxRefused, Unsupported
from aspen.streamsql.spans import Spans
from aspen.streamsql.translate_expr import ExpressionTranslator, word

_DEEPEST = 100
_CLAUSES = {
    "order": ("ORDER BY", "a maintained view has no order; the reader sorts its rows"),
    "limit": ("LIMIT", "keep the best rows with MIN, MAX or NOT EXISTS (a better one)"),
    "offset": ("OFFSET", "a maintained view has no order"),
    "fetch": ("FETCH", "keep the best rows with MIN, MAX or NOT EXISTS (a better one)"),
    "qualify": ("QUALIFY", "filter in an outer SELECT"),
    "windows": ("WINDOW", "windows stand in brackets behind a stream: [RANGE 30 SECONDS]"),
    "laterals": ("LATERAL", "write a join"),
    "pivots": ("PIVOT", "write CASE expressions"),
    "sample": ("TABLESAMPLE", "filter with WHERE"),
    "into": ("INTO", "write CREATE VIEW … AS SELECT …"),
    "locks": ("FOR UPDATE", "a query only reads"),
    "hint": ("a hint", "the optimizer decides; see EXPLAIN"),
    "connect": ("CONNECT BY", "write WITH RECURSIVE"),
    "cluster": ("CLUSTER BY", "leave it out"),
    "distribute": ("DISTRIBUTE BY", "leave it out"),
    "sort": ("SORT BY", "a maintained view has no order"),
    "match": ("MATCH_RECOGNIZE", "write joins over windows"),
    "prewhere": ("PREWHERE", "write WHERE"),
    "kind": ("SELECT AS", "name the columns"),
    "by_name": ("UNION BY NAME", "list the columns in one order on both sides"),
}


class Translator:
    """Turns statements over one text into our AST.

    Args:
        spans: of that text.
    """

    def __init__(self, spans: Spans) -> None:
        self.spans = spans
        self._depth = 0
        self.expressions = ExpressionTranslator(spans, self.query)

    def statement(self, tree: exp.Expr) -> Statement:
        """Translate one statement.

        Raises:
            NotAQuery: neither SELECT nor CREATE VIEW.
        """
        if isinstance(tree, exp.Create) and tree.args.get("kind") == "VIEW":
            return self._view(tree)
        if isinstance(tree, exp.Query):
            return Select(self.query(tree), self.spans.of(tree))
        what = type(tree).__name__.upper()
        if isinstance(tree, exp.Command):
            what = str(tree.this).upper()
        what = f"{what} {tree.args.get('kind') or ''}".strip()
        first = len(self.spans.text) - len(self.spans.text.lstrip())
        end = first + len(self.spans.text[first:].split(maxsplit=1)[0])
        raise NotAQuery(
            "a StreamSQL text only asks; it changes nothing",
            position=self.spans.position(first, end),
            found=what,
            exists=("SELECT", "WITH", "CREATE VIEW"),
            attempt="change tables through the map, the admin pages or the REST interface",
        )

    def _view(self, tree: exp.Create) -> CreateView:
        target = tree.this
        columns: tuple[str, ...] = ()
        if isinstance(target, exp.Schema):
            columns = tuple(word(part) for part in target.expressions)
            target = target.this
        if not isinstance(tree.expression, exp.Query):
            raise self._unsupported("a view without a query", target, "CREATE VIEW v AS SELECT …")
        name, at = word(target.this), self.spans.of(target.this)
        query = self.query(tree.expression)
        if columns:
            body = SelectQuery(
                (Item(Star("", at), at=at),), (NamedSource(name, name, at=at),), at=at
            )
            query = WithQuery((Cte(name, columns, query, at),), body, recursive=False, at=at)
        return CreateView(name, query, at)

    def query(self, tree: exp.Expr) -> Query:
        """Translate a SELECT, a UNION or a WITH.

        Raises:
            Unsupported: it is nested deeper than Python's stack allows later walks.
        """
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._unsupported("nesting this deep", tree, "split it into views")
        try:
            return self._query(tree)
        finally:
            self._depth -= 1

    def _query(self, tree: exp.Expr) -> Query:
        at = self.spans.of(tree)
        if isinstance(tree, exp.Subquery):
            return self.query(tree.this)
        found = tree.args.get("with_")
        if found is not None:
            ctes = tuple(self._cte(cte) for cte in found.expressions)
            return WithQuery(ctes, self._plain(tree, at), bool(found.args.get("recursive")), at)
        return self._plain(tree, at)

    def _plain(self, tree: exp.Expr, at: Position) -> Query:
        self._refuse_clauses(tree)
        if isinstance(tree, exp.Union):
            keeps = not tree.args.get("distinct")
            return UnionQuery(self.query(tree.this), self.query(tree.expression), keeps, at)
        if not isinstance(tree, exp.Select):
            spelt = type(tree).__name__.upper()
            attempt = "write NOT EXISTS (…)" if spelt == "EXCEPT" else "write EXISTS (…) or a join"
            raise self._unsupported(spelt, tree, attempt)
        if not tree.expressions:
            raise SyntaxRefused(
                "SELECT selects nothing", position=at, attempt="name columns, or write *"
            )
        distinct = tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            raise self._unsupported("DISTINCT ON", distinct, "use GROUP BY with MIN or MAX")
        sources, conditions = self._sources(tree)
        where = tree.args.get("where")
        if where is not None:
            conditions.append(self.expressions.translate(where.this))
        group = tree.args.get("group")
        having = tree.args.get("having")
        return SelectQuery(
            tuple(self._item(item) for item in tree.expressions),
            tuple(sources),
            self.expressions.conjunction(conditions),
            self._group(group) if group is not None else (),
            self.expressions.translate(having.this) if having is not None else None,
            distinct is not None,
            at,
        )

    def _refuse_clauses(self, tree: exp.Expr) -> None:
        for key, (name, attempt) in _CLAUSES.items():
            found = tree.args.get(key)
            if found:
                piece = found[0] if isinstance(found, list) else found
                where = piece if isinstance(piece, exp.Expr) else tree
                raise self._unsupported(name, where, attempt)

    def _unsupported(self, what: str, tree: exp.Expr, attempt: str) -> Unsupported:
        return Unsupported(
            f"StreamSQL has no {what}", position=self.spans.of(tree), found=what, attempt=attempt
        )

    def _group(self, group: exp.Expr) -> tuple[Expression, ...]:
        for key in ("rollup", "cube", "grouping_sets", "all", "totals"):
            if group.args.get(key):
                spelt = f"GROUP BY {key.upper().replace('_', ' ')}"
                raise self._unsupported(spelt, group, "write a UNION ALL of plain groupings")
        return tuple(self.expressions.translate(key) for key in group.expressions)

    def _cte(self, tree: exp.Expr) -> Cte:
        alias = tree.args["alias"]
        columns = tuple(word(column) for column in alias.args.get("columns") or ())
        return Cte(word(alias.this), columns, self.query(tree.this), self.spans.of(alias.this))

    def _item(self, tree: exp.Expr) -> Item:
        at = self.spans.of(tree)
        if isinstance(tree, exp.Alias):
            return Item(self.expressions.translate(tree.this), word(tree.args["alias"]), at)
        if isinstance(tree, exp.Star):
            if tree.args.get("except_") or tree.args.get("replace") or tree.args.get("rename"):
                raise self._unsupported("* EXCEPT or * REPLACE", tree, "list the columns")
            return Item(Star("", at), at=at)
        if isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star):
            return Item(Star(word(tree.args["table"]), at), at=at)
        return Item(self.expressions.translate(tree), at=at)

    def _sources(self, tree: exp.Select) -> tuple[list[Source], list[Expression]]:
        found = tree.args.get("from_")
        sources: list[Source] = []
        conditions: list[Expression] = []
        if found is not None:
            self._source(found.this, sources, conditions)
        for join in tree.args.get("joins") or ():
            self._join(join, sources, conditions)
        return sources, conditions

    def _join(self, join: exp.Expr, sources: list[Source], conditions: list[Expression]) -> None:
        side = str(join.args.get("side") or "")
        kind = str(join.args.get("kind") or "")
        method = str(join.args.get("method") or "")
        if side or kind in ("OUTER", "SEMI", "ANTI", "STRAIGHT"):
            spelt = f"{side} {kind}".strip() + " JOIN"
            attempt = "a join, and for what is missing UNION ALL … WHERE NOT EXISTS (…)"
            raise self._unsupported(spelt, join.this, attempt)
        if method or join.args.get("using"):
            spelt = f"{method} JOIN" if method else "USING"
            raise self._unsupported(spelt, join.this, "name the columns: ON a.x = b.x")
        self._source(join.this, sources, conditions)
        on = join.args.get("on")
        if on is not None:
            conditions.append(self.expressions.translate(on))

    def _source(self, tree: exp.Expr, sources: list[Source], conditions: list[Expression]) -> None:
        alias = tree.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise self._unsupported(
                "column list behind an alias", alias, "use AS in the select list"
            )
        named = word(alias.this) if alias is not None and alias.this is not None else ""
        at = self.spans.of(tree)
        if isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Query):
            if not named:
                raise self._unsupported("sub-select without a name", tree, "( … ) AS t")
            self._refuse_clauses(tree)
            sources.append(DerivedSource(self.query(tree.this), named, at))
        elif isinstance(tree, exp.Table) and isinstance(tree.this, exp.Identifier):
            if tree.args.get("db"):
                raise self._unsupported("schema in front of a name", tree, "the bare name")
            self._refuse_clauses(tree)
            name = word(tree.this)
            window = tree.args.get("stream_window")
            spec = self._window(window) if window is not None else None
            sources.append(NamedSource(name, named or name, spec, self.spans.of(tree.this)))
        else:
            spelt = f"{type(tree).__name__.upper()} in FROM"
            raise self._unsupported(spelt, tree, "a relation, a view or a sub-select")
        for join in tree.args.get("joins") or ():
            self._join(join, sources, conditions)

    def _window(self, window: StreamWindow) -> WindowSpec:
        names: list[Name] = []
        for part in window.args.get("partition_by") or ():
            name = self.expressions.translate(part)
            if not isinstance(name, Name):
                raise self._unsupported("expression in PARTITION BY", part, "name a column")
            names.append(name)
        return WindowSpec(
            tuple(names),
            window.args.get("rows"),
            window.args.get("range_s"),
            self.spans.head(window),
        )
