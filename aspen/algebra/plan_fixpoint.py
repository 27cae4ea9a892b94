"""Plan nodes of recursion: its relations, and the reading of one inside a step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from aspen.algebra.plan_parts import (
    AggregateFunction,
    Best,
    PlanBase,
    PlanError,
    require_columns,
)
from aspen.model.schema import Column

if TYPE_CHECKING:
    from aspen.algebra.plan import Plan

WAY = "_way"
"""The last column of a recursion in which every way to a row is one; no query's name begins so."""


@dataclass(frozen=True)
class RecursiveRef(PlanBase):
    """A relation of a recursion, read inside one of its steps."""

    name: str
    alias: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Recursive:
    """One relation of a recursion: the least set holding `base` and closed under `step`.

    Args:
        name: as RecursiveRef spells it.
        columns: output columns; base and step give the same types in the same order.
        base: rows to begin with; mentions no relation of the recursion.
        step: rows derived from the recursion; mentions it through RecursiveRef.
        best: aggregate selection, if the step minimises or maximises a column.
    """

    name: str
    columns: tuple[Column, ...]
    base: Plan
    step: Plan
    best: Best | None = None

    def __post_init__(self) -> None:
        types = [column.type for column in self.columns]
        for side in (self.base, self.step):
            if [column.type for column in side.columns] != types:
                raise PlanError(
                    f"base and step of {self.name} need the types of its columns",
                    found=", ".join(column.type.value for column in side.columns),
                    exists=[kind.value for kind in types],
                )
        if self.best is None:
            return
        chosen = [column for column, _ in self.best.choices]
        names = [column.name for column in self.columns]
        require_columns((*self.best.keys, *chosen), names, "Fixpoint")
        for _, function in self.best.choices:
            if function not in (AggregateFunction.MIN, AggregateFunction.MAX):
                raise PlanError(
                    "only MIN and MAX are monotone inside recursion",
                    found=function.value,
                    exists=("MIN", "MAX"),
                )
        if len({*chosen}) < len(chosen) or {*chosen} & {*self.best.keys}:
            raise PlanError("a recursion chooses by each column once", found=", ".join(chosen))


@dataclass(frozen=True)
class Fixpoint(PlanBase):
    """`WITH RECURSIVE`: one relation of a recursion.

    Args:
        name: the relation's name; the fields up to `best` are those of Recursive.
        others: relations that are recursive together with this one; every step may read all.
        most: rows any of them may have; more are an error of the view. None: the engine's limit.
    """

    name: str
    columns: tuple[Column, ...]
    base: Plan
    step: Plan
    best: Best | None = None
    others: tuple[Recursive, ...] = ()
    most: int | None = None

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            raise PlanError("a recursion may have one row at least", found=str(self.most))
        names = [relation.name for relation in self.relations]
        if len({*names}) < len(names):
            raise PlanError("two relations of one recursion have one name", found=", ".join(names))
        super().__post_init__()

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The base and the step of each relation."""
        return tuple(part for one in self.relations for part in (one.base, one.step))

    @cached_property
    def relations(self) -> tuple[Recursive, ...]:
        """Every relation of the recursion, the one it gives first."""
        own = Recursive(self.name, self.columns, self.base, self.step, self.best)
        return (own, *self.others)
