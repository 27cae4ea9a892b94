"""Plan nodes: the logical plan of one query, as a tree of frozen dataclasses.

Every node knows its output `columns` and refuses, when built, to name a column its child does not
have. Joins and recursion follow DESIGN.md section 5: weighted bags outside recursion, sets inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from aspen.algebra.expr import Expr, columns_in
from aspen.algebra.plan_apply import Apply, ApplyKind, NotFlat
from aspen.algebra.plan_fixpoint import WAY, Fixpoint, Recursive, RecursiveRef
from aspen.algebra.plan_joins import AntiJoin, Join, MarkJoin, OuterJoin
from aspen.algebra.plan_over import (
    SHIFTS,
    SO_FAR,
    WHOLE,
    Exclusion,
    Frame,
    Framed,
    FrameUnit,
    Over,
    OverFunction,
    Pick,
    PickFunction,
    Rank,
    RankFunction,
    reads,
)
from aspen.algebra.plan_parts import (
    MERGEABLE,
    PAIRED,
    Aggregate,
    AggregateFunction,
    Best,
    PlanBase,
    PlanError,
    Scan,
    SetFunction,
    SortKey,
    Values,
    WindowBounds,
    refuse_twins,
    require_columns,
)
from aspen.model.schema import Column


class _OfChild(PlanBase):
    """A node with one input."""

    child: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The child."""
        return (self.child,)


class _LikeChild(_OfChild):
    """A node with the columns of its only input."""

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The child's."""
        return self.child.columns


@dataclass(frozen=True)
class Window(_LikeChild):
    """The part of a stream that counts now.

    Args:
        partition_by: columns whose every value has a window of its own.
        rows: the fields from here on are those of WindowBounds.
        on: the column that says when a row happened, None where rows count from their arrival.
    """

    child: Plan
    partition_by: tuple[str, ...] = ()
    rows: int | None = None
    slide_rows: int | None = None
    range_s: float | None = None
    slide_s: float | None = None
    session_s: float | None = None
    lateness_s: float | None = None
    on: str | None = None

    def __post_init__(self) -> None:
        self._refuse_event_time()
        if self.session_s is not None and self.bounds != WindowBounds(session_s=self.session_s):
            raise PlanError("a gap alone bounds a session", attempt="[SESSION 5 MINUTES]")
        if self.slide_rows is not None:
            self._refuse_rows_slide(self.slide_rows)
        if self.slide_s is not None and (self.range_s is None or self.slide_s <= 0):
            raise PlanError(
                "SLIDE moves a RANGE window", attempt="[RANGE 30 SECONDS SLIDE 5 SECONDS]"
            )
        require_columns(self.partition_by, self.child.names, "Window")
        spans = [span for span in (self.rows, self.range_s, self.session_s) if span is not None]
        if not spans:
            raise PlanError("a window needs ROWS or RANGE", attempt="[RANGE 30 SECONDS]")
        if min(spans) <= 0:
            raise PlanError("a window must hold something", found=f"{self.rows=} {self.range_s=}")
        super().__post_init__()

    @property
    def bounds(self) -> WindowBounds:
        """How much it holds."""
        return WindowBounds(*(getattr(self, name) for name in WindowBounds._fields))

    def _refuse_event_time(self) -> None:
        if self.on is None and self.lateness_s is not None:
            raise PlanError(
                "LATENESS needs the column that says when a row happened",
                attempt="[RANGE 5 MINUTES ON at_s LATENESS 30 SECONDS]",
            )
        if self.on is not None and (self.range_s is None or not self.bounds.by_time_alone):
            raise PlanError(
                "ON bounds a window of time alone, by RANGE or TUMBLE",
                found=self.on,
                attempt="[RANGE 5 MINUTES ON at_s LATENESS 30 SECONDS], and rows by ROW_NUMBER"
                " over it",
            )
        if self.on is not None:
            require_columns((self.on,), self.child.names, "Window")

    def _refuse_rows_slide(self, slide_rows: int) -> None:
        if self.rows is None or slide_rows <= 0 or self.slide_s is not None:
            raise PlanError(
                "SLIDE and a number of rows moves a ROWS window", attempt="[ROWS 10 SLIDE 5]"
            )
        if self.partition_by:
            raise PlanError(
                "a window that moves by rows has no partitions: the rows of the whole stream are"
                " counted",
                found=", ".join(self.partition_by),
                attempt="[PARTITION BY a ROWS 10 RANGE 1 HOUR SLIDE 1 MINUTE]",
            )


@dataclass(frozen=True)
class Filter(_LikeChild):
    """The rows for which the predicate is true."""

    child: Plan
    predicate: Expr

    def __post_init__(self) -> None:
        require_columns(columns_in(self.predicate), self.child.names, "Filter")
        super().__post_init__()


