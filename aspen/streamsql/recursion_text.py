"""WITH RECURSIVE as text: which queries read each other, what begins them, and what they keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
from sqlglot import exp

from aspen.algebra.plan import AggregateFunction
from aspen.components import directed, strong_components
from aspen.errors import Position
from aspen.streamsql.bind_order import is_bare, unwrapped
from aspen.streamsql.errors import NoBase, NonStratified, Unsupported
from aspen.streamsql.grouping_sets import grouping_sets
from aspen.streamsql.positions import at, placed, whole
from aspen.streamsql.reads import NameUse, conditions_of, names_read, readings, sources_of
from aspen.streamsql.tree import (
    call_of,
    has_aggregate,
    has_subquery,
    is_aggregate,
    is_grouped,
    items_of,
)

Choice = tuple[int, AggregateFunction]
"""Index of a column, and how it is chosen by."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One relation of a recursion, before its queries are bound.

    Args:
        names: of its columns; empty where its first query gives them.
        base: what it begins with, None where other relations of the recursion begin it.
        steps: the queries that read the recursion, without their aggregates.
        choices: what MIN and MAX keep.
        counted: whether every way to a row is a row, as UNION ALL says.
    """

    name: str
    names: tuple[str, ...]
    base: exp.Expr | None
    steps: tuple[exp.Select, ...]
    choices: tuple[Choice, ...]
    at: Position
    counted: bool = False


def reads_itself(cte: exp.CTE) -> bool:
    """Whether a CTE's query names the CTE."""
    return cte.alias in names_read(cte.this)


def recursive_components(ctes: Sequence[exp.CTE]) -> list[tuple[exp.CTE, ...]]:
    """Part the queries of a WITH RECURSIVE into those that read each other, in order of need."""
    by_name = {cte.alias: cte for cte in ctes}
    named = {cte.alias: names_read(cte.this) for cte in ctes}
    reads = {name: [other for other in by_name if other in found] for name, found in named.items()}
    return [tuple(by_name[name] for name in part) for part in strong_components(reads)]


def definitions(component: tuple[exp.CTE, ...]) -> list[Definition]:
    """Take queries that read each other apart.

    Raises:
        NonStratified: a cycle passes a negation, or an aggregate other than MIN and MAX.
        NoBase: nothing begins them.
    """
    reads = _reads_of(component)
    for cte in component:
        _check_readings(cte, reads)
    found = [_definition(cte, component) for cte in component]
    _check_bases(component, found)
    return found


def _through(reading: NameUse) -> str:
    return "".join(f"{part} → " for part in reading.through)


def _check_readings(cte: exp.CTE, reads: Mapping[str, dict[str, list[NameUse]]]) -> None:
    """Refuse a cycle through a negation or an aggregate, and name it."""
    for name, found in reads[cte.alias].items():
        for reading in found:
            if all(part == "a sub-select" for part in reading.through):
                continue
            way = [cte.alias, *nx.shortest_path(directed(reads), name, cte.alias)]
            steps = [reading, *(reads[one][other][0] for one, other in pairwise(way[1:]))]
            cycle = " → ".join(
                [way[0], *(f"{_through(s)}{n}" for s, n in zip(steps, way[1:], strict=True))]
            )
            raise NonStratified(
                f"negation or aggregation in a cycle has no least answer: {cycle}",
                position=reading.at,
                found=cycle,
                exists=("MIN or MAX with GROUP BY in the step",),
                attempt="aggregate or negate in the query that reads the recursive one",
            )


def _reads_of(component: tuple[exp.CTE, ...]) -> dict[str, dict[str, list[NameUse]]]:
    found = {one.alias: readings(one.this) for one in component}
    return {
        one: {other: read[other] for other in found if other in read} for one, read in found.items()
    }


def _definition(cte: exp.CTE, component: tuple[exp.CTE, ...]) -> Definition:
    """Part a recursive query into what begins it and its steps."""
    branches = _branches(cte.this)
    steps = [branch for branch in branches if _reads(branch, component)]
    bases = [branch for branch in branches if not _reads(branch, component)]
    counted = _keeps_duplicates(cte.this) and not _means_union(cte)
    if counted and (
        len(component) > 1 or _branches(cte.this)[-1:] != steps or is_grouped(steps[0])
    ):
        raise uncounted(_reads(steps[0], component)[0].at)
    bare: list[exp.Select] = []
    chosen: tuple[Choice, ...] | None = None
    for step in steps:
        if not isinstance(step, exp.Select) or not is_bare(step):
            raise Unsupported(
                "a recursive step is a SELECT",
                position=_reads(step, component)[0].at,
                attempt="name what stands in WITH as a CTE in front",
            )
        without, choices = _without_best(cte, step, component)
        bare.append(without)
        if chosen is not None and choices != chosen:
            raise NonStratified(
                f"the steps of {cte.alias} choose differently: one best row per key is kept",
                position=whole(step),
                found=cte.alias,
                attempt="give every step the same MIN or MAX in the same place",
            )
        chosen = choices
    base: exp.Expr | None = bases[0] if bases else None
    for other in bases[1:]:
        assert base is not None
        base = union_of(base, other)
    return Definition(
        cte.alias,
        tuple(cte.alias_column_names),
        unwrapped(cte.this).this if counted else base,
        tuple(bare),
        chosen or (),
        whole(cte.args["alias"].this),
        counted,
    )


def uncounted(at: Position) -> Unsupported:
    """Returns the refusal of UNION ALL where the ways to a row are not known."""
    return Unsupported(
        "UNION ALL keeps every row of a recursive query once for every way to it, and here the"
        " ways cannot be told apart",
        position=at,
        found="UNION ALL",
        exists=("UNION", "UNION ALL with one step that joins the recursion once"),
        attempt="write UNION",
    )


