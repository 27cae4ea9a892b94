"""Expressions of sqlglot's tree → typed expressions of the algebra; the rest is refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Protocol

from sqlglot import exp

from aspen.algebra.expr import Const, Expr, IsNull, Not, Op
from aspen.errors import Position
from aspen.model.schema import Type
from aspen.streamsql.bind_arrays import bind_array
from aspen.streamsql.errors import (
    MisplacedAggregate,
    MisplacedExists,
    TypeMismatch,
    Unsupported,
)
from aspen.streamsql.positions import at, placed, whole
from aspen.streamsql.scope import Scope
from aspen.streamsql.spans import span_of
from aspen.streamsql.tree import (
    COMPARED,
    FunctionCall,
    SubqueryTest,
    call_of,
    called_at,
    constant,
    is_query,
    quantifier,
    subquery_test,
    unsupported,
)
from aspen.streamsql.typing_calls import NOW, call, time_of
from aspen.streamsql.typing_operators import operator
from aspen.streamsql.typing_rules import Typed, choice, require
from aspen.streamsql.typing_times import months_moved

_BINARY: dict[type[exp.Expr], str] = {
    **COMPARED,
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
}
_LITERALS: dict[type, Type] = {
    bool: Type.BOOL,
    int: Type.INT,
    float: Type.FLOAT,
    str: Type.TEXT,
}
_LONG_CHAIN = 32
_ATTEMPTS = {
    "All": "NOT list_contains(array, value)",
    "Any": "list_contains(array, value), or ANY (SELECT …)",
    "Window": "OVER stands in the select list, QUALIFY and ORDER BY",
    "Parameter": "write the value itself",
    "Placeholder": "write the value itself",
}


class SubqueryBinder(Protocol):
    """Binds the sub-queries of one stage of a query, and remembers them."""

    def test(self, test: SubqueryTest, at: Position, outer: ExpressionBinder) -> Typed:
        """Bind a question to a query and give the column its answer will be in."""
        ...

    def scalar(self, query: exp.Expr) -> Typed:
        """Bind a query that stands for a value."""
        ...

    def now(self, at: Position) -> Typed:
        """Bind the log's time."""
        ...


