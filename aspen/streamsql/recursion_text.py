"""WITH RECURSIVE as text: which queries read each other, what begins them, and what they keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from aspen.algebra.plan import AggregateFunction
from aspen.components import strong_components
from aspen.errors import Position
from aspen.streamsql.ast import Cte, Function, Item, Query, SelectQuery, Star, UnionQuery, WithQuery
from aspen.streamsql.bind_expr import has_aggregate, is_aggregate
from aspen.streamsql.errors import NoBase, NonStratified, Unsupported
from aspen.streamsql.reads import Reading, readings

Choice = tuple[int, AggregateFunction]
"""Place of a column, and how it is chosen by."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One relation of a recursion, before its queries are bound.

    Args:
        names: of its columns; empty where its first query gives them.
        base: what it begins with, None where other relations of the recursion begin it.
        steps: the queries that read the recursion, without their aggregates.
        choices: what MIN and MAX keep.
    """

    name: str
    names: tuple[str, ...]
    base: Query | None
    steps: tuple[SelectQuery, ...]
    choices: tuple[Choice, ...]
    at: Position


def reads_itself(cte: Cte) -> bool:
    """Whether a CTE's query names the CTE."""
    return bool(readings(cte.query, cte.name))


def recursive_components(query: WithQuery) -> list[tuple[Cte, ...]]:
    """Part the queries of a WITH RECURSIVE into those that read each other, in order of need."""
    by_name = {cte.name: cte for cte in query.ctes}
    reads = {
        cte.name: [other.name for other in query.ctes if readings(cte.query, other.name)]
        for cte in query.ctes
    }
    return [tuple(by_name[name] for name in part) for part in strong_components(reads)]


def definitions(component: tuple[Cte, ...]) -> list[Definition]:
    """Take queries that read each other apart.

    Raises:
        NonStratified: a circle passes a negation, or an aggregate other than MIN and MAX.
        NoBase: nothing begins them.
    """
    for cte in component:
        _check_readings(cte, component)
    found = [_definition(cte, component) for cte in component]
    _check_bases(component, found)
    return found


def _through(reading: Reading) -> str:
    return "".join(f"{part} → " for part in reading.through)


def _check_readings(cte: Cte, component: tuple[Cte, ...]) -> None:
    """Refuse a circle through a negation or an aggregate, and name it."""
    reads = _reads_of(component)
    for name, found in reads[cte.name].items():
        for reading in found:
            if all(part == "a sub-select" for part in reading.through):
                continue
            way = [cte.name, *_way(name, cte.name, reads)]
            steps = [reading, *(reads[one][other][0] for one, other in pairwise(way[1:]))]
            cycle = " → ".join(
                [way[0], *(f"{_through(s)}{n}" for s, n in zip(steps, way[1:], strict=True))]
            )
            raise NonStratified(
                f"negation or aggregation in a circle has no least answer: {cycle}",
                position=reading.at,
                found=cycle,
                exists=("MIN or MAX with GROUP BY in the step",),
                attempt="aggregate or negate in the query that reads the recursive one",
            )


def _reads_of(component: tuple[Cte, ...]) -> dict[str, dict[str, list[Reading]]]:
    return {
        one.name: {
            other.name: found for other in component if (found := readings(one.query, other.name))
        }
        for one in component
    }


