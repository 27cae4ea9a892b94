"""Plan nodes: the logical plan of one query, as a tree of frozen dataclasses.

Every node knows its output `columns` and refuses, when built, to name a column its child does not
have. Joins and recursion follow DESIGN.md section 5: weighted bags outside recursion, sets inside.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from aspen.algebra.expr import Expr, columns_in
from aspen.errors import AspenError
from aspen.model.schema import Column


class PlanError(AspenError):
    """A plan node that makes no sense."""

    code = "aspen.algebra.plan"


def _distinct(columns: tuple[Column, ...], node: str) -> None:
    names = [column.name for column in columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PlanError(f"{node} gives two columns one name", found=", ".join(twice))


def _require(names: Iterable[str], columns: tuple[Column, ...], node: str) -> None:
    existing = tuple(column.name for column in columns)
    for name in names:
        if name not in existing:
            raise PlanError(f"{node} names {name!r}", found=name, exists=existing)


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows of a relation, each column prefixed by the alias: `m.mid`.

    Args:
        deletable: whether base rows get provenance variables (see Relation.deletable).
        stream: whether the relation only grows; a stream must pass a Window before anything
            that keeps state.
    """

    relation: str
    alias: str
    columns: tuple[Column, ...]
    deletable: bool = True
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a stream that counts now.

    Args:
        partition_by: columns whose every value has a window of its own.
        rows: newest rows kept per partition, None for no limit.
        range_s: seconds of log time a row stays, None for ever.
    """

    child: Plan
    partition_by: tuple[str, ...] = ()
    rows: int | None = None
    range_s: float | None = None

    def __post_init__(self) -> None:
        _require(self.partition_by, self.child.columns, "Window")
        if self.rows is None and self.range_s is None:
            raise PlanError("a window needs ROWS or RANGE", attempt="[RANGE 30 SECONDS]")
        if (self.rows is not None and self.rows < 1) or (
            self.range_s is not None and self.range_s <= 0
        ):
            raise PlanError("a window must hold something", found=f"{self.rows=} {self.range_s=}")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The child's."""
        return self.child.columns


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows for which the predicate is true."""

    child: Plan
    predicate: Expr

    def __post_init__(self) -> None:
        _require(columns_in(self.predicate), self.child.columns, "Filter")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The child's."""
        return self.child.columns


@dataclass(frozen=True, slots=True)
class Project:
    """Computed columns, one per output; duplicates stay (weights add up)."""

    child: Plan
    outputs: tuple[tuple[Column, Expr], ...]

    def __post_init__(self) -> None:
        for _, value in self.outputs:
            _require(columns_in(value), self.child.columns, "Project")
        _distinct(self.columns, "Project")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The computed ones."""
        return tuple(column for column, _ in self.outputs)


@dataclass(frozen=True, slots=True)
class Join:
    """Left columns then right columns, for pairs equal on `on` that pass `residual`.

    Args:
        on: pairs of (left column, right column); empty for a theta join.
        residual: a further predicate over the joined row.
    """

    left: Plan
    right: Plan
    on: tuple[tuple[str, str], ...] = ()
    residual: Expr | None = None

    def __post_init__(self) -> None:
        _require((pair[0] for pair in self.on), self.left.columns, "Join")
        _require((pair[1] for pair in self.on), self.right.columns, "Join")
        _distinct(self.columns, "Join")
        _require(columns_in(self.residual), self.columns, "Join")

    @property
    def columns(self) -> tuple[Column, ...]:
        """Left then right."""
        return self.left.columns + self.right.columns


@dataclass(frozen=True, slots=True)
class AntiJoin:
    """Left rows without a partner on the right: `NOT EXISTS`; weights stay as they are.

    Args:
        on: pairs of (left column, right column); a null equals nothing.
        residual: a further predicate over left and right columns that a partner must pass.
    """

    left: Plan
    right: Plan
    on: tuple[tuple[str, str], ...] = ()
    residual: Expr | None = None

    def __post_init__(self) -> None:
        _require((pair[0] for pair in self.on), self.left.columns, "AntiJoin")
        _require((pair[1] for pair in self.on), self.right.columns, "AntiJoin")
        both = self.left.columns + self.right.columns
        if self.residual is not None:
            _distinct(both, "AntiJoin")
            _require(columns_in(self.residual), both, "AntiJoin")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The left's."""
        return self.left.columns


