"""What nodes of sqlglot's tree stand for in StreamSQL: calls, constants, sub-queries, parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlglot import exp

from aspen.algebra.expr import Const
from aspen.algebra.plan import AggregateFunction
from aspen.algebra.times import PART_FUNCTIONS
from aspen.errors import Position
from aspen.model.schema import INT_LEAST
from aspen.streamsql.errors import SyntaxRefused, Unsupported
from aspen.streamsql.numbers import number
from aspen.streamsql.positions import at, placed, whole
from aspen.streamsql.spellings import SPELLINGS
from aspen.streamsql.sql_types import CASTS, TO_DECIMAL, TRIES, type_of

COMPARED: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
CHOICES = ("nullif", "iif", "if", "mod", "pi", "date_add", "age")
"""Functions that are other expressions in other words: CASE, an operator, a number."""


def unsupported(what: str, tree: exp.Expr, attempt: str) -> Unsupported:
    """Returns the refusal of what StreamSQL leaves out."""
    return Unsupported(
        f"StreamSQL has no {what}", position=whole(tree), found=what, attempt=attempt
    )


def is_query(tree: object) -> bool:
    """Whether a node gives rows."""
    return isinstance(tree, exp.Query | exp.Values)


def within(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Returns the nodes of an expression; a query in it is one node."""
    return tree.walk(prune=is_query)


def conjuncts(tree: exp.Expr | None) -> Iterator[exp.Expr]:
    """Returns the parts that ANDs join, left to right."""
    waiting = [] if tree is None else [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.And):
            waiting += [node.expression, node.this]
        else:
            yield node


def constant(tree: exp.Expr) -> Const | None:
    """Returns what a literal stands for, None for what is none.

    Raises:
        SyntaxRefused: a number that no column can hold.
    """
    match tree:
        case exp.Literal():
            return Const(str(tree.this) if tree.is_string else number(tree))
        case exp.Boolean():
            return Const(bool(tree.this))
        case exp.Null():
            return Const(None)
        case exp.Neg():
            inner = constant(tree.this)
            if inner and type(inner.value) in (int, float) and inner.value != INT_LEAST:
                return Const(-inner.value)  # type: ignore[operator]  # a number, see the guard
    return None


def column_of(qualifier: str, name: str, at: Position) -> exp.Column:
    """Returns a column by name.

    Args:
        qualifier: the source it is of, empty for a bare name.
    """
    table = exp.Identifier(this=qualifier, quoted=False) if qualifier else None
    return placed(exp.Column(this=exp.Identifier(this=name, quoted=False), table=table), at)


class Item(NamedTuple):
    """One entry of a select list."""

    value: exp.Expr
    alias: str
    at: Position

    @property
    def name(self) -> str:
        """What the text calls it: its alias, or the column it is."""
        plain = isinstance(self.value, exp.Column) and not self.value.is_star
        return self.alias or (self.value.name if plain else "")


def items_of(select: exp.Expr) -> list[Item]:
    """Returns the select list of a SELECT.

    Raises:
        SyntaxRefused: a name in quotes that is empty.
    """
    for tree in select.expressions:
        if isinstance(tree, exp.Alias) and not tree.alias:
            raise SyntaxRefused("this name is empty", position=whole(tree), attempt="name it")
    return [
        Item(tree.this, tree.alias, whole(tree))
        if isinstance(tree, exp.Alias)
        else Item(tree, "", whole(tree))
        for tree in select.expressions
    ]


class FunctionCall(NamedTuple):
    """A call, scalar or aggregate.

    Args:
        star: `COUNT(*)`.
        distinct: `COUNT(DISTINCT x)`.
        order: `STRING_AGG(x, ', ' ORDER BY y)`.
    """

    name: str
    arguments: tuple[exp.Expr, ...]
    star: bool = False
    distinct: bool = False
    order: tuple[exp.Expr, ...] = ()

    @property
    def aggregate(self) -> AggregateFunction | None:
        """Returns which aggregate it is, if any."""
        return AggregateFunction.__members__.get(self.name.upper())


