"""Placement: where each group of partners is joined: at one of them, on the way, or at the base.

    seat ──2 hops── p ──3 hops── base    cost(p) = Σ shareᵢ · ship(iᵗʰ → p) + share · ship(p → base)
    light ─1 hop──┘

Law: every group gets exactly one node; no group's cost could be lowered by moving it alone,
among the nodes considered: its members, their common ancestors, the motes in between, the base.
Source: Mihaylov, Jacob, Ives, Guha: Dynamic Join Optimization in Multi-Hop Wireless Sensor
Networks, VLDB 2010, pairwise cost; own: groups of more than two, and rows that are shipped once
for several groups.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from aspen.algebra.device_block import partners
from aspen.algebra.expr import conjuncts
from aspen.components import connected_groups
from aspen.motes.protocol import SHARED_SITES
from sensors_sim.innet.joins import BASE, Assignment, Group
from sensors_sim.innet.program import MoteProgram
from sensors_sim.innet.registry import Registry

Path = Sequence[int]
"""The motes from one up to a base station, itself first."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What the optimizer knows of a join.

    Args:
        inputs: part of each input's rows that pass its own selection, 0 to 1.
        joined: part of the groups whose rows all passed that also fulfil the join.
    """

    inputs: tuple[float, ...]
    joined: float = 1.0


def groups_of(program: MoteProgram, sensors: Sequence[int], registry: Registry) -> list[Group]:
    """Returns the groups that may ever join: one sensor per input, by what never changes."""
    members = [
        [(s, registry.fixed_row(s)) for s in sensors if registry.attached(s).stream == one.stream]
        for one in program.inputs
    ]
    columns = [registry.streams[one.stream].relation.columns for one in program.inputs]
    return partners(tuple(conjuncts(program.paired)), members, columns)


class Prices:
    """What it costs to move bytes along the tree, as the base knows it.

    Args:
        paths: from each mote that has reported, up to its base station.
        hop: energy in mJ of handing so many payload bytes to a mote.
        near: by mote, those it speaks to past the tree.
    """

    def __init__(
        self,
        paths: Mapping[int, Path],
        hop: Callable[[int, int], float],
        near: Mapping[int, Collection[int]] | None = None,
    ) -> None:
        self._near = near or {}
        self.paths = dict(paths)
        for path in paths.values():
            for depth, mote in enumerate(path):
                self.paths.setdefault(mote, path[depth:])
        self._hop = hop

    def known(self, mote: int) -> bool:
        """Whether the way from a mote is known."""
        return mote in self.paths

    def move(self, src: int, node: int, size: int) -> float:
        """Returns the energy of moving bytes from a mote to a node.

        Up and down the tree, and straight there from the first mote on the way that is near it.
        """
        up = self.paths[src]
        if node == BASE:
            return self._along(up, size)
        turn = next((n for n, one in enumerate(up) if node in self._near.get(one, ())), None)
        if turn is not None and node not in up[:turn]:
            return self._along(up[: turn + 1], size) + self._hop(node, size)
        down = self.paths[node]
        if node in up:
            return self._along(up[: up.index(node) + 1], size)
        meet = next((one for one in up if one in down), None)
        if meet is None:  # different base stations: over the wire between them
            return self._along(up, size) + self._along(list(reversed(down)), size)
        return self._along(up[: up.index(meet) + 1], size) + self._along(
            list(reversed(down[: down.index(meet) + 1])), size
        )

    def _along(self, path: Path, size: int) -> float:
        return sum(self._hop(mote, size) for mote in path[1:])


@dataclass(frozen=True)
class GroupAssignment:
    """A decision for all groups.

    Args:
        nodes: by group; BASE for the base.
        energy_mj: expected per epoch.
    """

    nodes: Mapping[Group, int]
    energy_mj: float

    def assignments(self, since: int, mote_of: Callable[[int], int]) -> dict[int, Assignment]:
        """Returns what every concerned mote must be told; BASE for the base's own groups."""
        found: dict[int, Assignment] = defaultdict(lambda: Assignment(since))
        ships: dict[tuple[int, int], set[int]] = defaultdict(set)
        for group, node in self.nodes.items():
            found[node].groups.add(group)
            for number, sensor in enumerate(group):
                ships[number, sensor].add(node)
        for (number, sensor), nodes in ships.items():
            found[mote_of(sensor)].ships[number, sensor] = tuple(sorted(nodes))
        return dict(found)


def assign_groups(
    groups: Sequence[Group],
    mote_of: Callable[[int], int],
    prices: Prices,
    shares: Shares,
    sizes: Sequence[int],
    result_bytes: int,
) -> GroupAssignment:
    """Choose a node for every group, mote by mote.

    A group with a member whose way is unknown joins at the base; its other members' rows go there
    for it, at no further cost for groups they share.

    Args:
        sizes: payload bytes of a row of each input.
        result_bytes: of a joined row.
    """
    result_share = math.prod(shares.inputs) * shares.joined
    heard, lost = list[Group](), list[Group]()
    for group in groups:
        (heard if all(prices.known(mote_of(s)) for s in group) else lost).append(group)
    paid = {member for group in lost for member in enumerate(group)}

    def shipping(number: int, sensor: int, node: int) -> float:
        mote = mote_of(sensor)
        if mote == node or (node == BASE and (number, sensor) in paid):
            return 0.0
        return shares.inputs[number] * prices.move(mote, node, sizes[number])

    def sending(node: int) -> float:
        return 0.0 if node == BASE else result_share * prices.move(node, BASE, result_bytes)

    def alone(group: Group, node: int) -> float:
        return sum(shipping(n, s, node) for n, s in enumerate(group)) + sending(node)

    def together(nodes: Mapping[Group, int]) -> float:
        shipped = {(n, s, p) for g, p in nodes.items() for n, s in enumerate(g)}
        return sum(shipping(*one) for one in sorted(shipped)) + sum(map(sending, nodes.values()))

    chosen = dict.fromkeys(lost, BASE)
    total = sum(
        shares.inputs[n] * prices.move(mote_of(s), BASE, sizes[n])
        for n, s in sorted(paid)
        if prices.known(mote_of(s))
    )
    for cluster in connected_groups(heard, enumerate):
        each = {
            group: min(candidates(group, mote_of, prices), key=lambda p: (alone(group, p), p))
            for group in cluster
        }
        options = [each]
        named = Counter(p for g in cluster for p in candidates(g, mote_of, prices))
        likely = sorted(named, key=lambda p: (-named[p], p))[:SHARED_SITES]
        options += [dict.fromkeys(cluster, node) for node in likely]
        best = min(options, key=together)
        total += together(best)
        chosen.update(best)
    return GroupAssignment(chosen, total)


def candidates(group: Group, mote_of: Callable[[int], int], prices: Prices) -> list[int]:
    """Returns the nodes considered for a group."""
    paths = [prices.paths[mote_of(sensor)] for sensor in group]
    found = {BASE}
    for path in paths:
        found.update(path[:-1])  # the last one is the base station itself
    return sorted(found)
