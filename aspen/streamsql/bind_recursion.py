"""WITH RECURSIVE: base and step, linear, stratified, and sure to end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

from aspen.algebra.plan import AggregateFunction, Best
from aspen.errors import Position
from aspen.model.schema import Column
from aspen.streamsql.ast import Cte, Function, Item, Query, SelectQuery, Star, UnionQuery, WithQuery
from aspen.streamsql.bind_expr import has_aggregate, is_aggregate
from aspen.streamsql.bound import BoundQuery, BoundRecursion, BoundRename, BoundSelect
from aspen.streamsql.errors import (
    MutualRecursion,
    NoBase,
    NonLinear,
    NonStratified,
    UnionArity,
    Unsupported,
)
from aspen.streamsql.growth import check_growth
from aspen.streamsql.reads import Reading, readings
from aspen.streamsql.scope import Environment, RecursionMark


class BindQuery(Protocol):
    """Binds a query; see `aspen.streamsql.bind.bind_query`."""

    def __call__(self, query: Query, environment: Environment, *, named: bool = True) -> BoundQuery:
        """Bind a query."""
        ...


Unify = Callable[[BoundQuery, BoundQuery, Position], tuple[Column, ...]]
_ROUNDS = 4


def reads_itself(cte: Cte) -> bool:
    """Whether a CTE's query names the CTE."""
    return bool(readings(cte.query, cte.name))


def check_cycles(query: WithQuery) -> None:
    """Refuse queries of one WITH that read each other in a circle.

    Raises:
        NonStratified: the circle passes a negation or an aggregate.
        MutualRecursion: it does not, but is longer than one.
    """
    if not query.recursive:
        return
    reads = {
        cte.name: {
            other.name: found[0]
            for other in query.ctes
            if other.name != cte.name and (found := readings(cte.query, other.name))
        }
        for cte in query.ctes
    }
    for cte in query.ctes:
        cycle = _cycle(reads, cte.name)
        if cycle is None:
            continue
        steps = [reads[one][other] for one, other in pairwise(cycle)]
        spelt = " → ".join(
            [cycle[0], *(f"{_through(s)}{n}" for s, n in zip(steps, cycle[1:], strict=True))]
        )
        if any(step.through for step in steps):
            raise NonStratified(
                f"negation or aggregation in a circle has no least answer: {spelt}",
                position=steps[0].at,
                found=spelt,
                attempt="break the circle",
            )
        raise MutualRecursion(
            f"{' and '.join(sorted(set(cycle)))} read each other in a circle: {spelt}",
            position=steps[0].at,
            found=spelt,
            attempt="write one recursive query over the union of both",
        )


def _through(reading: Reading) -> str:
    return "".join(f"{part} → " for part in reading.through)


def _cycle(reads: dict[str, dict[str, Reading]], start: str) -> list[str] | None:
    stack = [[start]]
    seen: set[str] = set()
    while stack:
        path = stack.pop()
        for other in reads[path[-1]]:
            if other == start:
                return [*path, start]
            if other not in seen:
                seen.add(other)
                stack.append([*path, other])
    return None


def bind_recursion(
    cte: Cte, environment: Environment, bind_query: BindQuery, unify: Unify
) -> BoundRecursion:
    """Bind a CTE that reads itself.

    Raises:
        NoBase, NonLinear, NonStratified, NotMonotone, UnboundedRecursion: as their names say.
    """
    base, step = _parts(cte)
    _check_step(cte.name, step)
    bare_step, best_at = _without_best(cte.name, step)
    bound_base = bind_query(base, environment, named=not cte.columns)
    names = cte.columns or tuple(column.name for column in bound_base.columns)
    if len(names) != len(bound_base.columns):
        raise UnionArity(
            f"{cte.name} names {len(names)} columns, its base has {len(bound_base.columns)}",
            position=cte.at,
            found=", ".join(names),
            exists=[column.name for column in bound_base.columns],
            attempt="name each column once",
        )
    columns = _named(names, bound_base.columns)
    columns, (bound_step,) = bind_steps(
        cte.name, names, bound_base, (bare_step,), environment, bind_query, unify
    )
    best = None
    if best_at is not None:
        place, function = best_at
        keys = tuple(name for index, name in enumerate(names) if index != place)
        best = Best(keys, names[place], function)
    check_growth(cte, step, bound_step, best)
    return BoundRecursion(cte.name, columns, bound_base, bound_step, best)


def bind_steps(
    name: str,
    names: tuple[str, ...],
    base: BoundQuery,
    steps: Sequence[SelectQuery],
    environment: Environment,
    bind_query: BindQuery,
    unify: Unify,
) -> tuple[tuple[Column, ...], tuple[BoundSelect, ...]]:
    """Bind the steps of a recursion against its base.

    Args:
        name: of the recursive view.
        names: of its columns.
        steps: none of them with an aggregate.

    Returns:
        The view's columns, and the steps.
    """
    columns = _named(names, base.columns)
    # Types, units and nulls may widen through a step: bind them until they stay.
    for _ in range(_ROUNDS):
        inner = environment.with_cte(name, RecursionMark(name, columns))
        wider = columns
        bound: list[BoundSelect] = []
        for step in steps:
            found = bind_query(step, inner, named=False)
            assert isinstance(found, BoundSelect)
            bound.append(found)
            known = BoundRename(base, wider)
            wider = _named(names, unify(known, found, step.at))
        if wider == columns:
            break
        columns = wider
    return columns, tuple(bound)