@dataclass(frozen=True, slots=True)
class Union:
    """`UNION ALL`: weights add up; columns are named by the first child."""

    children: tuple[Plan, ...]

    def __post_init__(self) -> None:
        if len({tuple(c.type for c in child.columns) for child in self.children}) != 1:
            raise PlanError("UNION needs the same column types on every side")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The first child's."""
        return self.children[0].columns


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each row once, as long as its weight is positive."""

    child: Plan

    @property
    def columns(self) -> tuple[Column, ...]:
        """The child's."""
        return self.child.columns


class AggregateFunction(Enum):
    """The aggregates StreamSQL knows."""

    COUNT = "COUNT"
    SUM = "SUM"
    MIN = "MIN"
    MAX = "MAX"
    AVG = "AVG"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a GroupBy.

    Args:
        argument: column aggregated; None for COUNT(*).
        distinct: whether equal values count once.
    """

    function: AggregateFunction
    argument: str | None
    output: Column
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class GroupBy:
    """One row per key: the key columns, then the aggregates. No keys: one row, also when empty."""

    child: Plan
    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        _require(self.keys, self.child.columns, "GroupBy")
        used = (a.argument for a in self.aggregates if a.argument is not None)
        _require(used, self.child.columns, "GroupBy")

    @property
    def columns(self) -> tuple[Column, ...]:
        """Keys then aggregates."""
        by_name = {column.name: column for column in self.child.columns}
        keys = tuple(by_name[key] for key in self.keys)
        return keys + tuple(aggregate.output for aggregate in self.aggregates)


@dataclass(frozen=True, slots=True)
class RecursiveRef:
    """The recursive view itself, read inside its step; exactly one stands in a linear step."""

    name: str
    alias: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Best:
    """Aggregate selection inside recursion: per key, only the best row goes on.

    Args:
        keys: columns of the recursive view that form the group.
        column: the column minimised or maximised; costs may only grow (shrink) along the step.
        function: MIN or MAX.
    """

    keys: tuple[str, ...]
    column: str
    function: AggregateFunction


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """`WITH RECURSIVE`: the least set holding `base` and closed under `step`.

    Args:
        name: the recursive view's name, as RecursiveRef spells it.
        columns: output columns; base and step give the same types in the same order.
        base: rows to begin with; does not mention the view.
        step: rows derived from the view; mentions it through RecursiveRef.
        best: aggregate selection, if the step minimises or maximises a column.
    """

    name: str
    columns: tuple[Column, ...]
    base: Plan
    step: Plan
    best: Best | None = None

    def __post_init__(self) -> None:
        if self.best is not None:
            _require((*self.best.keys, self.best.column), self.columns, "Fixpoint")
            if self.best.function not in (AggregateFunction.MIN, AggregateFunction.MAX):
                raise PlanError(
                    "only MIN and MAX are monotone inside recursion",
                    found=self.best.function.value,
                    exists=("MIN", "MAX"),
                )


@dataclass(frozen=True, slots=True)
class Ship:
    """A border between two sites of a federated plan: rows move, nothing else changes."""

    child: Plan
    source: str
    target: str

    @property
    def columns(self) -> tuple[Column, ...]:
        """The child's."""
        return self.child.columns


Plan = (
    Scan
    | Window
    | Filter
    | Project
    | Join
    | AntiJoin
    | Union
    | Distinct
    | GroupBy
    | RecursiveRef
    | Fixpoint
    | Ship
)


def children(plan: Plan) -> tuple[Plan, ...]:
    """Give a node's inputs, left to right."""
    match plan:
        case Scan() | RecursiveRef():
            return ()
        case Join() | AntiJoin():
            return (plan.left, plan.right)
        case Union():
            return plan.children
        case Fixpoint():
            return (plan.base, plan.step)
        case _:
            return (plan.child,)


def with_children(plan: Plan, new: tuple[Plan, ...]) -> Plan:
    """Give the same node over other inputs.

    Law: `with_children(p, children(p)) == p`.
    """
    match plan:
        case Scan() | RecursiveRef():
            return plan
        case Join() | AntiJoin():
            return replace(plan, left=new[0], right=new[1])
        case Union():
            return replace(plan, children=new)
        case Fixpoint():
            return replace(plan, base=new[0], step=new[1])
        case _:
            return replace(plan, child=new[0])


def relations_of(plan: Plan) -> frozenset[str]:
    """Give the names of all relations a plan scans."""
    own = {plan.relation} if isinstance(plan, Scan) else set()
    return frozenset(own).union(*(relations_of(child) for child in children(plan)))
