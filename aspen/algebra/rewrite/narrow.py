"""Narrow: a plan without what nobody reads of it.

    Project q.node = q.node                      Project q.node = q.node
      Join on q.rid = c.rid               ──►      Join on q.rid = c.rid
        Project q.node, q.rid, q.far = …             Project q.node, q.rid
        GroupBy c.rid give n, warmest                GroupBy c.rid give n

Only what is computed is left out: outputs of projections, aggregates, columns of a recursion. A
relation is read whole, for a narrower copy of it would need indexes of its own.

Source: folklore; for recursion own.
"""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.expr import Col, columns_in
from aspen.algebra.linearise import mentions
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    RecursiveRef,
    Ship,
    Union,
    children,
    map_children,
    nodes,
)

Names = frozenset[str]


def narrow(plan: Plan, needed: Names, *, counted: bool = True) -> Plan:
    """Leave out columns that are not needed; it may keep some.

    Args:
        needed: names of columns that are read.
        counted: whether it matters how often a row is there.

    Returns:
        The plan itself where nothing can be left out.

    Law: projected on `needed`, the rows are the same; the same set of rows, if not `counted`.
    """
    match plan:
        case Project():
            outputs = tuple(pair for pair in plan.outputs if pair[0].name in needed)
            outputs = outputs or plan.outputs[:1]
            read = frozenset[str]().union(*(columns_in(expr) for _, expr in outputs))
            child = narrow(plan.child, read, counted=counted)
            unchanged = child is plan.child and len(outputs) == len(plan.outputs)
            return plan if unchanged else Project(child, outputs)
        case Filter():
            read = needed | columns_in(plan.predicate)
            return map_children(plan, lambda one: narrow(one, read, counted=counted))
        case Distinct():
            # What counts as equal must stay; how often a row comes from below does not matter.
            return map_children(plan, lambda one: narrow(one, plan.names, counted=False))
        case Ship():
            return map_children(plan, lambda one: narrow(one, needed, counted=counted))
        case GroupBy():
            return _grouped(plan, needed)
        case Join() | OuterJoin() | AntiJoin() | MarkJoin():
            return _joined(plan, needed, counted=counted)
        case Union():
            return _united(plan, needed, counted=counted)
        case Fixpoint():
            return _recursive(plan, needed, counted=counted)
        case _:
            return plan


def _grouped(plan: GroupBy, needed: Names) -> Plan:
    aggregates = tuple(one for one in plan.aggregates if one.output.name in needed)
    if not plan.keys:
        aggregates = aggregates or plan.aggregates[:1]
    read = frozenset(name for one in aggregates for name in one.reads)
    child = narrow(plan.child, read | {*plan.keys})
    if child is plan.child and len(aggregates) == len(plan.aggregates):
        return plan
    return replace(plan, child=child, aggregates=aggregates)


def _joined(plan: Join | OuterJoin | AntiJoin | MarkJoin, needed: Names, *, counted: bool) -> Plan:
    read = needed | columns_in(plan.residual)
    left = narrow(plan.left, read | {one for one, _ in plan.on}, counted=counted)
    # Whether there is a partner does not depend on how many there are.
    asked = isinstance(plan, AntiJoin | MarkJoin)
    own = columns_in(plan.residual) if asked else read
    right = narrow(plan.right, own | {other for _, other in plan.on}, counted=counted and not asked)
    same = left is plan.left and right is plan.right
    return plan if same else replace(plan, left=left, right=right)


def _united(plan: Union, needed: Names, *, counted: bool) -> Plan:
    """Narrow the branches alike; by position, as they are united."""
    names = [column.name for column in plan.columns]
    kept = [index for index, name in enumerate(names) if name in needed] or [0]
    if len(kept) < len(names) and all(isinstance(one, Project) for one in plan.children):
        made: list[Plan] = []
        for one in plan.children:
            assert isinstance(one, Project)
            made.append(Project(one.child, tuple(one.outputs[index] for index in kept)))
        plan = Union(tuple(made))
    return map_children(plan, lambda one: narrow(one, one.names, counted=counted))


def _recursive(plan: Fixpoint, needed: Names, *, counted: bool) -> Plan:
    """Leave out columns of a recursion that only serve to compute themselves.

    Rows that differed in nothing else become one, so where rows are counted there must be one row
    per key anyway: with a choice by one column, when all that is neither chosen by nor key goes.
    """
    if plan.others or plan.most is not None or not isinstance(plan.step, Project):
        return plan
    best = plan.best
    fixed = frozenset[str]() if best is None else frozenset((*best.keys, best.column))
    if best is not None and best.more:
        return plan
    names = [column.name for column in plan.columns]
    gone = frozenset(names) - needed - fixed
    if best is not None and gone != frozenset(names) - fixed:
        return plan
    if not gone or (counted and best is None) or gone == frozenset(names):
        return plan
    indices = [index for index, name in enumerate(names) if name not in gone]
    refs = [r for r in nodes(plan.step) if isinstance(r, RecursiveRef) and r.name == plan.name]
    lost = {
        ref.columns[index].name for ref in refs for index, name in enumerate(names) if name in gone
    }
    kept_outputs = tuple(plan.step.outputs[index] for index in indices)
    if not refs or _read_by(Project(plan.step.child, kept_outputs)) & lost:
        return plan
    columns = tuple(plan.columns[index] for index in indices)
    outputs = tuple(
        (column, Col(plan.base.columns[index].name))
        for column, index in zip(columns, indices, strict=True)
    )
    base = Project(plan.base, outputs)
    step = Project(_without(plan.step.child, plan.name, indices), kept_outputs)
    return replace(plan, columns=columns, base=base, step=step)


def _read_by(plan: Plan) -> Names:
    """Returns every column that the nodes of a step read, whole rows of a node's input included."""
    match plan:
        case Project():
            own = frozenset[str]().union(*(columns_in(expr) for _, expr in plan.outputs))
        case Filter():
            own = columns_in(plan.predicate)
        case Join() | AntiJoin():
            own = columns_in(plan.residual) | {name for pair in plan.on for name in pair}
        case RecursiveRef():
            return frozenset()
        case _ if not any(isinstance(node, RecursiveRef) for node in nodes(plan)):
            return frozenset()
        case _:
            own = frozenset[str]().union(*(child.names for child in children(plan)))
    return own.union(*(_read_by(child) for child in children(plan)))


def _without(plan: Plan, name: str, indices: list[int]) -> Plan:
    if isinstance(plan, RecursiveRef) and plan.name == name:
        return replace(plan, columns=tuple(plan.columns[index] for index in indices))
    if not mentions(plan, (name,)):
        return plan
    return map_children(plan, lambda child: _without(child, name, indices))
