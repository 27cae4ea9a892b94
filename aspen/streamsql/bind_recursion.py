"""WITH RECURSIVE: queries that read each other, stratified, and sure to end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from aspen.algebra.plan import Best
from aspen.errors import Position
from aspen.model.schema import Column
from aspen.streamsql.ast import Cte, Query
from aspen.streamsql.bound import BoundQuery, BoundRecursion, BoundSelect, BoundUnion, BoundValues
from aspen.streamsql.errors import NoBase, UnionArity
from aspen.streamsql.growth import Growing, check_growth
from aspen.streamsql.reads import readings
from aspen.streamsql.recursion_text import Definition, definitions
from aspen.streamsql.scope import Environment, RecursionMark


class BindQuery(Protocol):
    """Binds a query; see `aspen.streamsql.bind.bind_query`."""

    def __call__(self, query: Query, environment: Environment, *, named: bool = True) -> BoundQuery:
        """Bind a query."""
        ...


Unify = Callable[[BoundQuery, BoundQuery, Position], tuple[Column, ...]]

_ROUNDS = 4


def bind_recursion(
    knot: tuple[Cte, ...], environment: Environment, bind_query: BindQuery, unify: Unify
) -> tuple[BoundRecursion, ...]:
    """Bind queries that read each other, or one that reads itself.

    Raises:
        NoBase, NonStratified, NotMonotone, UnboundedRecursion: as their names say.
    """
    return bind_definitions(definitions(knot), environment, bind_query, unify)


def bind_definitions(
    relations: Sequence[Definition],
    environment: Environment,
    bind_query: BindQuery,
    unify: Unify,
) -> tuple[BoundRecursion, ...]:
    """Bind the relations of one recursion.

    Returns:
        Each with the others, in their order.

    Raises:
        NoBase, NotMonotone, UnboundedRecursion: as their names say.
    """
    bases = {
        one.name: bind_query(one.base, environment, named=not one.names)
        for one in relations
        if one.base is not None
    }
    columns = _beginnings(relations, bases, environment, bind_query)
    bound: dict[str, tuple[BoundSelect, ...]] = {}
    # Types, units and nulls may widen through a step: bind them until they stay.
    for _ in range(_ROUNDS * len(relations)):
        inner = _inside(environment, columns)
        wider: dict[str, tuple[Column, ...]] = {}
        for one in relations:
            own = columns[one.name]
            found: list[BoundSelect] = []
            for step in one.steps:
                query = bind_query(step, inner, named=False)
                assert isinstance(query, BoundSelect)
                found.append(query)
                own = _named(own, unify(BoundValues(own, ()), query, step.at))
            bound[one.name] = tuple(found)
            wider[one.name] = own
        if wider == columns:
            break
        columns = wider
    bests = {one.name: _best(one, columns[one.name]) for one in relations}
    check_growth(
        [
            Growing(
                one.name,
                columns[one.name],
                bests[one.name],
                tuple(zip(one.steps, bound[one.name], strict=True)),
            )
            for one in relations
        ]
    )
    alone = [
        BoundRecursion(
            one.name,
            columns[one.name],
            bases.get(one.name, BoundValues(columns[one.name], ())),
            _united(bound[one.name], columns[one.name]),
            bests[one.name],
        )
        for one in relations
    ]
    return tuple(
        replace(one, others=tuple(other for other in alone if other is not one)) for one in alone
    )


def _united(steps: tuple[BoundSelect, ...], columns: tuple[Column, ...]) -> BoundQuery:
    return steps[0] if len(steps) == 1 else BoundUnion(steps, distinct=False, columns=columns)


def _best(one: Definition, columns: tuple[Column, ...]) -> Best | None:
    if not one.choices:
        return None
    names = [column.name for column in columns]
    chosen = tuple((names[place], function) for place, function in one.choices)
    keys = tuple(name for name in names if name not in dict(chosen))
    return Best(keys, *chosen[0], chosen[1:])


def _beginnings(
    relations: Sequence[Definition],
    bases: Mapping[str, BoundQuery],
    environment: Environment,
    bind_query: BindQuery,
) -> dict[str, tuple[Column, ...]]:
    """Returns columns to begin with: of a base, or of a step over relations that have some."""
    columns: dict[str, tuple[Column, ...]] = {}
    waiting = list(relations)
    while waiting:
        for one in waiting:
            query = bases.get(one.name) or _first(one, waiting, columns, environment, bind_query)
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
    bind_query: BindQuery,
) -> BoundQuery | None:
    """Bind the first step of a relation that reads only relations with columns."""
    for step in one.steps:
        if not any(readings(step, other.name) for other in waiting):
            return bind_query(step, _inside(environment, columns), named=not one.names)
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
