"""Magic sets: recursions that derive what is asked for."""

from __future__ import annotations

from dataclasses import replace

from aspen.algebra.expr import Col, Const, Op, conjuncts
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    Scan,
    Union,
    Values,
    children,
    nodes,
    relations_of,
)
from aspen.algebra.rewrite.demand import Pairs, Restrict, demanded, keeps_apart
from aspen.algebra.rewrite.magic import already_bound, restrict
from aspen.algebra.rewrite.rule import Rule
from aspen.algebra.rewrite.rules.linear import closure, turned, wants_turning

MOST_DEMANDING = 40
"""Nodes of a plan whose rows are demand: it stands in the plan once more for each use."""


def constants(plan: Plan) -> dict[str, Const]:
    """Returns the columns of a filter that must equal a constant of their own type."""
    if not isinstance(plan, Filter):
        return {}
    types = {column.name: column.type for column in plan.columns}
    found: dict[str, Const] = {}
    for part in conjuncts(plan.predicate):
        match part:
            case Op("=", Col(name), Const() as value) | Op("=", Const() as value, Col(name)):
                if type(value.value) is types[name].python:
                    found.setdefault(name, value)
    return found


def is_selected(plan: Plan) -> bool:
    """Whether some column below, recursions aside, is compared with a constant by equality."""
    if isinstance(plan, Fixpoint):
        return False
    return bool(constants(plan)) or any(is_selected(child) for child in children(plan))


def begins_everywhere(plan: Fixpoint) -> bool:
    """Whether a recursion begins wherever it goes: its base reads what its steps read, unselected.

    One that begins elsewhere, as with the rows of route_request, is under demand by itself, and
    its rows per vertex are few: demand from the other end would cost as much as it saves.
    """
    begins = frozenset[str]().union(*(relations_of(one.base) for one in plan.relations))
    goes = frozenset[str]().union(*(relations_of(one.step) for one in plan.relations))
    everywhere = begins <= goes or not goes  # joined with itself alone, it goes along its base
    return bool(begins) and everywhere and not any(is_selected(one.base) for one in plan.relations)


def written_columns(plan: Fixpoint) -> frozenset[int]:
    """Returns the indices of columns that hold constants of the query alone: a few values each.

    Demand for one of them would soon be for all.
    """
    sides = [side for one in plan.relations for side in (one.base, one.step)]
    return frozenset(
        index
        for index in range(len(plan.columns))
        if all(_is_written(side, side.columns[index].name) for side in sides)
    )


def _is_written(plan: Plan, name: str) -> bool:
    match plan:
        case Project(_, outputs):
            return any(column.name == name and isinstance(e, Const) for column, e in outputs)
        case Filter(child) | Distinct(child):
            return _is_written(child, name)
        case Union(branches):
            index = [column.name for column in plan.columns].index(name)
            return all(_is_written(one, one.columns[index].name) for one in branches)
    return False


def _by_constant(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Fixpoint() as fixpoint, predicate):
            names = [column.name for column in fixpoint.columns]
            keys = {*names} if fixpoint.best is None else {*fixpoint.best.keys}
            left_out = already_bound(fixpoint) | written_columns(fixpoint)
            asked = {
                names.index(name): value
                for name, value in constants(plan).items()
                if name in keys and names.index(name) not in left_out
            }
            if not asked:
                return None
            bound = tuple(sorted(asked))
            columns = tuple(fixpoint.columns[index] for index in bound)
            demand = Values(columns, (tuple(asked[index] for index in bound),), demand=True)
            made = restrict(fixpoint, bound, demand)
            if made is None or not (made.carried or begins_everywhere(fixpoint)):
                return None
            return Filter(made.plan, predicate)
    return None


def _at_recursions(demanding: Plan) -> Restrict:
    """Returns what restricts the recursions below a join to the rows of its other side."""
    columns = {column.name: column for column in demanding.columns}

    def at(plan: Plan, pairs: Pairs) -> Plan | None:
        if not isinstance(plan, Fixpoint) or not keeps_apart(plan):
            return None
        names = [column.name for column in plan.columns]
        keys = {*names} if plan.best is None else {*plan.best.keys}
        asked = {
            names.index(own): columns[theirs]
            for own, theirs in pairs
            if own in keys and plan.columns[names.index(own)].type is columns[theirs].type
        }
        if not asked or {*asked} <= already_bound(plan):
            return None
        found = closure(plan)
        if found is not None and wants_turning(plan, found, [frozenset({names[p]}) for p in asked]):
            plan = turned(plan, found)
        bound = tuple(sorted(asked))
        outputs = {asked[index].name: asked[index] for index in bound}
        demand = Distinct(
            Project(demanding, tuple((column, Col(name)) for name, column in outputs.items()))
        )
        spread = Project(
            demand,
            tuple(
                (replace(asked[index], name=f"asked.c{index}"), Col(asked[index].name))
                for index in bound
            ),
        )
        made = restrict(plan, bound, spread)
        if made is None or not (
            begins_everywhere(plan) or (made.carried and _is_new(plan, demand))
        ):
            return None
        return made.plan

    return at


def _is_new(plan: Fixpoint, demand: Plan) -> bool:
    """Whether the base is not restricted yet, or by the same rows."""
    return not relations_of(plan.base) & relations_of(demand) and not is_selected(plan.base)


def may_demand(plan: Plan) -> bool:
    """Whether the rows of a plan can be demand: it can be read again, and is worth it."""
    every = list(nodes(plan))
    streams = any(isinstance(node, Scan) and node.stream for node in every)
    return keeps_apart(plan) and len(every) <= MOST_DEMANDING and not streams


def _by_join(plan: Plan) -> Plan | None:
    assert isinstance(plan, Join | AntiJoin | OuterJoin | MarkJoin)
    if may_demand(plan.left):
        pairs = tuple((right, left) for left, right in plan.on)
        right = demanded(plan.right, pairs, _at_recursions(plan.left))
        if right is not None:
            return replace(plan, right=right)
    if isinstance(plan, Join) and may_demand(plan.right):
        left = demanded(plan.left, plan.on, _at_recursions(plan.right))
        if left is not None:
            return replace(plan, left=left)
    return None


# Claim: rows that are not asked for, and that no row asked for descends from, need not be derived.
# Guard: demand must reach every recursive atom. With MIN or MAX it is on the keys, so that a group
# is whole or not there.
DEMAND_BY_CONSTANT = Rule(
    name="demand_by_constant",
    claim="filter[x = k](μX. b ∪ s(X)) = filter[x = k](μX'. (b ⋉ M) ∪ (s(X') ⋉ M)),"
    " M = demand from k",
    counter_example="WHERE cost_mm = 900 on cheapest walks: restricted to that cost, a dearer walk"
    " would seem cheapest",
    build=_by_constant,
)

# Claim: as above; the rows of the other side are the demand, and change like any rows.
DEMAND_BY_JOIN = Rule(
    name="demand_by_join",
    claim="l ⋈[x] μX. b ∪ s(X) = l ⋈[x] μX'. (b ⋉ M) ∪ (s(X') ⋉ M), M = demand from π[x](l)",
    counter_example="the right side of an outer join asks for nothing: lonely left rows stay",
    match=lambda plan: isinstance(plan, Join | AntiJoin | OuterJoin | MarkJoin) and bool(plan.on),
    build=_by_join,
)
