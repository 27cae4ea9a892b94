"""Crossing: whether a plan is a recursion along edges, and which networks split it.

    plan       σ π … over one Fixpoint       row by row: what a lane says of its rows is right alone
    networks   the one declared table whose key has the type of the recursion's nodes
    part       σ π … over the lane's rows of the recursion

Which table says where a node lies is declared (`NETWORK BY`), never guessed from names. Of a node
that it does not know, lane 0 takes care: a wrong table costs time and no answer.

Receives: a plan over base relations, their declarations.     Gives: a crossing, or why not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from aspen.algebra.explain import plan_text
from aspen.algebra.inline import inline
from aspen.algebra.partition import choose_root, explain_root
from aspen.algebra.plan import Filter, Fixpoint, Plan, Project, map_children
from aspen.algebra.subnetwork import (
    ARRIVED,
    INNER,
    CannotSplit,
    NetworkSplit,
    Share,
    node_column,
    share_of,
)
from aspen.model.schema import Relation, Value

_DEALT = 64
"""So many networks are told apart one by one; hashes of more of them fall evenly enough."""

Networked = Callable[[Relation], Iterable[Value]]


@dataclass(frozen=True, slots=True)
class Crossing:
    """How a plan's recursion is split by networks.

    Args:
        name: of the recursion; equal for equal recursions split by the same networks.
        relation: the table that says which network a node lies in.
        column: of the recursion: where a row is.
        reason: one clause, behind "because".
        dealt: the networks there were when it was chosen, if they are few: each lane has a run of
            them, for hashes of a few names fall together as often as not.
    """

    name: str
    relation: str
    column: str
    reason: str = ""
    dealt: tuple[Value, ...] = ()


def choose_crossing(
    plan: Plan,
    relations: Mapping[str, Relation],
    lanes: int,
    networks: Networked = lambda _relation: (),
) -> Crossing | CannotSplit:
    """Choose the networks a plan's recursion is split by, or say why it cannot be.

    Args:
        plan: over base relations alone.
        relations: the declared ones.
        networks: gives the networks that a table has now, the same in every lane.
    """
    try:
        recursion = recursion_of(plan)
        column = node_column(recursion)
        relation = _networks_for(recursion, column, relations)
        share_of(recursion, NetworkSplit(column, relation, lanes), 0)
    except CannotSplit as error:
        return error
    there = sorted({one for one in networks(relation) if one is not None}, key=repr)
    dealt = tuple(there) if len(there) <= _DEALT else ()
    spelt = f"{plan_text(recursion)}\n{relation.name} {relation.key} {relation.network} {dealt}"
    name = blake2b(spelt.encode(), digest_size=6).hexdigest()
    reason = (
        f"its recursion goes along edges, and {relation.name} says which network a node lies in: "
        "lanes exchange rows at borders alone"
    )
    return Crossing(name, relation.name, column, reason, dealt)


def recursion_of(plan: Plan) -> Fixpoint:
    """Returns the recursion that a plan gives row by row.

    Raises:
        CannotSplit: it is none, or there is more in the plan than selections and projections.
    """
    while isinstance(plan, Filter | Project):
        plan = plan.child
    if not isinstance(plan, Fixpoint):
        raise CannotSplit("only selections and projections of one recursion are split by networks")
    return plan


def crossing_share(
    plan: Plan, crossing: Crossing, relation: Relation, lane: int, lanes: int
) -> tuple[Share, Plan]:
    """Returns one lane's share of a plan's recursion, and what it keeps of the plan.

    Args:
        relation: the table of networks, as it is declared now.

    Raises:
        CannotSplit: the table does not say networks any more.
    """
    recursion = recursion_of(plan)
    if not relation.network:
        raise CannotSplit(f"{relation.name} says no networks", found=relation.name)
    arrived = f"{ARRIVED}_{crossing.name}"
    split = NetworkSplit(crossing.column, relation, lanes, crossing.dealt, arrived)
    share = share_of(recursion, split, lane)
    rows = inline(share.rows, {INNER: share.inner})
    return share, _above(plan, rows)


def explain_place(plan: Plan, relations: Mapping[str, Relation], lanes: int) -> str:
    """Say in a sentence how a plan would be spread over lanes."""
    root = lanes == 1 or choose_root(plan, relations, lanes) is not None
    crossing = None if root else choose_crossing(plan, relations, lanes)
    if not isinstance(crossing, Crossing):
        return explain_root(plan, relations, lanes)
    network = relations[crossing.relation].network
    return (
        f"split over {lanes} lanes by sub-network, {crossing.relation}.{network}, because "
        f"{crossing.reason}"
    )


def _above(plan: Plan, rows: Plan) -> Plan:
    return rows if isinstance(plan, Fixpoint) else map_children(plan, lambda one: _above(one, rows))


def _networks_for(recursion: Fixpoint, column: str, relations: Mapping[str, Relation]) -> Relation:
    node = next(one for one in recursion.columns if one.name == column)
    found = [
        relation
        for relation in relations.values()
        if relation.network and relation.columns[relation.index(relation.key[0])].type is node.type
    ]
    if len(found) != 1:
        raise CannotSplit(
            "one table must say which network a node lies in",
            found=", ".join(sorted(relation.name for relation in found)) or "none",
            attempt="CREATE TABLE node_floor (node INT, floor TEXT, KEY (node)) NETWORK BY floor",
        )
    return found[0]
