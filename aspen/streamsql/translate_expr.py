"""Expressions of sqlglot's tree → expressions of our AST."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from sqlglot import exp

from aspen.algebra.expr import COMPARISONS
from aspen.errors import Position
from aspen.model.schema import Value
from aspen.streamsql.ast import (
    Binary,
    Choice,
    Exists,
    Expression,
    Function,
    Literal,
    Name,
    Negation,
    NullTest,
    Query,
    Scalar,
)
from aspen.streamsql.errors import SyntaxRefused, Unsupported
from aspen.streamsql.spans import Spans
from aspen.streamsql.sql_types import CASTS, SQL_TYPES

_BINARY: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.And: "AND",
    exp.Or: "OR",
}
_SPELLINGS = {
    "ceiling": "ceil",
    "char_length": "length",
    "character_length": "length",
    "ifnull": "coalesce",
    "lcase": "lower",
    "nvl": "coalesce",
    "pow": "power",
    "strpos": "instr",
    "substring": "substr",
    "ucase": "upper",
}
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_BIGGEST = 2**63 - 1
_LONG_CHAIN = 32
_DEEPEST = 100
_ATTEMPTS = {
    "Window": "aggregate with GROUP BY; windows stand in brackets behind a stream",
    "Parameter": "write the value itself",
    "Placeholder": "write the value itself",
    "Interval": "times are seconds: 30.0",
}


def word(tree: exp.Expr) -> str:
    """Returns an identifier's name: folded to lower case unless quoted."""
    name = str(tree.this) if isinstance(tree, exp.Identifier) else str(tree.name)
    return name if tree.args.get("quoted") else name.lower()


def _links(symbol: str, node: Expression) -> list[Expression]:
    """Returns the operands of a chain of one operator, left to right."""
    if isinstance(node, Binary) and node.symbol == symbol:
        return _links(symbol, node.left) + _links(symbol, node.right)
    return [node]


def _chain(symbol: str, operands: Sequence[Expression], at: Position) -> Expression:
    """Join operands from the left; long chains as balanced trees, as every walk is recursive."""
    if len(operands) > _LONG_CHAIN:
        middle = len(operands) // 2
        left = _chain(symbol, operands[:middle], at)
        return Binary(symbol, left, _chain(symbol, operands[middle:], at), at)
    return reduce(lambda left, right: Binary(symbol, left, right, at), operands)


def called(name: str, arguments: tuple[Expression, ...], at: Position) -> Expression:
    """Returns a call; a few functions are other spellings of CASE and of other functions."""
    match name, arguments:
        case "nullif", (value, other):
            return Choice(((Binary("=", value, other, at), Literal(None, at)),), value, at)
        case (("iif" | "if"), (when, then, *rest)) if len(rest) < 2:  # noqa: PLR2004 - ELSE or none
            return Choice(((when, then),), rest[0] if rest else Literal(None, at), at)
        case (("min" | "max"), (_, _, *_)):
            return Function("least" if name == "min" else "greatest", arguments, at=at)
    return Function(_SPELLINGS.get(name, name), arguments, at=at)


def _quantifier(tree: exp.Expr) -> str:
    """Returns ANY or ALL where one stands in front of a query, else nothing."""
    if isinstance(tree, exp.Any | exp.All):
        return type(tree).__name__.upper()
    if isinstance(tree, exp.Anonymous) and len(tree.expressions) == 1:
        name = str(tree.this).upper().replace("SOME", "ANY")
        return name if name in ("ANY", "ALL") and isinstance(tree.expressions[0], exp.Query) else ""
    return ""


