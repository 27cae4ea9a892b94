"""DeviceBlock: what motes run: a block over device streams, perhaps grouped.

    Project(Join(Filter(Scan s), Scan l))      scans s, l · own(s) · paired · joined · outputs

A condition over columns that never change for a sensor says which sensors may be partners at all;
the others say whether the rows of partners join.

Law: the plan's rows are the outputs over all combinations of input rows that fulfil all
conditions, grouped if it groups, with `above` applied to them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from aspen.algebra.block import NotABlock, aggregate_of, block_of, column_name, column_of, equated
from aspen.algebra.evaluate import compile_predicate
from aspen.algebra.expr import Col, Expr, Op, columns_in, substitute
from aspen.algebra.plan import Filter, GroupBy, Plan, Project, Scan, Window
from aspen.model.schema import Column, Row, Value

Member = TypeVar("Member")

Lasting = Callable[[str, str], bool]
"""Whether a column of a stream never changes for a sensor."""


@dataclass(frozen=True, slots=True)
class DeviceBlock:
    """What motes run; columns are named as in `aspen.algebra.block`.

    Args:
        scans: the device streams; an epoch's samples are a window of one row per device.
        own: conditions over each stream alone.
        paired: what two sensors must fulfil to be partners, over lasting columns.
        joined: what their rows must fulfil.
        columns: of `outputs`.
        outputs: computed columns; the group keys where it groups.
        grouping: the aggregate, if there is one.
        arguments: what is aggregated; None for COUNT(*).
        above: selections and projections over the aggregate, the highest first.
    """

    scans: tuple[Scan, ...]
    own: tuple[tuple[Expr, ...], ...]
    paired: tuple[Expr, ...]
    joined: tuple[Expr, ...]
    columns: tuple[Column, ...]
    outputs: tuple[Expr, ...]
    grouping: GroupBy | None = None
    arguments: tuple[Expr | None, ...] = ()
    above: tuple[Filter | Project, ...] = ()

    @property
    def equal(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns that must be equal, the earlier input's first."""
        return equated((*self.paired, *self.joined))

    def column(self, name: str) -> tuple[str, Column]:
        """Returns the stream a column is of, and the column under the stream's own name for it."""
        number, index = column_of(name)
        scan = self.scans[number]
        found = scan.columns[index]
        return scan.relation, replace(found, name=found.name.rpartition(".")[2])

    def by_stream(self, expr: Expr) -> Expr:
        """Returns an expression with each column named `stream.column`."""
        names: dict[str, Expr] = {}
        for name in columns_in(expr):
            stream, column = self.column(name)
            names[name] = Col(f"{stream}.{column.name}")
        return substitute(expr, names)


def device_block(plan: Plan, lasting: Lasting) -> DeviceBlock:
    """Reads a fragment's plan.

    Raises:
        NotABlock: a node that keeps more than one row per sensor, or that motes do not have.
    """
    found = aggregate_of(plan)
    above, grouping = found or ((), None)
    block = block_of(plan if grouping is None else grouping.child, _samples)
    scans = tuple(_scan(one.plan) for one in block.inputs)
    values = dict(zip((c.name for c in block.columns), block.outputs, strict=True))
    keys = [column.name for column in block.columns] if grouping is None else grouping.keys
    columns = {column.name: column for column in block.columns}

    def lasts(name: str) -> bool:
        number, index = column_of(name)
        scan = scans[number]
        return lasting(scan.relation, scan.columns[index].name.rpartition(".")[2])

    own, across = block.by_input()
    paired = tuple(one for one in across if all(map(lasts, columns_in(one))))
    return DeviceBlock(
        scans,
        own,
        paired,
        tuple(one for one in across if one not in paired),
        tuple(columns[key] for key in keys),
        tuple(values[key] for key in keys),
        grouping,
        tuple(
            None if one.argument is None else values[one.argument]
            for one in (() if grouping is None else grouping.aggregates)
        ),
        above,
    )


def _samples(plan: Plan) -> bool:
    """Whether a node is one row per device: an epoch holds no more."""
    newest = isinstance(plan, Window) and plan.rows == 1 and isinstance(plan.child, Scan)
    return isinstance(plan, Scan) or newest


def _scan(plan: Plan) -> Scan:
    found = plan.child if isinstance(plan, Window) else plan
    if not isinstance(found, Scan):
        raise NotABlock(found)
    return found


def partners(
    conditions: Sequence[Expr],
    members: Sequence[Sequence[tuple[Member, Row]]],
    columns: Sequence[Sequence[Column]],
) -> list[tuple[Member, ...]]:
    """Returns the groups, one member per input, whose rows fulfil all conditions.

    Args:
        members: of each input, with the row that says what never changes.
        columns: of each input's rows.
    """
    partial: list[tuple[tuple[Member, ...], Row]] = [((), ())]
    waiting = list(conditions)
    known: list[Column] = []
    for number, mine in enumerate(members):
        offsets = {column_name(number, i): i for i in range(len(columns[number]))}
        before = {column.name: i for i, column in enumerate(known)}
        known += [replace(c, name=column_name(number, i)) for i, c in enumerate(columns[number])]
        ready = [c for c in waiting if columns_in(c) <= {*before, *offsets}]
        waiting = [c for c in waiting if c not in ready]
        keep = [compile_predicate(condition, known) for condition in ready]
        key = next((pair for c in ready if (pair := _key(c, before, offsets))), None)
        index: dict[Value, list[tuple[Member, Row]]] = defaultdict(list)
        for member, row in mine:
            index[None if key is None else row[key[1]]].append((member, row))
        partial = [
            ((*group, member), (*row, *its))
            for group, row in partial
            for member, its in index.get(None if key is None else row[key[0]], ())
            if all(test((*row, *its)) for test in keep)
        ]
    return [group for group, _ in partial]


def _key(
    condition: Expr, before: Mapping[str, int], own: Mapping[str, int]
) -> tuple[int, int] | None:
    """Returns where an equality finds an earlier value and this input's, if it is one."""
    match condition:
        case Op("=", Col(one), Col(other)):
            if one in before and other in own:
                return before[one], own[other]
            if other in before and one in own:
                return before[other], own[one]
    return None