def call_of(tree: exp.Expr) -> FunctionCall | None:
    """Returns the call a node is, also where SQL has an operator or words of its own for it."""
    match tree:
        case exp.Anonymous():
            return None if subquery_test(tree) or tree.name in CHOICES else _called(tree)
        case exp.Filter():
            return _filtered(tree)
        case exp.WithinGroup():
            return _within_group(tree)
        case exp.Cast():
            kind = type_of(tree.args["to"], whole(tree), "CAST(x AS FLOAT)")
            tried = isinstance(tree, exp.TryCast)
            if kind.element is not None:
                return None
            if kind.digits is not None:
                numbers = map(exp.Literal.number, kind.digits)
                return FunctionCall(TO_DECIMAL[tried], (_as_written(tree.this), *numbers))
            return FunctionCall((TRIES if tried else CASTS)[kind], (tree.this,))
        case exp.Extract():
            return _part(tree.name, tree.expression, tree)
        case exp.AtTimeZone():
            return FunctionCall("timezone", (tree.args["zone"], tree.this))
        case exp.Array(expressions=[_, *_] as values):
            return FunctionCall("list_value", tuple(values))
        case exp.Bracket(expressions=[exp.Slice(args=ends)]):
            null = placed(exp.Null(), at(tree))
            first, last = (ends.get(end) or null for end in ("this", "expression"))
            return FunctionCall("list_slice", (tree.this, first, last))
        case exp.Bracket(expressions=[index]):
            return FunctionCall("list_extract", (tree.this, index))
        case exp.In(args={"field": exp.Expr() as values}):
            return FunctionCall("list_contains", (values, tree.this))
        case exp.EQ(expression=exp.Any(this=values)) if not is_query(values):
            return FunctionCall("equals_any", (values, tree.this))
        case exp.DPipe():
            return FunctionCall("concat", (tree.this, tree.expression))
        case exp.IntDiv():
            return FunctionCall("quotient", (tree.this, tree.expression))
        case exp.Substring():
            return _given("substr", tree.this, tree.args.get("start"), tree.args.get("length"))
        case exp.Trim():
            sides = {"LEADING": "ltrim", "TRAILING": "rtrim"}
            side = sides.get(str(tree.args.get("position")), "trim")
            return _given(side, tree.this, tree.args.get("expression"))
        case exp.Like() | exp.ILike() if not tree.args.get("negate"):
            return _like(tree)
        case exp.Escape() if isinstance(tree.this, exp.Like | exp.ILike):
            found = _like(tree.this)
            negated = tree.this.args.get("negate")
            return (
                None if negated else found._replace(arguments=(*found.arguments, tree.expression))
            )
    return None


def _as_written(tree: exp.Expr) -> exp.Expr:
    """Returns a number with a point as the text it is written as, which keeps every digit."""
    sign = "-" if isinstance(tree, exp.Neg) else ""
    inner = tree.this if sign else tree
    if not isinstance(inner, exp.Literal) or inner.is_string:
        return tree
    return placed(exp.Literal.string(f"{sign}{inner.this}"), at(tree))


def _like(tree: exp.Expr) -> FunctionCall:
    name = "ilike" if isinstance(tree, exp.ILike) else "like"
    return FunctionCall(name, (tree.this, tree.expression))


def _part(part: str, value: exp.Expr, tree: exp.Expr) -> FunctionCall:
    if part.lower() == "epoch":
        return FunctionCall("epoch", (value,))
    word = exp.Literal.string(part.lower())
    return FunctionCall("date_part", (placed(word, at(tree)), value))


def _given(name: str, *arguments: exp.Expr | None) -> FunctionCall:
    return FunctionCall(name, tuple(argument for argument in arguments if argument is not None))


def _called(tree: exp.Anonymous) -> FunctionCall:
    arguments, order = list(tree.expressions), tuple[exp.Expr, ...]()
    if arguments and isinstance(arguments[-1], exp.Order):
        order = tuple(arguments[-1].expressions)
        arguments[-1] = arguments[-1].this
    distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if distinct:
        arguments[:1] = arguments[0].expressions
    name = SPELLINGS.get(tree.name, tree.name)
    match arguments:
        case (exp.Star(),):
            return FunctionCall(name, (), star=True)
        case (_, _, *_) if tree.name in ("min", "max"):
            name = "least" if name == "min" else "greatest"
        case (value,) if tree.name == "median":
            half = placed(exp.Literal.number("0.5"), at(tree))
            return FunctionCall("quantile_cont", (value, half), distinct=distinct, order=order)
        case (value,) if tree.name in PART_FUNCTIONS:
            return _part(tree.name, value, tree)
        case (exp.Literal() as part, value) if name == "date_part":
            return _part(part.name, value, tree)
        case (value,) if name == "array_agg":
            one = placed(exp.Array(expressions=[value.copy()]), at(tree))
            return FunctionCall(name, (one,), distinct=distinct, order=order)
        case (_,) if tree.name == "log":
            name = "log10"
        case (test,) if tree.name in ("count_if", "countif"):
            return FunctionCall(
                "count", (_when(test, exp.Literal.number(1), at(tree)),), distinct=distinct
            )
    return FunctionCall(name, tuple(arguments), distinct=distinct, order=order)


