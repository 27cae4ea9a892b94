"""Rules that read their heads → one recursion, sure to end."""

from __future__ import annotations

from aspen.algebra.plan import AggregateFunction, Plan
from aspen.overlog.errors import NoBaseRule, NotMonotoneRule, UnboundedRule
from aspen.overlog.queries import Queries, united
from aspen.overlog.strata import Rules, reads_any
from aspen.streamsql import errors as sql
from aspen.streamsql.bind_recursion import bind_definitions
from aspen.streamsql.recursion_text import Definition
from aspen.streamsql.scope import Environment

_GROWS = ("C = C1 + C2", "C = greatest(C1, C2)")
_SHRINKS = ("C = C1 - C2", "C = least(C1, C2)")


def bind_recursive(
    component: tuple[str, ...],
    rules: Rules,
    queries: Queries,
    environment: Environment,
    most: int | None,
) -> dict[str, Plan]:
    """Bind predicates that are recursive together.

    Several rules of one predicate are one step, their union; `min<C>` and `max<C>` are taken
    over all of them. Of several aggregates each is the best of its key, as outside recursion.

    Raises:
        NotMonotone, UnboundedRecursion: it is not known to end.
        NoBaseRule: all rules of a predicate read predicates that nothing begins.
    """
    definitions = [_definition(name, component, rules, queries) for name in component]
    functions = {how for one in definitions for _, how in one.choices}
    try:
        return bind_definitions(definitions, environment, most)
    except sql.NotMonotone as error:
        raise NotMonotoneRule(
            error.message,
            position=error.position,
            found=error.found,
            exists=_SHRINKS if functions == {AggregateFunction.MAX} else _GROWS,
            attempt="let it only grow under min, only shrink under max; conditions that a"
            " worse row could meet stand in a rule that reads the finished predicate",
        ) from error
    except sql.NoBase as error:
        raise NoBaseRule(
            error.message,
            position=error.position,
            found=error.found,
            attempt="add a rule that reads other predicates alone",
        ) from error
    except sql.UnboundedRecursion as error:
        raise UnboundedRule(
            f"a rule of {error.relation} may compute new values of {error.found!r} for ever",
            position=error.position,
            found=error.found,
            exists=("N = N1 + 1, N1 < 10", "min<N>"),
            attempt="let one column count up to a bound in the rule, or take the min of it",
        ) from error


def _definition(
    name: str, component: tuple[str, ...], rules: Rules, queries: Queries
) -> Definition:
    begins = [rule for rule in rules[name] if not reads_any(rule, component)]
    reads = [rule for rule in rules[name] if reads_any(rule, component)]
    head = rules[name][0].head
    return Definition(
        name,
        queries.columns[name],
        united([queries.plain(rule) for rule in begins]) if begins else None,
        tuple(queries.step(rule, component) for rule in reads),
        tuple((index, AggregateFunction[how.upper()]) for index, how in head.aggregates),
        head.at,
    )