def union_of(left: exp.Expr, right: exp.Expr, *, distinct: bool = True) -> exp.Union:
    """Returns `left UNION [ALL] right`."""
    return placed(exp.Union(this=left, expression=right, distinct=distinct), whole(right))


def _reads(query: exp.Expr, component: tuple[exp.CTE, ...]) -> list[NameUse]:
    found = readings(query)
    return [reading for cte in component for reading in found.get(cte.alias, ())]


def _check_bases(component: tuple[exp.CTE, ...], found: list[Definition]) -> None:
    if any(one.base is not None for one in found):
        return
    names = " and ".join(sorted(one.name for one in found))
    message = f"{names} reads itself, but nothing begins it"
    attempt = "SELECT … (the base) UNION SELECT … (the step)"
    if len(found) > 1:
        message = f"{names} read each other, but nothing begins them"
        attempt = f"add to one of them: {attempt}"
    elif isinstance(component[0].this, exp.Union):
        message = f"every side of {names} reads {names}: nothing begins it"
        attempt = "add a side that does not read it"
    raise NoBase(message, position=found[0].at, found=names, attempt=attempt)


def _branches(query: exp.Expr) -> list[exp.Expr]:
    query = unwrapped(query)
    if isinstance(query, exp.Union) and is_bare(query):
        return _branches(query.this) + _branches(query.expression)
    return [query]


def _keeps_duplicates(query: exp.Expr) -> bool:
    query = unwrapped(query)  # a UNION forgets what a UNION ALL inside it kept
    return isinstance(query, exp.Union) and not query.args.get("distinct")


def _without_best(
    cte: exp.CTE, step: exp.Select, component: tuple[exp.CTE, ...]
) -> tuple[exp.Select, tuple[Choice, ...]]:
    """Take MINs and MAXs out of a step; they become the recursion's aggregate selection."""
    if not is_grouped(step):
        return step, ()
    items = items_of(step)
    values = [item.value for item in items if not item.value.is_star]
    chosen_by = [index for index, value in enumerate(values) if is_aggregate(value)]
    used = next((value for value in values if has_aggregate(value)), None)
    refused = _refused(cte, step, component, used)
    odd = step.args.get("having") is not None or step.args.get("distinct") is not None
    if not chosen_by or len(values) != len(items) or odd:
        raise refused
    others = [value for index, value in enumerate(values) if index not in chosen_by]
    if [set(others)] != [set(keys) for keys in grouping_sets(step, items)]:
        raise refused
    choices: list[Choice] = []
    for number in chosen_by:
        call = call_of(values[number])
        assert call is not None
        function = call.aggregate
        plain = len(call.arguments) == 1 and not call.distinct
        if function not in (AggregateFunction.MIN, AggregateFunction.MAX) or not plain:
            raise _refused(cte, step, component, values[number])
        choices.append((number, function))
        values[number] = call.arguments[0]
    bare = step.copy()
    named = [
        placed(exp.alias_(value.copy(), f"column_{number}"), item.at)
        for number, (value, item) in enumerate(zip(values, items, strict=True), start=1)
    ]
    bare.set("expressions", named)
    bare.set("group", None)
    return bare, tuple(choices)


def _refused(
    cte: exp.CTE, step: exp.Select, component: tuple[exp.CTE, ...], used: exp.Expr | None
) -> NonStratified:
    call = None if used is None else call_of(used)
    spelt = call.name.upper() if call is not None else "an aggregate"
    found = names_read(step)
    read = next(one.alias for one in component if one.alias in found)
    cycle = " → ".join(
        [cte.alias, spelt, *nx.shortest_path(directed(_reads_of(component)), read, cte.alias)]
    )
    return NonStratified(
        f"this aggregate in a cycle has no least answer: {cycle}",
        position=whole(step) if used is None else at(used),
        found=cycle,
        exists=("MIN", "MAX"),
        attempt="bare MIN(…) or MAX(…), and GROUP BY all other outputs of the step",
    )


def _means_union(cte: exp.CTE) -> bool:
    """Whether UNION ALL in a CTE's query means UNION.

    A recursion is a set here. From one row, by a step that reads nothing but the view, at most one
    row follows each: a chain. If its rows differ, both spellings give it; if one comes back, UNION
    ALL would never end and so has no answer to differ from.

    Law: the rows SQL gives, each as often.
    Source: own.
    """
    query = unwrapped(cte.this)
    return (
        isinstance(query, exp.Union)
        and not query.args.get("distinct")
        and _has_one_row(unwrapped(query.this))
        and _reads_only(unwrapped(query.expression), cte.alias)
    )


def _is_plain(query: exp.Expr) -> bool:
    """Whether a query is one SELECT without groups."""
    grouped = query.args.get("group") or query.args.get("having")
    return isinstance(query, exp.Select) and not grouped and is_bare(query)


def _has_one_row(query: exp.Expr) -> bool:
    if isinstance(query, exp.Values):
        return len(query.expressions) == 1
    lone = query.args.get("from_") is None and query.args.get("where") is None
    return _is_plain(query) and (lone or any(map(has_aggregate, _values(query))))


def _reads_only(query: exp.Expr, name: str) -> bool:
    """Whether a query gives at most one row for each row of the view, and reads nothing else."""
    if not _is_plain(query):
        return False
    values = [*_values(query), *conditions_of(query)]
    if any(has_aggregate(value) or has_subquery(value) for value in values):
        return False
    sources = sources_of(query)
    return [s.name if isinstance(s, exp.Table) else "" for s in sources] == [name]


def _values(select: exp.Expr) -> list[exp.Expr]:
    return [item.value for item in items_of(select) if not item.value.is_star]