def _within_group(tree: exp.Expr) -> FunctionCall | None:
    """Reads `f(0.5) WITHIN GROUP (ORDER BY x)` as `f(x, 0.5)`; of texts the order stays one."""
    call, keys = call_of(tree.this), tree.expression.expressions
    if call is None or call.aggregate is None or call.order:
        return None
    if call.aggregate is AggregateFunction.STRING_AGG:
        return call._replace(order=tuple(keys))
    if len(keys) != 1 or keys[0].args.get("desc"):
        return None
    return call._replace(arguments=(keys[0].this, *call.arguments))


def _when(test: exp.Expr, value: exp.Expr, here: Position) -> exp.Expr:
    """Returns `CASE WHEN test THEN value END`."""
    return placed(exp.Case(ifs=[exp.If(this=test.copy(), true=value.copy())]), here)


def called_at(tree: exp.Expr) -> Position:
    """Returns where a call stands, without the clauses behind it."""
    while isinstance(tree, exp.Filter | exp.WithinGroup):
        tree = tree.this
    return at(tree)


def _filtered(tree: exp.Filter) -> FunctionCall | None:
    """Reads `SUM(x) FILTER (WHERE c)` as `SUM(CASE WHEN c THEN x END)`."""
    call = call_of(tree.this)
    if call is None or call.aggregate is None:
        return None
    first, *others = (exp.Literal.number(1),) if call.star else call.arguments
    chosen = _when(tree.expression.this, first, at(tree))
    return call._replace(arguments=(chosen, *others), star=False)


def is_aggregate(tree: exp.Expr) -> bool:
    """Whether a node is a call of an aggregate."""
    call = call_of(tree)
    return call is not None and call.aggregate is not None


def is_grouping(tree: exp.Expr) -> bool:
    """Whether a node is GROUPING(…), which tells the groups of several sets of keys apart."""
    return isinstance(tree, exp.Anonymous) and tree.name in ("grouping", "grouping_id")


def has_aggregate(tree: exp.Expr) -> bool:
    """Whether an aggregate, or what is known of groups alone, stands in the expression."""
    return any(
        isinstance(node, exp.Anonymous)
        and (is_aggregate(node) or is_grouping(node))
        and not _is_over(node)
        for node in within(tree)
    )


def has_over(tree: exp.Expr) -> bool:
    """Whether OVER stands in the expression."""
    return any(isinstance(node, exp.Window) for node in within(tree))


def _is_over(tree: exp.Expr) -> bool:
    """Whether a call is what an OVER computes."""
    above = tree.parent
    while isinstance(above, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        tree, above = above, above.parent
    return isinstance(above, exp.Window) and above.this is tree


def has_subquery(tree: exp.Expr) -> bool:
    """Whether EXISTS, IN (SELECT …) or a scalar sub-query stands anywhere in the expression."""
    return any(map(is_query, within(tree)))


def is_grouped(select: exp.Expr, more: Iterable[Item] = ()) -> bool:
    """Whether a SELECT groups its rows.

    Args:
        more: outputs besides its own.
    """
    if select.args.get("group") or select.args.get("having"):
        return True
    values = [item.value for item in (*items_of(select), *more)]
    return any(has_aggregate(value) for value in values if not value.is_star)


class SubqueryTest(NamedTuple):
    """`EXISTS (query)`, or where there is a needle, `needle = ANY (query)`.

    Args:
        negated: whether it must not hold: ALL is the negation of the opposite.
    """

    query: exp.Expr
    needle: exp.Expr | None = None
    symbol: str = "="
    negated: bool = False


def subquery_test(tree: exp.Expr) -> SubqueryTest | None:
    """Returns the question a node asks of a query."""
    match tree:
        case exp.Exists():
            return SubqueryTest(tree.this)
        case exp.Anonymous(expressions=[inner]) if tree.name == "exists" and is_query(inner):
            return SubqueryTest(inner)
        case exp.In():
            query = tree.args.get("query")
            if query is None and len(tree.expressions) == 1:
                query = tree.expressions[0] if is_query(tree.expressions[0]) else None
            return None if query is None else SubqueryTest(query, tree.this)
    symbol, word = COMPARED.get(type(tree)), quantifier(tree.args.get("expression"))
    if symbol is None or not word:
        return None
    right = tree.expression
    inner = right.expressions[0] if isinstance(right, exp.Anonymous) else right.this
    if not isinstance(inner, exp.Query):
        return None
    every = word == "ALL"
    return SubqueryTest(inner, tree.this, _OPPOSITE[symbol] if every else symbol, every)


def quantifier(tree: exp.Expr | None) -> str:
    """Returns ANY or ALL where one stands in front of a query, else nothing."""
    if isinstance(tree, exp.Any | exp.All):
        return type(tree).__name__.upper()
    if isinstance(tree, exp.Anonymous) and len(tree.expressions) == 1:
        name = tree.name.upper().replace("SOME", "ANY")
        return name if name in ("ANY", "ALL") and isinstance(tree.expressions[0], exp.Query) else ""
    return ""
