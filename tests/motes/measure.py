"""What tests ask of a sensor network and no user does: joins met as told, the cost of computing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from sensors_sim.innet.gateway import QueryHandle
from sensors_sim.innet.joins import BASE
from sensors_sim.innet.placement import GroupAssignment, groups_of
from sensors_sim.network.energy import Account
from sensors_sim.sensor_network import SensorNetwork


def accounts_by(net: SensorNetwork, part: int) -> list[Account]:
    """Returns what has been spent so far: by kind of message (0) or by query (1)."""
    found: dict[object, Account] = {}
    for key, one in net.ledger.entries.items():
        found.setdefault(key[part], Account()).add(one.frames, one.sent_bytes, one.energy_mj)
    return list(found.values())


def message_accounts(net: SensorNetwork, handle: QueryHandle) -> dict[str, Account]:
    """Returns what a query has cost up to now, by kind of message."""
    entries = net.ledger.entries.items()
    return {kind: replace(one) for (kind, query), one in entries if query == handle.query}


def computing_mj(net: SensorNetwork, handle: QueryHandle) -> float:
    """Returns what sampling and computing for a query have cost so far, without the radio."""
    spent_mj = sum(mote.by_query.get(handle.query, (0, 0.0))[1] for mote in net.motes)
    return spent_mj - net.query_account(handle).energy_mj


def assign_joins(
    net: SensorNetwork,
    handle: QueryHandle,
    nodes: Mapping[tuple[str, ...], str] | None = None,
) -> None:
    """Assigns a join anew: by the routes known now, or as told, for comparison.

    Args:
        nodes: mote by group of sensors, in the order of the join's inputs; others at the base.
    """
    planner, registry = net._planner, net._registry  # past what users can do
    watched = planner._watched[handle.query]  # the same
    watched.orders.clear()
    if nodes is None:
        planner.plan(handle.query)
        return
    index = {mote.spec.mote: mote.index for mote in net.motes}
    forced = {tuple(map(registry.number, group)): index[mote] for group, mote in nodes.items()}
    sensors = registry.members(watched.run.by_stream)  # the same
    groups = groups_of(watched.run.program, sensors, registry)
    watched.assigned = GroupAssignment({one: forced.get(one, BASE) for one in groups}, 0.0)
    planner.tell(watched, watched.assigned, sensors)


def join_nodes(net: SensorNetwork, handle: QueryHandle) -> dict[str, int]:
    """Returns how many groups of partners join where: at a mote by name, or at `base`."""
    assigned = net._planner.assigned(handle.query)  # past what users can do
    nodes = [] if assigned is None else assigned.nodes.values()
    return dict(Counter("base" if n < 0 else net.motes[n].spec.mote for n in nodes))
