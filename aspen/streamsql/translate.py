"""sqlglot's tree → our AST; what StreamSQL leaves out is refused by name."""

from __future__ import annotations

from sqlglot import exp

from aspen.errors import Position
from aspen.streamsql.ast import (
    CompareQuery,
    CreateView,
    Cte,
    Expression,
    Item,
    Literal,
    NamedSource,
    OrderedQuery,
    OrderKey,
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
from aspen.streamsql.bind_expr import has_aggregate
from aspen.streamsql.dialect_statements import DeclaredRelation
from aspen.streamsql.errors import NotAQuery, NotGrouped, SyntaxRefused, Unsupported
from aspen.streamsql.spans import Spans
from aspen.streamsql.translate_expr import ExpressionTranslator, word
from aspen.streamsql.translate_from import FromTranslator
from aspen.streamsql.translate_table import declared

_DEEPEST = 100
_CLAUSES = {
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


def not_a_query(text: str, what: str) -> NotAQuery:
    """Returns the refusal of a statement that changes something, where only queries stand.

    Args:
        what: the words it begins with.
    """
    first = len(text) - len(text.lstrip())
    end = first + len(text[first:].split(maxsplit=1)[0])
    return NotAQuery(
        "a StreamSQL text only asks; it changes nothing",
        position=Spans(text).position(first, end),
        found=what,
        exists=("SELECT", "WITH", "VALUES", "ONCE SELECT", "CREATE VIEW", "CREATE STREAM"),
        attempt="change tables through the map, the admin pages or the REST interface",
    )


class Translator:
    """Turns statements over one text into our AST.

    Args:
        spans: of that text.
    """

    def __init__(self, spans: Spans) -> None:
        self.spans = spans
        self._depth = 0
        self.expressions = ExpressionTranslator(spans, self.query)
        self._from = FromTranslator(spans, self.expressions, self.query, self._refuse_clauses)

    def statement(self, tree: exp.Expr) -> Statement:
        """Translate one statement.

        Raises:
            NotAQuery: neither SELECT nor CREATE VIEW.
        """
        if isinstance(tree, DeclaredRelation):
            return declared(tree, self.spans)
        if isinstance(tree, exp.Create) and tree.args.get("kind") == "VIEW":
            return self._view(tree)
        if isinstance(tree, exp.Query | exp.Values):
            once = bool(tree.meta.get("once"))
            return Select(self.query(tree), self._outputs(tree), once, self.spans.of(tree))
        what = type(tree).__name__.upper()
        if isinstance(tree, exp.Command):
            what = str(tree.this).upper()
        what = f"{what} {tree.args.get('kind') or ''}".strip()
        raise not_a_query(self.spans.text, what)

    def _view(self, tree: exp.Create) -> CreateView:
        target = tree.this
        columns: tuple[str, ...] = ()
        if isinstance(target, exp.Schema):
            columns = tuple(word(part) for part in target.expressions)
            target = target.this
        if not isinstance(tree.expression, exp.Query | exp.Values):
            raise self._unsupported("a view without a query", target, "CREATE VIEW v AS SELECT …")
        name, at = word(target.this), self.spans.of(target.this)
        query = self.query(tree.expression)
        if tree.meta.get("recursive"):
            whole = SelectQuery(
                (Item(Star("", at), at=at),), (NamedSource(name, name, at=at),), at=at
            )
            query = WithQuery((Cte(name, columns, query, at),), whole, recursive=True, at=at)
        elif columns:
            body = SelectQuery(
                (Item(Star("", at), at=at),), (NamedSource(name, name, at=at),), at=at
            )
            query = WithQuery((Cte(name, columns, query, at),), body, recursive=False, at=at)
        return CreateView(name, query, self._outputs(tree), at)

    def _outputs(self, tree: exp.Expr) -> tuple[Output, ...]:
        return tuple(
            Output(target.args["kind"], target.args["this"], self.spans.head(target))
            for target in tree.meta.get("outputs") or ()
        )

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
        found = tree.args.get("with_")
        if found is not None:
            ctes = tuple(self._cte(cte) for cte in found.expressions)
            recursive, most = bool(found.args.get("recursive")), found.meta.get("most")
            return WithQuery(ctes, self._ordered(tree, at), recursive, at, most=most)
        return self._ordered(tree, at)

    def _ordered(self, tree: exp.Expr, at: Position) -> Query:
        body = self.query(tree.this) if isinstance(tree, exp.Subquery) else self._plain(tree, at)
        order = tree.args.get("order")
        keys = tuple(self._key(key) for key in order.expressions) if order is not None else ()
        limit = self._count(tree.args.get("limit"))
        offset = self._count(tree.args.get("offset")) or 0
        if not keys and limit is None and not offset:
            return body
        return OrderedQuery(body, keys, limit, offset, at)

    def _key(self, tree: exp.Expr) -> OrderKey:
        at = self.spans.of(tree)
        if not isinstance(tree, exp.Ordered):
            return OrderKey(self.expressions.translate(tree), at=at)
        value = self.expressions.translate(tree.this)
        return OrderKey(value, bool(tree.args.get("desc")), not tree.args.get("nulls_first"), at)

    def _count(self, tree: exp.Expr | None) -> int | None:
        """Returns the number behind LIMIT, OFFSET or FETCH; None for all."""
        if tree is None:
            return None
        if tree.args.get("limit_options") is not None or tree.args.get("expressions"):
            raise self._unsupported("LIMIT … BY and WITH TIES", tree, "LIMIT 10")
        number = tree.args.get("count") if isinstance(tree, exp.Fetch) else tree.expression
        value = self.expressions.translate(number) if number is not None else Literal(None)
        match value:
            case Literal(None):
                return None
            case Literal(int(count)) if not isinstance(count, bool):
                return None if count < 0 else count
        raise self._unsupported("computed LIMIT", tree, "a whole number: LIMIT 10")

    def _plain(self, tree: exp.Expr, at: Position) -> Query:
        self._refuse_clauses(tree)
        if isinstance(tree, exp.Union):
            keeps = not tree.args.get("distinct")
            return UnionQuery(self.query(tree.this), self.query(tree.expression), keeps, at)
        if isinstance(tree, exp.Except | exp.Intersect):
            keeps = not tree.args.get("distinct")
            sides = (self.query(tree.this), self.query(tree.expression))
            return CompareQuery(*sides, type(tree).__name__.upper(), keeps, at)
        if isinstance(tree, exp.Values):
            return ValuesQuery(tuple(self._row(row) for row in tree.expressions), at)
        if not isinstance(tree, exp.Select):
            spelt = type(tree).__name__.upper()
            raise self._unsupported(spelt, tree, "a SELECT")
        if not tree.expressions:
            raise SyntaxRefused(
                "SELECT selects nothing", position=at, attempt="name columns, or write *"
            )
        distinct = tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            raise self._unsupported("DISTINCT ON", distinct, "use GROUP BY with MIN or MAX")
        sources, conditions = self._from.sources(tree)
        where = tree.args.get("where")
        if where is not None:
            conditions.append(self.expressions.translate(where.this))
        group = tree.args.get("group")
        having = tree.args.get("having")
        items = tuple(self._item(item) for item in tree.expressions)
        return SelectQuery(
            items,
            tuple(sources),
            self.expressions.conjunction(conditions),
            self._group(group, items) if group is not None else (),
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

    def _row(self, tree: exp.Expr) -> tuple[Expression, ...]:
        values = tree.expressions if isinstance(tree, exp.Tuple) else (tree,)
        return tuple(map(self.expressions.translate, values))

    def _group(self, group: exp.Expr, items: tuple[Item, ...]) -> tuple[Expression, ...]:
        for key in ("rollup", "cube", "grouping_sets", "totals"):
            if group.args.get(key):
                spelt = f"GROUP BY {key.upper().replace('_', ' ')}"
                raise self._unsupported(spelt, group, "write a UNION ALL of plain groupings")
        if group.args.get("all"):
            plain = [item.value for item in items if not isinstance(item.value, Star)]
            return tuple(value for value in plain if not has_aggregate(value))
        return tuple(self._group_key(key, items) for key in group.expressions)

    def _group_key(self, tree: exp.Expr, items: tuple[Item, ...]) -> Expression:
        """Translate a key; a whole number is the place of an output."""
        key = self.expressions.translate(tree)
        if not isinstance(key, Literal) or type(key.value) is not int:
            return key
        value = items[key.value - 1].value if 1 <= key.value <= len(items) else None
        if value is None or isinstance(value, Star):
            raise NotGrouped(
                f"there is no output {key.value} to group by",
                position=key.at,
                found=str(key.value),
                exists=[f"1 to {len(items)}"],
                attempt="name the column",
            )
        return value

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
