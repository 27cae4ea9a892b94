"""JoinGraph: inner joins as what they match, whatever the order in which they are written.

    edge a ⋈ edge b ⋈ edge c      a(x, y)  b(y, z)  c(z, x)      cyclic
    t0 ⋈ t1 ⋈ t2 on id            t0(x)    t1(x)    t2(x)        acyclic

Column i of input n is named `a{n}.c{i}`, as in a block. A variable is a value that several inputs
have in common: it has one column of each of them.

Law:    the rows of the joins are all combinations of input rows whose variables agree, are not
        null, and which pass the conditions.
Source: GYO reduction (Graham 1979; Yu, Ozsoyoglu 1979).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from aspen.algebra.block import (
    Block,
    block_of,
    column_name,
    column_of,
    equal_classes,
    equated,
    input_of,
)
from aspen.algebra.expr import Col, Expr, Op, columns_in
from aspen.algebra.plan import Filter, Join, Plan, PlanError, Ship
from aspen.components import connected_groups
from aspen.model.schema import Column, Type

_FEWEST = 2


@dataclass(frozen=True)
class JoinGraph:
    """Inputs that are joined.

    Args:
        inputs: two at least; a row of the joins is their rows one after the other.
        variables: of each the columns that are equal, at most one of each input, in the inputs'
            order.
        conditions: what else a row must pass.
    """

    inputs: tuple[Plan, ...]
    variables: tuple[tuple[str, ...], ...]
    conditions: tuple[Expr, ...] = ()

    def __post_init__(self) -> None:
        if len(self.inputs) < _FEWEST:
            raise PlanError("joins have two inputs at least", found=str(len(self.inputs)))
        have = frozenset(self.names)
        for read in (*map(frozenset, self.variables), *map(columns_in, self.conditions)):
            if not read <= have:
                raise PlanError("joins read a column of no input", found=", ".join(read - have))
        met: set[str] = set()
        for variable in self.variables:
            numbers = [input_of(name) for name in variable]
            apart = numbers == sorted(set(numbers)) and len(numbers) >= _FEWEST
            if not apart or met & set(variable):
                raise PlanError(
                    "a variable of joins stands for one column of each of several inputs",
                    found=", ".join(variable),
                )
            met |= set(variable)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, input by input."""
        return tuple(name for number in range(len(self.inputs)) for name in self.own(number))

    def own(self, number: int) -> tuple[str, ...]:
        """Returns the names of an input's columns."""
        return tuple(column_name(number, i) for i in range(len(self.inputs[number].columns)))

    def column(self, name: str) -> Column:
        """Returns the column that a name stands for."""
        number, index = column_of(name)
        return self.inputs[number].columns[index]

    @cached_property
    def places(self) -> tuple[dict[int, str], ...]:
        """Of each input the variables it has, by number, and the name of its column."""
        return tuple(
            {
                variable: name
                for variable, names in enumerate(self.variables)
                for name in names
                if input_of(name) == number
            }
            for number in range(len(self.inputs))
        )

    def is_exact(self, variable: int) -> bool:
        """Whether the columns of a variable hold one and the same value: 1 is equal to 1.0."""
        types = {self.column(name).type for name in self.variables[variable]}
        return len(types) == 1 and Type.FLOAT not in types

    @cached_property
    def connected(self) -> bool:
        """Whether variables tie all inputs together."""
        named = [(number, tuple(own)) for number, own in enumerate(self.places)]
        return len(connected_groups(named, lambda one: one[1])) == 1

    @cached_property
    def cyclic(self) -> bool:
        """Whether no order of joining in pairs keeps what it has found from growing in vain."""
        edges = [frozenset(own) for own in self.places]
        while True:
            shared = {v for v in range(len(self.variables)) if sum(v in e for e in edges) > 1}
            left = _not_within_another([edge & shared for edge in edges])
            if left == edges:
                return len(edges) > 1
            edges = left


def _not_within_another(edges: list[frozenset[int]]) -> list[frozenset[int]]:
    kept: list[frozenset[int]] = []
    for index, edge in enumerate(edges):
        later = edges[index + 1 :]
        if not any(edge <= other for other in (*kept, *later)):
            kept.append(edge)
    return kept


def join_graph(plan: Join) -> JoinGraph:
    """Takes joins within joins apart; what is no inner join, or selection over one, is an input."""
    block: Block = block_of(plan, lambda node: not is_joins(node))
    pairs = equated(block.conditions)
    variables: list[tuple[str, ...]] = []
    conditions = [c for c in block.conditions if not equated([c])]
    for members in equal_classes(pairs):
        firsts: dict[int, str] = {}
        for name in sorted(members, key=column_of):
            first = firsts.setdefault(input_of(name), name)
            if first != name:
                conditions.append(Op("=", Col(first), Col(name)))
        if len(firsts) > 1:
            variables.append(tuple(firsts.values()))
    inputs = tuple(one.plan for one in block.inputs)
    return JoinGraph(inputs, tuple(sorted(variables, key=_order)), tuple(conditions))


def is_joins(plan: Plan) -> bool:
    """Whether a plan is an inner join, or a selection over one."""
    while isinstance(plan, Filter | Ship):
        plan = plan.child
    return isinstance(plan, Join)


def _order(variable: Iterable[str]) -> list[tuple[int, int]]:
    return [column_of(name) for name in variable]
