"""WITH RECURSIVE: queries that read each other, stratified, and sure to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from aspen.algebra.expr import Col, Const
from aspen.algebra.plan import (
    WAY,
    Aggregate,
    Best,
    Fixpoint,
    GroupBy,
    Plan,
    Project,
    Recursive,
    Union,
    Values,
)
from aspen.algebra.renaming import narrowed
from aspen.model.schema import Column, Type
from aspen.streamsql.decimals import widest
from aspen.streamsql.errors import NoBase, UnboundedRecursion, UnionArity
from aspen.streamsql.every_way import base_by_way, step_by_way
from aspen.streamsql.positions import whole
from aspen.streamsql.reads import names_read
from aspen.streamsql.recursion_text import Definition, definitions, uncounted
from aspen.streamsql.scope import Environment, RecursionMark
from aspen.streamsql.termination import Derivation, check_termination
from aspen.streamsql.typing_rules import relabelled, unified

_ROUNDS = 4
UNPROVED_ROWS = 10_000
"""Rows of a recursion that is not known to end; own choice: a building has fewer rooms."""
_ONLY = "_only"  # no name in a query begins with _


def bind_recursion(
    component: tuple[exp.CTE, ...], environment: Environment, most: int | None
) -> dict[str, Plan]:
    """Bind queries that read each other, or one that reads itself.

    One that is not known to end is kept up to UNPROVED_ROWS, and noted in the environment.

    Raises:
        NoBase, NonStratified, NotMonotone: as their names say.
    """
    return bind_definitions(definitions(component), environment, most, guarded=True)


def bind_definitions(
    relations: Sequence[Definition],
    environment: Environment,
    most: int | None = None,
    *,
    guarded: bool = False,
) -> dict[str, Plan]:
    """Bind the relations of one recursion.

    Args:
        most: rows any of them may have, None for the engine's limit.
        guarded: whether one that is not known to end may have few rows, instead of none.

    Returns:
        The plan of each, by name, in their order.

    Raises:
        NoBase, NotMonotone, UnboundedRecursion: as their names say.
    """
    bases = {
        one.name: environment.bind(one.base, named=not one.names)
        for one in relations
        if one.base is not None
    }
    columns = _beginnings(relations, bases, environment)
    bound: dict[str, tuple[Plan, ...]] = {}
    # Types, units and nulls may widen through a step: bind them until they stay.
    for _ in range(_ROUNDS * len(relations)):
        inner = _inside(environment, columns)
        wider: dict[str, tuple[Column, ...]] = {}
        for one in relations:
            own = columns[one.name]
            found: list[Plan] = []
            for step in one.steps:
                query = inner.bind(step, named=False)
                found.append(query)
                own = _named(own, widest(own, unified(Values(own, ()), query, whole(step))))
            bound[one.name] = tuple(found)
            wider[one.name] = own
        if wider == columns:
            break
        columns = wider
    bests = {one.name: _best(one, columns[one.name]) for one in relations}
    seen = columns
    for one in relations:
        if one.counted:
            own = columns[one.name]
            bases[one.name] = base_by_way(relabelled(bases[one.name], own), environment.numbers)
            bound[one.name] = (_step_by_way(one, bound[one.name], own, environment),)
            columns = {**columns, one.name: bases[one.name].columns}
    derivations = [
        Derivation(
            one.name,
            columns[one.name],
            bests[one.name],
            tuple(zip(one.steps, bound[one.name], strict=True)),
        )
        for one in relations
    ]
    try:
        check_termination(derivations)
    except UnboundedRecursion as error:
        if not guarded:
            raise
        if most is None:
            again = next((_comes_again(one, error) for one in relations if one.counted), error)
            environment.unproved.append(again)
            most = UNPROVED_ROWS
    alone = [
        Recursive(
            one.name,
            columns[one.name],
            relabelled(bases.get(one.name, Values(columns[one.name], ())), columns[one.name]),
            _united(bound[one.name], columns[one.name]),
            bests[one.name],
        )
        for one in relations
    ]
    return {
        one.name: narrowed(
            _chosen(
                Fixpoint(
                    one.name,
                    one.columns,
                    one.base,
                    one.step,
                    one.best,
                    tuple(other for other in alone if other is not one),
                    most,
                )
            ),
            seen[one.name],
        )
        for one in alone
    }


def _step_by_way(
    one: Definition, steps: tuple[Plan, ...], own: tuple[Column, ...], environment: Environment
) -> Plan:
    (step,) = steps
    plan = step_by_way(relabelled(step, own), environment.numbers)
    if plan is None:
        raise uncounted(whole(one.steps[0]))
    return plan


def _comes_again(one: Definition, error: UnboundedRecursion) -> UnboundedRecursion:
    """Returns what is not known to end: UNION ALL, unless a column of the query's own is not."""
    if error.found != WAY:
        return error
    again = UnboundedRecursion(
        f"UNION ALL keeps every way to a row of {one.name}, which may come again for ever",
        position=whole(one.steps[0]),
        found="UNION ALL",
        exists=("UNION", "a column that counts the steps to a bound"),
        attempt="write UNION, or bound it in the step: WHERE steps < 10",
    )
    again.relation = one.name
    return again