@dataclass(frozen=True)
class Project(_OfChild):
    """Computed columns, one per output; duplicates stay (weights add up)."""

    child: Plan
    outputs: tuple[tuple[Column, Expr], ...]

    def __post_init__(self) -> None:
        for _, value in self.outputs:
            require_columns(columns_in(value), self.child.names, "Project")
        refuse_twins(self)
        super().__post_init__()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The computed ones."""
        return tuple(column for column, _ in self.outputs)


@dataclass(frozen=True)
class Union(PlanBase):
    """`UNION ALL`: weights add up; columns are named by the first child."""

    children: tuple[Plan, ...]

    def __post_init__(self) -> None:
        if len({tuple(c.type for c in child.columns) for child in self.children}) != 1:
            raise PlanError("UNION needs the same column types on every side")
        super().__post_init__()

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """Its children."""
        return self.children

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The first child's."""
        return self.children[0].columns


@dataclass(frozen=True)
class Distinct(_LikeChild):
    """Each row once, as long as its weight is positive."""

    child: Plan


@dataclass(frozen=True)
class SetOperation(PlanBase):
    """`EXCEPT` and `INTERSECT`: rows compared as a whole, where a null equals a null.

    Args:
        keeps_duplicates: `ALL`: multiplicities are subtracted, or the smaller one counts;
            otherwise each row comes once.
    """

    left: Plan
    right: Plan
    function: SetFunction
    keeps_duplicates: bool = False

    def __post_init__(self) -> None:
        if [c.type for c in self.left.columns] != [c.type for c in self.right.columns]:
            name = self.function.name
            raise PlanError(f"{name} needs the same column types on both sides")
        super().__post_init__()

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """The left, the right."""
        return (self.left, self.right)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The left's."""
        return self.left.columns


@dataclass(frozen=True)
class TopK(_LikeChild):
    """`ORDER BY … LIMIT … OFFSET`: some rows in the middle of an order; ties by the whole row.

    Args:
        keys: the order, most important first.
        limit: rows kept per partition, counting duplicates; None for all behind the offset.
        offset: rows left out before them.
        partition_by: columns whose every value has an order of its own.
    """

    child: Plan
    keys: tuple[SortKey, ...]
    limit: int | None
    offset: int = 0
    partition_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_columns((key.column for key in self.keys), self.child.names, "TopK")
        require_columns(self.partition_by, self.child.names, "TopK")
        if (self.limit is not None and self.limit < 0) or self.offset < 0:
            raise PlanError("TopK counts rows", found=f"{self.limit=} {self.offset=}")
        super().__post_init__()


@dataclass(frozen=True)
class GroupBy(_OfChild):
    """One row per key: the key columns, then the aggregates. No keys: one row, also when empty."""

    child: Plan
    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        require_columns(self.keys, self.child.names, "GroupBy")
        used = (name for one in self.aggregates for name in one.reads)
        require_columns(used, self.child.names, "GroupBy")
        super().__post_init__()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Keys then aggregates."""
        by_name = {column.name: column for column in self.child.columns}
        keys = tuple(by_name[key] for key in self.keys)
        return keys + tuple(aggregate.output for aggregate in self.aggregates)


@dataclass(frozen=True)
class Ship(_LikeChild):
    """A border between two sites of a federated plan: rows move, nothing else changes."""

    child: Plan
    source: str
    target: str


Plan = (
    Scan
    | Values
    | Window
    | Filter
    | Project
    | Join
    | Apply
    | AntiJoin
    | OuterJoin
    | MarkJoin
    | Union
    | Distinct
    | SetOperation
    | TopK
    | GroupBy
    | Over
    | RecursiveRef
    | Fixpoint
    | Ship
)


def children(plan: Plan) -> tuple[Plan, ...]:
    """Returns a node's inputs, left to right."""
    return plan.inputs


def with_children(plan: Plan, new: tuple[Plan, ...]) -> Plan:
    """Returns the same node over other inputs.

    Law: `with_children(p, children(p)) == p`.
    """
    match plan:
        case Scan() | Values() | RecursiveRef():
            return plan
        case Join() | Apply() | AntiJoin() | OuterJoin() | MarkJoin() | SetOperation():
            return replace(plan, left=new[0], right=new[1])
        case Union():
            return replace(plan, children=new)
        case Fixpoint():
            pairs = zip(plan.others, new[2::2], new[3::2], strict=True)
            others = tuple(replace(one, base=base, step=step) for one, base, step in pairs)
            return replace(plan, base=new[0], step=new[1], others=others)
        case _:
            return replace(plan, child=new[0])


def relations_of(plan: Plan) -> frozenset[str]:
    """Returns the names of all relations a plan scans."""
    return frozenset(node.relation for node in nodes(plan) if isinstance(node, Scan))


def map_children(plan: Plan, change: Callable[[Plan], Plan]) -> Plan:
    """Returns the same node over its changed inputs; the node itself where none changed."""
    old = children(plan)
    new = tuple(map(change, old))
    same = all(one is other for one, other in zip(new, old, strict=True))
    return plan if same else with_children(plan, new)


def nodes(plan: Plan) -> Iterator[Plan]:
    """Returns a plan's nodes, each before its inputs; one that stands twice comes twice."""
    waiting = [plan]
    while waiting:
        plan = waiting.pop()
        yield plan
        waiting += reversed(plan.inputs)
