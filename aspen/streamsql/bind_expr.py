"""Expressions of the AST → typed expressions of the algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from aspen.algebra.expr import Const, IsNull, Not
from aspen.algebra.plan import AggregateFunction
from aspen.model.schema import Type, Value
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
    Scalar,
)
from aspen.streamsql.errors import MisplacedAggregate, MisplacedExists
from aspen.streamsql.scope import Scope
from aspen.streamsql.typing_rules import Typed, call, choice, operator, require

_LITERALS: dict[type, Type] = {
    bool: Type.BOOL,
    int: Type.INT,
    float: Type.FLOAT,
    str: Type.TEXT,
}


def is_aggregate(node: Expression) -> bool:
    """Whether a call is COUNT, SUM, MIN, MAX or AVG."""
    return isinstance(node, Function) and node.name.upper() in AggregateFunction.__members__


def operands(node: Expression) -> tuple[Expression, ...]:
    """Returns an AST expression's operands, left to right."""
    match node:
        case Binary(_, left, right):
            return (left, right)
        case Negation(inner) | NullTest(inner):
            return (inner,)
        case Function(_, arguments):
            return arguments
        case Choice(branches, otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
        case Exists(_, needle):
            return () if needle is None else (needle,)
        case Scalar():
            return ()
        case _:
            return ()


def has_aggregate(node: Expression) -> bool:
    """Whether an aggregate stands anywhere in the expression."""
    return is_aggregate(node) or any(has_aggregate(part) for part in operands(node))


def has_subquery(node: Expression) -> bool:
    """Whether EXISTS, IN (SELECT …) or a scalar sub-query stands anywhere in the expression."""
    return isinstance(node, Exists | Scalar) or any(has_subquery(part) for part in operands(node))


def literal_type(value: Value) -> Type | None:
    """Returns a literal's type, None for NULL."""
    return _LITERALS.get(type(value))


class SubqueryBinder(Protocol):
    """Binds the sub-queries of one stage of a query, and remembers them."""

    def bind(self, node: Exists | Scalar, outer: ExpressionBinder) -> Typed:
        """Bind a sub-query and give the column its answer will be in."""
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
        first: Callable[[Expression], Typed | None] | None = None,
        subqueries: SubqueryBinder | None = None,
    ) -> None:
        self.scope = scope
        self.subqueries = subqueries
        self.first = first

    def bind(self, node: Expression) -> Typed:
        """Bind one expression.

        Raises:
            BindError: a name, type or unit that does not fit.
        """
        if self.first is not None:
            found = self.first(node)
            if found is not None:
                return found
        match node:
            case Name():
                return self.scope.typed(node)
            case Literal(value):
                return Typed(Const(value), literal_type(value), "", value is None, node.at)
            case Binary(symbol, left, right):
                return operator(symbol, self.bind(left), self.bind(right), node.at)
            case Negation(inner):
                held = self.bind(inner)
                require(held, (Type.BOOL,), "NOT")
                return Typed(Not(held.expr), Type.BOOL, "", held.nullable, node.at)
            case NullTest(inner):
                return Typed(IsNull(self.bind(inner).expr), Type.BOOL, "", False, node.at)
            case Choice(branches, otherwise):
                bound = [(self.bind(when), self.bind(then)) for when, then in branches]
                return choice(bound, self.bind(otherwise), node.at)
            case Function():
                return self._function(node)
            case Exists() | Scalar():
                if self.subqueries is not None:
                    return self.subqueries.bind(node, self)
                raise MisplacedExists(
                    "there can be no sub-query here",
                    position=node.at,
                    attempt="put it into WHERE, HAVING or the select list",
                )

    def predicate(self, node: Expression, where: str) -> Typed:
        """Bind a condition."""
        value = self.bind(node)
        require(value, (Type.BOOL,), where)
        return value

    def _function(self, node: Function) -> Typed:
        if is_aggregate(node):
            raise MisplacedAggregate(
                f"{node.name.upper()} cannot stand here: rows are not grouped yet",
                position=node.at,
                found=node.name.upper(),
                attempt="conditions on aggregates stand in HAVING",
            )
        return call(node.name, [self.bind(argument) for argument in node.arguments], node.at)