def _united(steps: tuple[Plan, ...], columns: tuple[Column, ...]) -> Plan:
    parts = tuple(relabelled(step, columns) for step in steps)
    return parts[0] if len(parts) == 1 else Union(parts)


def _chosen(plan: Fixpoint) -> Plan:
    """Returns one row per key with the best of each choice, where a recursion has several."""
    best = plan.best
    if best is None or not best.more:
        return plan
    by_name = {column.name: column for column in plan.columns}
    aggregates = tuple(Aggregate(how, name, by_name[name]) for name, how in best.choices)
    rows: Plan = plan
    if not best.keys:
        # Without keys a group would be there even of no rows.
        own = tuple((column, Col(column.name)) for column in plan.columns)
        rows = Project(plan, (*own, (Column(_ONLY, Type.INT), Const(0))))
    chosen = GroupBy(rows, best.keys or (_ONLY,), aggregates)
    return Project(chosen, tuple((column, Col(column.name)) for column in plan.columns))


def _best(one: Definition, columns: tuple[Column, ...]) -> Best | None:
    if not one.choices:
        return None
    names = [column.name for column in columns]
    chosen = tuple((names[index], function) for index, function in one.choices)
    keys = tuple(name for name in names if name not in dict(chosen))
    return Best(keys, *chosen[0], chosen[1:])


def _beginnings(
    relations: Sequence[Definition],
    bases: Mapping[str, Plan],
    environment: Environment,
) -> dict[str, tuple[Column, ...]]:
    """Returns columns to begin with: of a base, or of a step over relations that have some."""
    columns: dict[str, tuple[Column, ...]] = {}
    waiting = list(relations)
    while waiting:
        for one in waiting:
            query = bases.get(one.name) or _first(one, waiting, columns, environment)
            if query is not None:
                columns[one.name] = _headed(one, query.columns)
                waiting.remove(one)
                break
        else:
            names = " and ".join(sorted(one.name for one in waiting))
            raise NoBase(
                f"nothing begins {names}",
                position=waiting[0].at,
                found=names,
                attempt="add a side that reads none of them",
            )
    return columns


def _first(
    one: Definition,
    waiting: Sequence[Definition],
    columns: Mapping[str, tuple[Column, ...]],
    environment: Environment,
) -> Plan | None:
    """Bind the first step of a relation that reads only relations with columns."""
    for step in one.steps:
        if names_read(step).isdisjoint(other.name for other in waiting):
            return _inside(environment, columns).bind(step, named=not one.names)
    return None


def _inside(environment: Environment, columns: Mapping[str, tuple[Column, ...]]) -> Environment:
    for name, own in columns.items():
        environment = environment.with_cte(name, RecursionMark(name, own))
    return environment


def _headed(one: Definition, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Returns columns the names a relation's head has for them."""
    names = one.names or tuple(column.name for column in columns)
    if len(names) != len(columns):
        raise UnionArity(
            f"{one.name} names {len(names)} columns, its base has {len(columns)}",
            position=one.at,
            found=", ".join(names),
            exists=[column.name for column in columns],
            attempt="name each column once",
        )
    return tuple(replace(c, name=name) for name, c in zip(names, columns, strict=True))


def _named(own: tuple[Column, ...], wider: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(replace(c, name=old.name) for old, c in zip(own, wider, strict=True))
