"""Partition: by which relation a plan is best split over lanes, if it is worth it.

    candidates    a column of a table or stream that the plan reads
    cost          what a lane then has to do: its part of what is split, and all of what is not
    chosen        the root of least cost, where that is well below doing everything in one lane

The demand relation of a recursion is found this way, not named: all of a recursion that starts at
the rows of one relation is split by it. Work is counted in coarse units per node, for rows of a
demand relation are few when a view is registered and many later.

Receives: a plan over base relations, their declarations.     Gives: a root and a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from aspen.algebra.carried import Carried, Kept, PartNode, Root
from aspen.algebra.expr import Call, Expr, parts
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Over,
    Plan,
    Project,
    RecursiveRef,
    SetOperation,
    TopK,
    Window,
    children,
    nodes,
    relations_of,
)
from aspen.algebra.splitting import Splitting
from aspen.model.schema import Relation, Type

WORTH = 0.8
"""A plan is split where a lane has at most this part of the work of the whole."""

_RECURSION, _JOIN, _GROUP, _ROW = 500, 20, 15, 1  # whole numbers, whose sum no order changes
_SPLIT_TYPES = (Type.INT, Type.TEXT)


@dataclass(frozen=True, slots=True)
class Choice:
    """How a plan is split.

    Args:
        kept: which output columns say where a row is; empty where none does.
        reason: one clause, behind "because".
    """

    root: Root
    kept: Kept
    reason: str


def split(plan: Plan, root: Root, number: int, lanes: int) -> PartNode:
    """Returns one part of a plan.

    Law: the rows of the parts 0 … lanes - 1 add up to the plan's, as long as the root's key, if it
        has one, is a key.
    """
    return Splitting(root, number, lanes).part(plan)


def choose_root(plan: Plan, relations: Mapping[str, Relation], lanes: int) -> Choice | None:
    """Choose what a plan is split by; None where one lane should have all of it.

    Args:
        plan: over base relations alone.
        relations: the declared ones; others are never split by.
    """
    if lanes == 1 or not any(isinstance(node, Fixpoint) for node in nodes(plan)):
        return None  # what is not recursive costs less than it would cost to read everything twice
    whole = sum(_weight(node) for node in {*nodes(plan)})
    found: list[tuple[float, str, Root, PartNode]] = []
    for root in _candidates(plan, relations):
        part = split(plan, root, 0, lanes)
        if part.kept is not None:
            cost, recursive = _cost(part.plan, lanes)
            if recursive and cost <= WORTH * whole:
                found.append((cost, str(root), root, part))
    if not found:
        return None
    cost, _, root, part = min(found, key=lambda one: one[:2])
    if root.key:
        without = split(plan, replace(root, key=""), 0, lanes)
        if without.kept is not None and _cost(without.plan, lanes)[0] <= cost:
            root, part = replace(root, key=""), without
    assert part.kept is not None
    return Choice(root, part.kept, _reason(plan, part.plan, root, cost / whole))


def explain_root(plan: Plan, relations: Mapping[str, Relation], lanes: int) -> str:
    """Say in a sentence how a plan would be spread over lanes."""
    choice = choose_root(plan, relations, lanes)
    if choice is not None:
        return f"split over {lanes} lanes by {choice.root}, because {choice.reason}"
    if lanes == 1:
        return "in the lane, because there is one"
    if any(isinstance(node, Fixpoint) for node in nodes(plan)):
        why = "no relation's rows can be parted so that most of its recursion falls apart"
    else:
        why = "nothing in it is recursive, so that reading everything twice would cost more"
    return f"whole in one of {lanes} lanes, because {why}"


def work_of(plan: Plan) -> dict[Plan, int]:
    """Returns the parts of a plan that cost something, each once, in the units of this module."""
    return {node: _weight(node) for node in {*nodes(plan)} if _weight(node) > _ROW}


def _candidates(plan: Plan, relations: Mapping[str, Relation]) -> Iterator[Root]:
    for name in sorted(relations_of(plan)):
        relation = relations.get(name)
        if relation is None:
            continue
        key = _key_of(relation)
        for column in relation.columns:
            if column.type in _SPLIT_TYPES:
                yield Root(name, column.name, "" if key == column.name else key)


def _key_of(relation: Relation) -> str:
    """Returns the column that tells a relation's rows apart, empty without one."""
    if len(relation.key) != 1:
        return ""
    column = relation.columns[relation.index(relation.key[0])]
    return "" if column.nullable else column.name


def _weight(plan: Plan) -> int:
    match plan:
        case Fixpoint():
            return _RECURSION
        case Join() | AntiJoin() | OuterJoin() | MarkJoin():
            return _JOIN
        case GroupBy() | Distinct() | TopK() | Over() | SetOperation() | Window():
            return _GROUP
        case Filter() | Project():
            return _ROW
        case _:
            return 0


def _cost(plan: Plan, lanes: int) -> tuple[float, bool]:
    """Returns the work of one lane, and whether a recursion is among what is split."""
    split_nodes: set[Plan] = set()
    whole_nodes: set[Plan] = set()
    _sort(plan, frozenset(), split_nodes, whole_nodes)
    whole_nodes -= split_nodes
    cost = sum(map(_weight, split_nodes)) / lanes + sum(map(_weight, whole_nodes))
    return cost, any(isinstance(node, Fixpoint) for node in split_nodes)


def _sort(plan: Plan, refs: frozenset[str], parted: set[Plan], whole: set[Plan]) -> bool:
    """Sort the nodes of a part into those that have a part of the rows, and those with all."""
    if isinstance(plan, RecursiveRef):
        return plan.name in refs
    if isinstance(plan, Fixpoint):
        names = refs | {one.name for one in plan.relations}
        # Whether it is split is seen from what does not mention it: base, or a filter in its step.
        own = any(_sort(child, refs, set(), set()) for child in children(plan))
        for child in children(plan):
            _sort(child, names if own else refs, parted, whole)
    else:
        found = [_sort(child, refs, parted, whole) for child in children(plan)]
        own = any(found) or (isinstance(plan, Filter) and _takes_part(plan.predicate))
    (parted if own else whole).add(plan)
    return own


def _takes_part(predicate: Expr) -> bool:
    if isinstance(predicate, Call):
        return predicate.function == "part"
    return any(_takes_part(operand) for operand in parts(predicate))


def _reason(plan: Plan, part: Plan, root: Root, share: float) -> str:
    through = f", found by its key {root.key}," if root.key else ""
    count = sum(isinstance(node, Fixpoint) for node in {*nodes(part)})
    what = "its recursion keeps" if count == 1 else f"its {count} recursions keep"
    others = len(relations_of(plan)) - 1
    return (
        f"{what} that column{through} from beginning to end, so that no row crosses: a lane has "
        f"{share:.0%} of the work, and all of the other {others} relations"
    )


def carried_index(kept: Kept, plan: Plan) -> tuple[int, Carried] | None:
    """The index of an output column that says where a row is, rather by value than by key."""
    names = [column.name for column in plan.columns]
    found = sorted((how is Carried.KEY, names.index(column), how) for column, how in kept.items())
    return (found[0][1], found[0][2]) if found else None
