"""Choose how joins of several inputs are made, by figures, and the reason as a sentence.

    two inputs                             in pairs: there is nothing in between
    cyclic                                 value by value: any order of pairs may be a bad one
    a star on keys, many rows in between   row by row: every lookup finds one row at most
    else                                   in pairs

Pairs keep what all inputs but the last lead to, and so spare later lookups; where lookups find one
row at most, there is nothing to spare.

Receives: a plan, rows per relation, keys.     Gives: for the outermost join of each nest a way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from aspen.algebra.block import column_of
from aspen.algebra.join_graph import JoinGraph, is_joins, join_graph
from aspen.algebra.plan import (
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    Plan,
    Scan,
    Ship,
    Window,
    children,
)
from aspen.model.schema import Relation
from aspen.views.choose import KnownCounts, estimate, fixed_parts
from aspen.views.compile_joins import DELTA, WORST_CASE_OPTIMAL

SPARED_ROWS = 1_000.0
"""So many rows in between are worth a way that keeps none; own choice."""
MOST_INPUTS = 12
"""Beyond, a path outwards from each input takes more than it spares; own choice."""


@dataclass(frozen=True, slots=True)
class JoinChoice:
    """What was chosen.

    Args:
        how: DELTA or WORST_CASE_OPTIMAL; None: in pairs.
        reason: one clause, behind "because".
    """

    how: str | None
    reason: str


def choose_joins(
    plan: Plan, known: KnownCounts, relations: Mapping[str, Relation]
) -> dict[Join, JoinChoice]:
    """Choose for each nest of joins in a plan, by its outermost join, how it is made."""
    found: dict[Join, JoinChoice] = {}
    for join in nests(plan):
        graph = join_graph(join)
        if len(graph.inputs) > len((join.left, join.right)):
            found[join] = _choose(join, graph, known, relations)
    return found


def made_together(
    plan: Plan, known: KnownCounts, relations: Mapping[str, Relation]
) -> dict[Fixpoint | Join, str]:
    """Returns for each nest of joins that is not made in pairs how it is made."""
    chosen = choose_joins(plan, known, relations)
    return {join: choice.how for join, choice in chosen.items() if choice.how is not None}


def nests(plan: Plan) -> Iterator[Join]:
    """Returns the outermost join of each nest that operators keep, from the outermost on."""
    met: set[int] = set()
    waiting: list[Plan] = [plan]
    while waiting:
        node = waiting.pop(0)
        if id(node) in met:
            continue
        met.add(id(node))
        if isinstance(node, Join):
            yield node
            waiting += join_graph(node).inputs
        elif isinstance(node, Fixpoint):
            base, *steps = children(node)
            waiting += [base, *(part for step in steps for part in fixed_parts(step))]
        else:
            waiting += children(node)


def _choose(
    join: Join, graph: JoinGraph, known: KnownCounts, relations: Mapping[str, Relation]
) -> JoinChoice:
    number = len(graph.inputs)
    if number > MOST_INPUTS:
        return JoinChoice(None, f"more than {MOST_INPUTS} inputs are not joined at once")
    if not graph.connected:
        return JoinChoice(None, "not all inputs are tied to each other by equal columns")
    if graph.cyclic:
        rows = max(estimate(one, known) for one in graph.inputs)
        return JoinChoice(
            WORST_CASE_OPTIMAL,
            "their conditions close a cycle: in pairs, values that many rows share would lead to up"
            f" to {rows * rows:,.0f} pairs first",
        )
    if not all(_by_key(graph, one, relations) for one in range(number)):
        return JoinChoice(
            None, "their conditions close no cycle, and a row may have several partners"
        )
    between = sum(estimate(one, known) for one in _inner(join))
    if between < SPARED_ROWS:
        return JoinChoice(
            None,
            f"their conditions close no cycle, and only {between:,.0f} rows are kept in between",
        )
    return JoinChoice(
        DELTA,
        "every input is looked up by its key, and joining in pairs would keep about "
        f"{between:,.0f} rows in between",
    )


def _inner(join: Join) -> Iterator[Join]:
    """Returns the joins within a nest, but for the outermost."""
    waiting = [join.left, join.right]
    while waiting:
        node = waiting.pop()
        if is_joins(node):
            if isinstance(node, Join):
                yield node
            waiting += children(node)


def _by_key(graph: JoinGraph, number: int, relations: Mapping[str, Relation]) -> bool:
    """Whether an input is tied to each other one by a key of its own."""
    own = graph.places[number]
    others = [set(own) & set(place) for n, place in enumerate(graph.places) if n != number]
    keys = [set(key) for key in _keys(graph.inputs[number], relations)]
    columns = graph.inputs[number].columns
    return all(
        any(key <= {columns[column_of(own[v])[1]].name for v in tie} for key in keys)
        for tie in others
    )


def _keys(plan: Plan, relations: Mapping[str, Relation]) -> Iterable[tuple[str, ...]]:
    """Returns sets of columns of which no two rows of a plan have the same values."""
    match plan:
        case Scan():
            relation = relations.get(plan.relation)
            key = () if relation is None else relation.key
            return [tuple(f"{plan.alias}.{name}" for name in key)] if key else []
        case Filter() | Ship():
            return _keys(plan.child, relations)
        case Window(rows=1):
            return [plan.partition_by]
        case GroupBy():
            return [plan.keys]
        case Fixpoint() if plan.best is not None:
            return [plan.best.keys]
    return []
