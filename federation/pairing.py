"""Pairing: who may be partners in a join, and where the network will let each group meet.

    seat ──2 hops── p ──3 hops── base    cost(p) = Σ shareᵢ · ship(iᵗʰ → p) + share · ship(p → base)
    light ─1 hop──┘

The network decides for itself; this predicts what it will decide, from the same choices: members,
motes on their ways, the base; group by group, or one node for all groups that share a sensor.

Law: what is predicted never costs more than joining everything at the base.
Source: Mihaylov, Jacob, Ives, Guha: Dynamic Join Optimization in Multi-Hop Wireless Sensor
Networks, VLDB 2010, pairwise cost; own: a node for several groups.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aspen.algebra.device_block import DeviceBlock, partners
from aspen.algebra.plan import Scan
from aspen.components import connected_groups
from aspen.model.schema import Row
from aspen.motes.protocol import SHARED_SITES
from federation.network import BASE, Device, Network

Group = tuple[Device, ...]
"""One sensor per input."""


def fixed_row(scan: Scan, device: Device) -> Row:
    """Returns a sensor's row; what changes is null."""
    names = (column.name.rpartition(".")[2] for column in scan.columns)
    return tuple(device.attributes.get(name) for name in names)


def groups_of(block: DeviceBlock, members: Sequence[Sequence[Device]]) -> list[Group]:
    """Returns the groups that may ever join."""
    rows = [
        [(device, fixed_row(scan, device)) for device in mine]
        for scan, mine in zip(block.scans, members, strict=True)
    ]
    return partners(block.paired, rows, [scan.columns for scan in block.scans])


@dataclass(frozen=True)
class PredictedMeeting:
    """Where groups are expected to meet.

    Args:
        nodes: a mote or `BASE`, by group.
    """

    nodes: Mapping[Group, str]

    def shipped(self) -> Counter[tuple[int, str, str]]:
        """Count rows that travel: by input, mote they come from, and node."""
        ways = {
            (number, device, node)
            for group, node in self.nodes.items()
            for number, device in enumerate(group)
            if device.mote != node
        }
        return Counter((number, device.mote, node) for number, device, node in ways)


@dataclass(frozen=True)
class Prospect:
    """What a placement is judged by.

    Args:
        shares: part of each input's rows that pass their own selection.
        joined: part of the groups whose rows all passed that also join.
        sizes: payload bytes of a row of each input.
        result_bytes: of a joined row.
    """

    network: Network
    shares: Sequence[float]
    joined: float
    sizes: Sequence[float]
    result_bytes: float

    @property
    def result_share(self) -> float:
        """Part of the groups that give a row in an epoch."""
        return math.prod(self.shares) * self.joined

    def alone(self, group: Group, node: str) -> float:
        """Returns the energy of one group at one node, in mJ per epoch."""
        shipped = sum(
            self.shares[number] * self.network.move(device.mote, node, self.sizes[number]).energy_mj
            for number, device in enumerate(group)
        )
        return shipped + self.result_share * self._result(node)

    def together(self, nodes: Mapping[Group, str]) -> float:
        """Returns the energy of many groups, a row shipped once for all at one node."""
        moving = sum(
            times * self.shares[number] * self.network.move(src, node, self.sizes[number]).energy_mj
            for (number, src, node), times in PredictedMeeting(nodes).shipped().items()
        )
        return moving + self.result_share * sum(self._result(node) for node in nodes.values())

    def _result(self, node: str) -> float:
        if node == BASE:
            return 0.0
        return self.network.to_base(node, self.result_bytes).energy_mj


def meet(groups: Sequence[Group], prospect: Prospect) -> PredictedMeeting:
    """Predict the node of every group."""
    chosen: dict[Group, str] = {}
    for cluster in connected_groups(groups, sensors_of):
        named: Counter[str] = Counter()
        each: dict[Group, str] = {}
        for group in cluster:
            found = candidates(group, prospect.network)
            named.update(found)
            each[group] = min(found, key=lambda p, g=group: (prospect.alone(g, p), p))  # type: ignore[misc]  # mypy infers no lambda with defaults
        likely = sorted(named, key=lambda p: (-named[p], p))[:SHARED_SITES]
        options: list[dict[Group, str]] = [each]
        options += [dict.fromkeys(cluster, node) for node in (BASE, *likely)]
        costs = [prospect.together(one) for one in options]
        chosen |= options[costs.index(min(costs))]
    return PredictedMeeting(chosen)


def candidates(group: Group, network: Network) -> list[str]:
    """Returns the nodes a group may meet: its members, the motes on their ways, the base."""
    found = {BASE}
    for device in group:
        found.update(network.way(device.mote))
    return sorted(found)


def sensors_of(group: Group) -> list[tuple[int, str]]:
    """The sensors of a group, each as what it is to the join: its input's number and name."""
    return [(number, device.sid) for number, device in enumerate(group)]