def _way(start: str, goal: str, reads: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Returns a shortest way from one relation of a component to another, both ends included."""
    ways = [[start]]
    for way in ways:
        if way[-1] == goal:
            return way
        ways += [[*way, other] for other in reads[way[-1]] if other not in way]
    raise AssertionError(start)  # pragma: no cover - in a component each reaches each


def _definition(cte: Cte, component: tuple[Cte, ...]) -> Definition:
    """Part a recursive query into what begins it and its steps."""
    branches = _branches(cte.query)
    steps = [branch for branch in branches if _reads(branch, component)]
    bases = [branch for branch in branches if not _reads(branch, component)]
    if _keeps_duplicates(cte.query):
        raise Unsupported(
            "a recursive query is a set: UNION ALL would count for ever",
            position=_reads(steps[0], component)[0].at,
            found="UNION ALL",
            exists=("UNION",),
            attempt="write UNION",
        )
    bare: list[SelectQuery] = []
    chosen: tuple[Choice, ...] | None = None
    for step in steps:
        if not isinstance(step, SelectQuery):
            raise Unsupported(
                "a recursive step is a SELECT",
                position=_reads(step, component)[0].at,
                attempt="name what stands in WITH as a CTE in front",
            )
        without, choices = _without_best(cte, step, component)
        bare.append(without)
        if chosen is not None and choices != chosen:
            raise NonStratified(
                f"the steps of {cte.name} choose differently: one best row per key is kept",
                position=step.at,
                found=cte.name,
                attempt="give every step the same MIN or MAX in the same place",
            )
        chosen = choices
    base: Query | None = bases[0] if bases else None
    for other in bases[1:]:
        assert base is not None
        base = UnionQuery(base, other, keeps_duplicates=False, at=other.at)
    return Definition(cte.name, cte.columns, base, tuple(bare), chosen or (), cte.at)


def _reads(query: Query, component: tuple[Cte, ...]) -> list[Reading]:
    return [reading for cte in component for reading in readings(query, cte.name)]


def _check_bases(component: tuple[Cte, ...], found: list[Definition]) -> None:
    if any(one.base is not None for one in found):
        return
    if len(component) > 1:
        names = " and ".join(sorted(cte.name for cte in component))
        raise NoBase(
            f"{names} read each other, but nothing begins them",
            position=component[0].at,
            found=names,
            attempt="add to one of them: SELECT … (the base) UNION SELECT … (the step)",
        )
    (cte,) = component
    if isinstance(cte.query, UnionQuery):
        raise NoBase(
            f"every side of {cte.name} reads {cte.name}: nothing begins it",
            position=cte.at,
            found=cte.name,
            attempt="add a side that does not read it",
        )
    raise NoBase(
        f"{cte.name} reads itself, but nothing begins it",
        position=cte.at,
        found=cte.name,
        attempt="SELECT … (the base) UNION SELECT … (the step)",
    )


def _branches(query: Query) -> list[Query]:
    if isinstance(query, UnionQuery):
        return _branches(query.left) + _branches(query.right)
    return [query]


def _keeps_duplicates(query: Query) -> bool:
    return isinstance(query, UnionQuery) and (
        query.keeps_duplicates or _keeps_duplicates(query.left) or _keeps_duplicates(query.right)
    )


def _without_best(
    cte: Cte, step: SelectQuery, component: tuple[Cte, ...]
) -> tuple[SelectQuery, tuple[Choice, ...]]:
    """Take MINs and MAXs out of a step; they become the recursion's aggregate selection."""
    values = [item.value for item in step.items if not isinstance(item.value, Star)]
    chosen_by = [
        index
        for index, value in enumerate(values)
        if isinstance(value, Function) and is_aggregate(value)
    ]
    used = next((value for value in values if has_aggregate(value)), None)
    if not (step.group_by or step.having or used):
        return step, ()
    refused = _refused(cte, step, component, used)
    if not chosen_by or len(values) != len(step.items) or step.having is not None or step.distinct:
        raise refused
    others = [value for index, value in enumerate(values) if index not in chosen_by]
    if set(others) != set(step.group_by):
        raise refused
    choices: list[Choice] = []
    items = list(step.items)
    for number in chosen_by:
        chosen = values[number]
        assert isinstance(chosen, Function)
        function = chosen.name.upper()
        if function not in ("MIN", "MAX") or len(chosen.arguments) != 1 or chosen.distinct:
            raise _refused(cte, step, component, chosen)
        choices.append((number, AggregateFunction[function]))
        items[number] = Item(chosen.arguments[0], step.items[number].alias, step.items[number].at)
    named = tuple(replace(item, alias=f"column_{i}") for i, item in enumerate(items, start=1))
    return replace(step, items=named, group_by=()), tuple(choices)


def _refused(
    cte: Cte, step: SelectQuery, component: tuple[Cte, ...], used: object
) -> NonStratified:
    spelt = used.name.upper() if isinstance(used, Function) else "an aggregate"
    read = next(one.name for one in component if readings(step, one.name))
    cycle = " → ".join([cte.name, spelt, *_way(read, cte.name, _reads_of(component))])
    return NonStratified(
        f"this aggregate in a circle has no least answer: {cycle}",
        position=getattr(used, "at", step.at),
        found=cycle,
        exists=("MIN", "MAX"),
        attempt="bare MIN(…) or MAX(…), and GROUP BY all other outputs of the step",
    )