def _named(names: tuple[str, ...], columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(replace(c, name=name) for name, c in zip(names, columns, strict=True))


def _parts(cte: Cte) -> tuple[Query, SelectQuery]:
    """Part a recursive query into what begins it and its one step."""
    if not isinstance(cte.query, UnionQuery):
        raise NoBase(
            f"{cte.name} reads itself, but nothing begins it",
            position=cte.at,
            found=cte.name,
            attempt="SELECT … (the base) UNION SELECT … (the step)",
        )
    branches = _branches(cte.query)
    steps = [branch for branch in branches if readings(branch, cte.name)]
    bases = [branch for branch in branches if not readings(branch, cte.name)]
    if not bases:
        raise NoBase(
            f"every side of {cte.name} reads {cte.name}: nothing begins it",
            position=cte.at,
            found=cte.name,
            attempt="add a side that does not read it",
        )
    if len(steps) > 1:
        found = readings(steps[1], cte.name)[0]
        raise NonLinear(
            f"{cte.name} has {len(steps)} recursive sides; one is understood",
            position=found.at,
            found=cte.name,
            attempt="join with a view that is the union of what the sides join with",
        )
    if _keeps_duplicates(cte.query):
        raise Unsupported(
            "a recursive query is a set: UNION ALL would count for ever",
            position=readings(steps[0], cte.name)[0].at,
            found="UNION ALL",
            exists=("UNION",),
            attempt="write UNION",
        )
    step = steps[0]
    base = bases[0]
    for other in bases[1:]:
        base = UnionQuery(base, other, keeps_duplicates=False, at=other.at)
    if not isinstance(step, SelectQuery):
        raise Unsupported(
            "a recursive step is one SELECT",
            position=readings(step, cte.name)[0].at,
            attempt="name what stands in WITH as a CTE in front",
        )
    return base, step


def _branches(query: Query) -> list[Query]:
    if isinstance(query, UnionQuery):
        return _branches(query.left) + _branches(query.right)
    return [query]


def _keeps_duplicates(query: Query) -> bool:
    return isinstance(query, UnionQuery) and (
        query.keeps_duplicates or _keeps_duplicates(query.left) or _keeps_duplicates(query.right)
    )


def _check_step(name: str, step: SelectQuery) -> None:
    found = readings(step, name)
    for reading in found:
        if reading.through and reading.through != ("a sub-select",):
            cycle = f"{name} → {_through(reading)}{name}"
            raise NonStratified(
                f"negation or aggregation in a circle has no least answer: {cycle}",
                position=reading.at,
                found=cycle,
                exists=("MIN or MAX with GROUP BY in the step",),
                attempt="aggregate or negate in the query that reads the recursive one",
            )
    if len(found) > 1:
        raise NonLinear(
            f"the step reads {name} {len(found)} times; linear recursion reads it once",
            position=found[1].at,
            found=name,
            attempt=f"join {name} with what its base reads",
        )
    if found[0].through:
        raise Unsupported(
            f"{name} stands in a sub-select of its own step",
            position=found[0].at,
            attempt=f"read {name} directly in FROM",
        )


def _without_best(
    name: str, step: SelectQuery
) -> tuple[SelectQuery, tuple[int, AggregateFunction] | None]:
    """Take MIN or MAX out of a step; it becomes the recursion's aggregate selection."""
    values = [item.value for item in step.items if not isinstance(item.value, Star)]
    places = [
        index
        for index, value in enumerate(values)
        if isinstance(value, Function) and is_aggregate(value)
    ]
    used = next((value for value in values if has_aggregate(value)), None)
    if not (step.group_by or step.having or used):
        return step, None
    spelt = used.name.upper() if isinstance(used, Function) else "an aggregate"
    cycle = f"{name} → {spelt} → {name}"
    refused = NonStratified(
        f"this aggregate in a circle has no least answer: {cycle}",
        position=getattr(used, "at", step.at),
        found=cycle,
        exists=("MIN", "MAX"),
        attempt="one bare MIN(…) or MAX(…), and GROUP BY all other outputs of the step",
    )
    if (
        len(places) != 1
        or len(values) != len(step.items)
        or step.having is not None
        or step.distinct
    ):
        raise refused
    chosen = values[places[0]]
    assert isinstance(chosen, Function)
    others = [value for index, value in enumerate(values) if index != places[0]]
    function = chosen.name.upper()
    plain = len(chosen.arguments) == 1 and not chosen.distinct
    if function not in ("MIN", "MAX") or not plain or set(others) != set(step.group_by):
        raise refused
    items = tuple(
        Item(chosen.arguments[0], item.alias, item.at) if index == places[0] else item
        for index, item in enumerate(step.items)
    )
    named = tuple(replace(item, alias=f"column_{i}") for i, item in enumerate(items, start=1))
    bare = replace(step, items=named, group_by=())
    return bare, (places[0], AggregateFunction[function])