class ExpressionBinder:
    """Binds expressions in one scope.

    Args:
        scope: where names are looked up.
        subqueries: takes sub-queries; None where there can be none.
        first: tried on every node before the ordinary rules; grouped queries put aggregates
            and keys here.
    """

    def __init__(
        self,
        scope: Scope,
        first: Callable[[exp.Expr], Typed | None] | None = None,
        subqueries: SubqueryBinder | None = None,
    ) -> None:
        self.scope = scope
        self.subqueries = subqueries
        self.first = first

    def predicate(self, tree: exp.Expr, where: str) -> Typed:
        """Bind a condition."""
        value = self.bind(tree)
        require(value, (Type.BOOL,), where)
        return value

    def bind(self, tree: exp.Expr) -> Typed:
        """Bind one expression.

        Raises:
            BindError: a name, type or unit that does not fit.
            Unsupported: what StreamSQL leaves out.
        """
        if self.first is not None:
            found = self.first(tree)
            if found is not None:
                return found
        literal = constant(tree)
        if literal is not None:
            return _literal(literal, at(tree))
        test = subquery_test(tree)
        if test is not None:
            return self._test(test, tree)
        called = call_of(tree)
        if called is not None:
            return self._called(called, tree)
        return self._bound(tree, at(tree))

    def _bound(self, tree: exp.Expr, here: Position) -> Typed:
        match tree:
            case exp.Column() if (
                isinstance(tree.this, exp.Identifier) and tree.args.get("db") is None
            ):
                return self.scope.typed(tree.table, tree.name, here)
            case exp.And() | exp.Or():
                return self._logical(tree, here)
            case exp.Binary() if type(tree) in COMPARED and isinstance(tree.this, exp.Tuple):
                return self._rows(COMPARED[type(tree)], tree.this, tree.expression, here)
            case exp.Binary() if quantifier(tree.expression):
                raise _unsupported(tree.expression, here)
            case exp.Interval():
                return self._span(tree, here)
            case exp.Add() | exp.Sub() if isinstance(tree.expression, exp.Interval):
                return self._moved(tree, tree.this, tree.expression, here)
            case exp.Add() if isinstance(tree.this, exp.Interval):
                return self._moved(tree, tree.expression, tree.this, here)
            case exp.Anonymous(name="date_add", expressions=[time, span]):
                moved = exp.Add(this=time.copy(), expression=span.copy())
                return self.bind(placed(moved, here))
            case exp.Binary() if type(tree) in _BINARY:
                left, right = self.bind(tree.this), self.bind(tree.expression)
                return operator(_BINARY[type(tree)], left, right, here)
            case exp.Paren():
                return self.bind(tree.this)
            case exp.Not():
                return _negated(self.bind(tree.this), here)
            case exp.Neg():
                return operator("-", _literal(Const(0), here), self.bind(tree.this), here)
            case exp.Is():
                return self._is(tree, here)
            case exp.NullSafeEQ():
                return self._same(tree.this, tree.expression, here)
            case exp.NullSafeNEQ():
                return _negated(self._same(tree.this, tree.expression, here), here)
            case exp.Between():
                return self._between(tree, here)
            case exp.In() if not (tree.args.get("unnest") or tree.args.get("field")):
                return self._listed(tree, here)
            case exp.Case():
                return self._case(tree, here)
            case exp.Anonymous():
                return self._choice(tree, here)
            case exp.Cast() | exp.Array():
                return bind_array(tree, here, self.bind)
            case exp.Like() | exp.ILike() | exp.Escape():
                return self._unlike(tree, here)
            case exp.Subquery() if is_query(tree.this):
                return self._subqueries(here).scalar(tree)
        raise _unsupported(tree, here)

    def _subqueries(self, here: Position) -> SubqueryBinder:
        if self.subqueries is not None:
            return self.subqueries
        raise MisplacedExists(
            "there can be no sub-query here",
            position=here,
            attempt="put it into WHERE, HAVING or the select list",
        )

    def _test(self, test: SubqueryTest, tree: exp.Expr) -> Typed:
        found = self._subqueries(at(tree)).test(test, at(tree), self)
        return _negated(found, at(tree)) if test.negated else found

    def _called(self, called: FunctionCall, tree: exp.Expr) -> Typed:
        here = called_at(tree)
        if called.aggregate is not None:
            raise MisplacedAggregate(
                f"{called.name.upper()} cannot stand here: rows are not grouped yet",
                position=here,
                found=called.name.upper(),
                attempt="conditions on aggregates stand in HAVING",
            )
        if called.distinct or called.order:
            said = "DISTINCT" if called.distinct else "ORDER BY"
            raise unsupported(f"{said} inside {called.name}", tree, "leave it out")
        if called.name in NOW and not called.arguments:
            return time_of(called.name, self._subqueries(here).now(here))
        return call(called.name, [self.bind(argument) for argument in called.arguments], here)

    def _choice(self, tree: exp.Anonymous, here: Position) -> Typed:
        """Bind a function that is another expression in other words."""
        null = _literal(Const(None), here)
        given = [self.bind(argument) for argument in tree.expressions]
        match tree.name, given:
            case "nullif", [value, other]:
                return choice([(operator("=", value, other, here), null)], value, here)
            case "mod", [left, right]:
                return operator("%", left, right, here)
            case "age", [later, earlier]:
                return operator("-", later, earlier, here)
            case "pi", []:
                return _literal(Const(math.pi), here)
            case (("iif" | "if"), [when, then]):
                return choice([(when, then)], null, here)
            case (("iif" | "if"), [when, then, otherwise]):
                return choice([(when, then)], otherwise, here)
        return call(tree.name, given, here)

    def _span(self, tree: exp.Interval, here: Position) -> Typed:
        """Bind a span of time, which is so many seconds."""
        span = span_of(tree)
        if span.months:
            raise TypeMismatch(
                "months are not all of one length",
                position=here,
                found=tree.sql(),
                exists=("a span in seconds, minutes, hours, days or weeks",),
                attempt="add it to a date: day + INTERVAL '1 month'; or write INTERVAL '30 days'",
            )
        return self._counted(span.counted, Const(span.seconds), here)

    def _counted(self, counted: exp.Expr | None, of: Const, here: Position) -> Typed:
        if counted is None:
            return Typed(of, Type.FLOAT, "s", False, here)
        count = self.bind(counted)
        require(count, (Type.INT, Type.FLOAT), "INTERVAL")
        return Typed(Op("*", count.expr, of), Type.FLOAT, "s", True, here)

    def _moved(
        self, tree: exp.Expr, time: exp.Expr, interval: exp.Interval, here: Position
    ) -> Typed:
        """Bind a value and an INTERVAL, months and the rest one after the other."""
        symbol, span, value = _BINARY[type(tree)], span_of(interval), self.bind(time)
        if span.months:
            months: Expr = Const(span.months if symbol == "+" else -span.months)
            if span.counted is not None:
                count = self.bind(span.counted)
                require(count, (Type.INT,), "INTERVAL")
                months = Op("*", count.expr, months)
            value = months_moved(value, months, here)
            if not span.seconds:
                return value
        counted = self._counted(span.counted, Const(span.seconds), at(interval))
        return operator(symbol, value, counted, here)

    def _logical(self, tree: exp.Expr, here: Position) -> Typed:
        # sqlglot nests long chains to the left, deeper than Python's stack.
        parts: list[exp.Expr] = []
        node: exp.Expr = tree
        while type(node) is type(tree):
            parts.append(node.expression)
            node = node.this
        parts.append(node)
        symbol = "AND" if isinstance(tree, exp.And) else "OR"
        return _chain(symbol, [self.bind(part) for part in reversed(parts)], here)

    def _between(self, tree: exp.Expr, here: Position) -> Typed:
        """Bind BETWEEN; SYMMETRIC lets the bounds stand in either order."""
        inner, low, high = map(self.bind, (tree.this, tree.args["low"], tree.args["high"]))

        def within(least: Typed, most: Typed) -> Typed:
            above = operator(">=", inner, least, here)
            return operator("AND", above, operator("<=", inner, most, here), here)

        if not tree.args.get("symmetric"):
            return within(low, high)
        return operator("OR", within(low, high), within(high, low), here)

    def _is(self, tree: exp.Expr, here: Position) -> Typed:
        if not isinstance(tree.expression, exp.Null | exp.Boolean):
            return self._same(tree.this, tree.expression, here)
        inner = self.bind(tree.this)
        empty = _is_null(inner, here)
        if isinstance(tree.expression, exp.Null):
            return empty
        wanted = _literal(Const(bool(tree.expression.this)), here)
        return operator("AND", _negated(empty, here), operator("=", inner, wanted, here), here)

    def _same(self, left: exp.Expr, right: exp.Expr, here: Position) -> Typed:
        """Bind `left IS NOT DISTINCT FROM right`: true or false, also of nulls."""
        one, other = self.bind(left), self.bind(right)
        nulls = (_is_null(one, here), _is_null(other, here))
        branches = [
            (operator("AND", *nulls, here), _literal(Const(True), here)),
            (operator("OR", *nulls, here), _literal(Const(False), here)),
        ]
        return choice(branches, operator("=", one, other, here), here)

    def _rows(self, symbol: str, left: exp.Expr, right: exp.Expr, here: Position) -> Typed:
        """Bind `(a, b) < (c, d)` as `a < c OR a = c AND b < d`."""
        ones, others = left.expressions, right.expressions
        if not isinstance(right, exp.Tuple) or len(ones) != len(others) or not ones:
            raise TypeMismatch(
                "a row is compared with a row of as many values",
                position=whole(right),
                found=right.sql(),
                exists=(left.sql(),),
                attempt="(a, b) < (c, d)",
            )
        pairs = [(self.bind(one), self.bind(two)) for one, two in zip(ones, others, strict=True)]
        if symbol in ("=", "<>"):
            same = _chain("AND", [operator("=", *pair, here) for pair in pairs], here)
            return same if symbol == "=" else _negated(same, here)
        found = operator(symbol, *pairs.pop(), here)
        for pair in reversed(pairs):
            tied = operator("AND", operator("=", *pair, here), found, here)
            found = operator("OR", operator(symbol[0], *pair, here), tied, here)
        return found

    def _listed(self, tree: exp.Expr, here: Position) -> Typed:
        if not tree.expressions:
            return _literal(Const(False), here)
        if isinstance(tree.this, exp.Tuple):
            tests = [self._rows("=", tree.this, row, here) for row in tree.expressions]
        else:
            inner = self.bind(tree.this)
            tests = [operator("=", inner, self.bind(one), here) for one in tree.expressions]
        return _chain("OR", tests, here)

    def _case(self, tree: exp.Expr, here: Position) -> Typed:
        subject = None if tree.this is None else self.bind(tree.this)
        branches: list[tuple[Typed, Typed]] = []
        for branch in tree.args["ifs"]:
            when = self.bind(branch.this)
            if subject is not None:
                when = operator("=", subject, when, when.at)
            branches.append((when, self.bind(branch.args["true"])))
        default = tree.args.get("default")
        otherwise = _literal(Const(None), here) if default is None else self.bind(default)
        return choice(branches, otherwise, here)

    def _unlike(self, tree: exp.Expr, here: Position) -> Typed:
        """Bind NOT LIKE."""
        plain = tree.copy()
        like = plain.this if isinstance(plain, exp.Escape) else plain
        if not like.args.get("negate"):
            raise _unsupported(tree, here)
        like.set("negate", None)
        return _negated(self.bind(plain), here)


def _unsupported(tree: exp.Expr, here: Position) -> Unsupported:
    kind = type(tree).__name__
    return Unsupported(
        f"StreamSQL has no {kind.upper()} here",
        position=here,
        found=kind.upper(),
        attempt=_ATTEMPTS.get(kind, "see the list of functions and operators in the guide"),
    )


def _literal(value: Const, here: Position) -> Typed:
    kind = _LITERALS.get(type(value.value))
    return Typed(value, kind, "", value.value is None, here)


def _is_null(value: Typed, here: Position) -> Typed:
    return Typed(IsNull(value.expr), Type.BOOL, "", False, here)


def _negated(value: Typed, here: Position) -> Typed:
    require(value, (Type.BOOL,), "NOT")
    return Typed(Not(value.expr), Type.BOOL, "", value.nullable, here)


def _chain(symbol: str, operands: Sequence[Typed], here: Position) -> Typed:
    """Join operands from the left; long chains as balanced trees, as every walk is recursive."""
    if len(operands) > _LONG_CHAIN:
        middle = len(operands) // 2
        left = _chain(symbol, operands[:middle], here)
        return operator(symbol, left, _chain(symbol, operands[middle:], here), here)
    return reduce(lambda left, right: operator(symbol, left, right, here), operands)
