"""Rules that read their head → one recursion, sure to end."""

from __future__ import annotations

from aspen.algebra.expr import Col, columns_in
from aspen.algebra.plan import AggregateFunction, Best
from aspen.errors import Position
from aspen.overlog.errors import NotMonotone, UnboundedRecursion
from aspen.overlog.queries import Queries, recursive_parts, united
from aspen.overlog.syntax import Rule
from aspen.streamsql import errors as sql
from aspen.streamsql.ast import Cte
from aspen.streamsql.bind import bind_query, unified
from aspen.streamsql.bind_recursion import bind_steps
from aspen.streamsql.bound import (
    BoundQuery,
    BoundRecursion,
    BoundSelect,
    BoundUnion,
    RecursionSource,
)
from aspen.streamsql.growth import check_growth, climbing
from aspen.streamsql.scope import Environment

_GROWS = ("C = C1 + C2", "C = greatest(C1, C2)")
_SHRINKS = ("C = C1 - C2", "C = least(C1, C2)")


def bind_recursive(
    rules: tuple[Rule, ...], queries: Queries, environment: Environment
) -> BoundQuery:
    """Bind a recursive predicate; several recursive rules become one step, their union.

    Raises:
        NotMonotone, UnboundedRecursion: it is not known to end.
    """
    head = rules[0].head
    names = queries.columns[head.predicate]
    begins, reads = recursive_parts(rules)
    base_query = united([queries.plain(rule) for rule in begins])
    steps = [queries.step(rule) for rule in reads]
    base = bind_query(base_query, environment)
    columns, bound = bind_steps(
        head.predicate, names, base, steps, environment, bind_query, unified
    )
    best = None
    for place, function in head.aggregates:
        keys = tuple(name for other, name in enumerate(names) if other != place)
        best = Best(keys, names[place], AggregateFunction[function.upper()])
    ends = bool(frozenset.intersection(*(climbing(step) for step in bound)))
    cte = Cte(head.predicate, names, base_query, head.at)
    for rule, step, found in zip(reads, steps, bound, strict=True):
        try:
            check_growth(cte, step, found, best, ends=ends)
        except sql.NotMonotone as error:
            raise NotMonotone(
                error.message,
                position=error.position,
                found=error.found,
                exists=_GROWS if best and best.function is AggregateFunction.MIN else _SHRINKS,
                attempt="let it only grow under min, only shrink under max; conditions that a"
                " worse row could meet stand in a rule that reads the finished predicate",
            ) from error
        except sql.UnboundedRecursion as error:
            raise _unbounded(rule, error.found, error.position) from error
        if len(bound) > 1 and not ends:
            _check_alone(rule, found, best)
    whole = bound[0] if len(bound) == 1 else BoundUnion(bound, distinct=False, columns=columns)
    return BoundRecursion(head.predicate, columns, base, whole, best)


def _check_alone(rule: Rule, bound: BoundSelect, best: Best | None) -> None:
    """Refuse a value computed from two recursive columns, where rules take turns.

    Each rule alone stops at its bound; but another could reset one column while the first lets
    the other grow.
    """
    source = next(s for s in bound.origin.sources if isinstance(s, RecursionSource))
    own = {column.name for column in source.columns}
    arguments = zip(rule.head.arguments, source.columns, bound.outputs, strict=True)
    for argument, column, (_, expr) in arguments:
        name = column.name.rpartition(".")[2]
        if best is not None and name == best.column:
            continue
        if not isinstance(expr, Col) and columns_in(expr) & own - {column.name}:
            raise _unbounded(rule, name, argument.at)


def _unbounded(rule: Rule, column: str, at: Position | None) -> UnboundedRecursion:
    predicate = rule.head.predicate
    return UnboundedRecursion(
        f"a rule of {predicate} may compute new values of {column!r} for ever",
        position=at,
        found=column,
        exists=("N = N1 + 1, N1 < 10", "min<N>"),
        attempt="let one column count up to a bound in the rule, or take the min of it",
    )