class ExpressionTranslator:
    """Turns expressions over one text into our AST.

    Args:
        spans: of that text.
        query: translates a sub-query.
    """

    def __init__(self, spans: Spans, query: Callable[[exp.Expr], Query]) -> None:
        self.spans = spans
        self.query = query
        self._depth = 0

    def conjunction(self, conditions: Iterable[Expression]) -> Expression | None:
        """Join conditions by AND, None when there are none."""
        found = [part for condition in conditions for part in _links("AND", condition)]
        return _chain("AND", found, found[0].at) if found else None

    def translate(self, tree: exp.Expr) -> Expression:
        """Translate one expression.

        Raises:
            Unsupported: it is nested deeper than Python's stack allows later walks.
        """
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unsupported(
                "the expression is nested too deeply",
                position=self.spans.of(tree),
                attempt="compute parts of it in a CTE or a view",
            )
        try:
            return self._translated(tree)
        finally:
            self._depth -= 1

    def _translated(self, tree: exp.Expr) -> Expression:
        at = self.spans.of(tree)
        symbol = _BINARY.get(type(tree))
        if symbol in ("AND", "OR"):
            return self._logical(tree, symbol, at)
        if symbol in ("=", "<>") and isinstance(tree.this, exp.Tuple):
            same = self._same_row(tree.this, tree.expression, at)
            return same if symbol == "=" else Negation(same, at)
        if symbol is not None and _quantifier(tree.expression):
            return self._quantified(tree, symbol, at)
        if symbol is not None:
            return Binary(symbol, self.translate(tree.this), self.translate(tree.expression), at)
        match tree:
            case exp.Column() if isinstance(tree.this, exp.Identifier) and not tree.args.get("db"):
                table = tree.args.get("table")
                return Name(word(table) if table is not None else "", word(tree.this), at)
            case exp.Literal():
                return Literal(self._literal(tree, at), at)
            case exp.Boolean():
                return Literal(bool(tree.this), at)
            case exp.Null():
                return Literal(None, at)
            case exp.Paren():
                return self.translate(tree.this)
            case exp.Not():
                return Negation(self.translate(tree.this), at)
            case exp.Neg():
                return self._negative(tree, at)
            case exp.Is():
                return self._is(tree, at)
            case exp.Between():
                return self._between(tree, at)
            case exp.In():
                return self._in(tree, at)
            case exp.Exists():
                return Exists(self.query(tree.this), at=at)
            case exp.Case():
                return self._case(tree, at)
            case exp.Cast():
                return self._cast(tree, at)
            case exp.Subquery() if isinstance(tree.this, exp.Query | exp.Values):
                return Scalar(self.query(tree), at)
            case exp.Like() | exp.ILike() | exp.Escape():
                return self._like(tree, at)
            case exp.NullSafeEQ() | exp.NullSafeNEQ():
                same = self._same(tree.this, tree.expression, at)
                return same if isinstance(tree, exp.NullSafeEQ) else Negation(same, at)
            case exp.IntDiv():
                sides = (self.translate(tree.this), self.translate(tree.expression))
                return Function("quotient", sides, at=at)
            case exp.Substring():
                given = (tree.this, tree.args.get("start"), tree.args.get("length"))
                return self._called("substr", given, at)
            case exp.Filter():
                return self._filtered(tree, at)
            case exp.Trim():
                return self._trim(tree, at)
            case exp.DPipe():
                sides = (self.translate(tree.this), self.translate(tree.expression))
                return Function("concat", sides, at=at)
            case exp.Anonymous():
                return self._function(tree)
        raise self._unsupported(tree, at)

    def _logical(self, tree: exp.Expr, symbol: str, at: Position) -> Expression:
        # sqlglot nests long chains to the left, deeper than Python's stack.
        parts: list[exp.Expr] = []
        node: exp.Expr = tree
        while type(node) is type(tree):
            parts.append(node.expression)
            node = node.this
        parts.append(node)
        return _chain(symbol, [self.translate(part) for part in reversed(parts)], at)

    def _unsupported(self, tree: exp.Expr, at: Position) -> Unsupported:
        kind = type(tree).__name__
        spelt = kind.upper()
        return Unsupported(
            f"StreamSQL has no {spelt} here",
            position=at,
            found=spelt,
            attempt=_ATTEMPTS.get(kind, "see the list of functions and operators in the guide"),
        )

    def _literal(self, tree: exp.Literal, at: Position) -> Value:
        text = str(tree.this)
        if tree.args.get("is_string"):
            return text
        try:
            number = int(text) if text.isdigit() else float(text)
        except ValueError:
            number = float("inf")
        if abs(number) > (_BIGGEST if isinstance(number, int) else 1.7e308):
            raise SyntaxRefused(
                "the number is too large",
                position=at,
                found=text[:40],
                attempt=f"whole numbers go up to {_BIGGEST}",
            )
        return number

    def _negative(self, tree: exp.Expr, at: Position) -> Expression:
        inner = self.translate(tree.this)
        if isinstance(inner, Literal) and type(inner.value) in (int, float):
            return Literal(-inner.value, at)  # type: ignore[operator]  # a number, see the guard
        return Binary("-", Literal(0, at), inner, at)

    def _is(self, tree: exp.Expr, at: Position) -> Expression:
        inner = self.translate(tree.this)
        if isinstance(tree.expression, exp.Null):
            return NullTest(inner, at)
        if isinstance(tree.expression, exp.Boolean):
            wanted = Literal(bool(tree.expression.this), at)
            known = Negation(NullTest(inner, at), at)
            return Binary("AND", known, Binary("=", inner, wanted, at), at)
        return self._same(tree.this, tree.expression, at)

    def _same(self, left: exp.Expr, right: exp.Expr, at: Position) -> Expression:
        """Write `left IS NOT DISTINCT FROM right`: true or false, also of nulls."""
        one, other = self.translate(left), self.translate(right)
        no_one, no_other = NullTest(one, at), NullTest(other, at)
        return Choice(
            (
                (Binary("AND", no_one, no_other, at), Literal(True, at)),
                (Binary("OR", no_one, no_other, at), Literal(False, at)),
            ),
            Binary("=", one, other, at),
            at,
        )

    def _same_row(self, left: exp.Expr, right: exp.Expr, at: Position) -> Expression:
        """Write `(a, b) = (c, d)` as equalities joined by AND."""
        if not isinstance(right, exp.Tuple) or len(left.expressions) != len(right.expressions):
            raise self._unsupported(right, at)
        pairs = zip(left.expressions, right.expressions, strict=True)
        equal = [Binary("=", self.translate(one), self.translate(two), at) for one, two in pairs]
        return _chain("AND", equal, at)

    def _quantified(self, tree: exp.Expr, symbol: str, at: Position) -> Expression:
        """Write `x < ANY (query)` as a membership, and ALL as its negation."""
        if symbol not in COMPARISONS:
            raise self._unsupported(tree.expression, at)
        every = _quantifier(tree.expression) == "ALL"
        inner = tree.expression.this
        if isinstance(tree.expression, exp.Anonymous):
            (inner,) = tree.expression.expressions
        if not isinstance(inner, exp.Query):
            raise self._unsupported(tree.expression, at)
        query = self.query(inner)
        found = Exists(query, self.translate(tree.this), _OPPOSITE[symbol] if every else symbol, at)
        return Negation(found, at) if every else found

    def _like(self, tree: exp.Expr, at: Position) -> Expression:
        given = [tree.this, tree.expression]
        if isinstance(tree, exp.Escape):
            escape = tree.expression
            tree = tree.this
            given = [tree.this, tree.expression, escape]
        if not isinstance(tree, exp.Like | exp.ILike):
            raise self._unsupported(tree, at)
        found = self._called("ilike" if isinstance(tree, exp.ILike) else "like", given, at)
        return Negation(found, at) if tree.args.get("negate") else found

    def _filtered(self, tree: exp.Expr, at: Position) -> Expression:
        """Write `SUM(x) FILTER (WHERE c)` as `SUM(CASE WHEN c THEN x END)`."""
        call = self.translate(tree.this)
        if not isinstance(call, Function):
            raise self._unsupported(tree, at)
        counted = (Literal(1, at),) if call.star else call.arguments
        when = self.translate(tree.expression.this)
        chosen = tuple(Choice(((when, value),), Literal(None, at), at) for value in counted)
        return Function(call.name, chosen, distinct=call.distinct, at=call.at)

    def _trim(self, tree: exp.Expr, at: Position) -> Expression:
        side = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(tree.args.get("position")), "trim")
        return self._called(side, (tree.this, tree.args.get("expression")), at)

    def _called(self, name: str, given: Iterable[exp.Expr | None], at: Position) -> Function:
        return Function(name, tuple(self.translate(g) for g in given if g is not None), at=at)

    def _between(self, tree: exp.Expr, at: Position) -> Expression:
        inner = self.translate(tree.this)
        low = Binary(">=", inner, self.translate(tree.args["low"]), at)
        return Binary("AND", low, Binary("<=", inner, self.translate(tree.args["high"]), at), at)

    def _in(self, tree: exp.Expr, at: Position) -> Expression:
        if isinstance(tree.this, exp.Tuple) and tree.expressions:
            rows = [self._same_row(tree.this, row, at) for row in tree.expressions]
            return _chain("OR", rows, at)
        inner = self.translate(tree.this)
        query = tree.args.get("query")
        if query is None and len(tree.expressions) == 1:
            query = tree.expressions[0] if isinstance(tree.expressions[0], exp.Query) else None
        if query is not None:
            return Exists(self.query(query), inner, at=at)
        if tree.args.get("unnest") is not None or tree.args.get("field") is not None:
            raise self._unsupported(tree, at)
        if not tree.expressions:
            return Literal(False, at)
        tests = [Binary("=", inner, self.translate(item), at) for item in tree.expressions]
        return _chain("OR", tests, at)

    def _case(self, tree: exp.Expr, at: Position) -> Expression:
        subject = self.translate(tree.this) if tree.this is not None else None
        branches: list[tuple[Expression, Expression]] = []
        for branch in tree.args["ifs"]:
            when = self.translate(branch.this)
            if subject is not None:
                when = Binary("=", subject, when, when.at)
            branches.append((when, self.translate(branch.args["true"])))
        default = tree.args.get("default")
        otherwise = self.translate(default) if default is not None else Literal(None, at)
        return Choice(tuple(branches), otherwise, at)

    def _cast(self, tree: exp.Expr, at: Position) -> Expression:
        kind = tree.args["to"].this
        spelt = str(getattr(kind, "name", kind)).upper()
        if spelt not in SQL_TYPES:
            raise Unsupported(
                f"there is no type {spelt}",
                position=at,
                found=spelt,
                exists=("FLOAT", "INT", "TEXT", "BOOL"),
                attempt="CAST(x AS FLOAT)",
            )
        return Function(CASTS[SQL_TYPES[spelt]], (self.translate(tree.this),), at=at)

    def _function(self, tree: exp.Expr) -> Expression:
        name = str(tree.this).lower()
        here = self.spans.head(tree)
        arguments = list(tree.expressions)
        if name == "exists" and len(arguments) == 1 and isinstance(arguments[0], exp.Query):
            return Exists(self.query(arguments[0]), at=here)
        if len(arguments) == 1 and isinstance(arguments[0], exp.Star):
            return Function(name, (), star=True, at=here)
        if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
            inside = arguments[0].expressions
            return Function(name, tuple(map(self.translate, inside)), distinct=True, at=here)
        return called(name, tuple(map(self.translate, arguments)), here)
