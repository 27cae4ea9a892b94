"""Pairing: who may be partners in a join, and where the network will let each group meet.

    seat ──2 hops── p ──3 hops── base    cost(p) = Σ shareᵢ · ship(iᵗʰ → p) + share · ship(p → base)
    light ─1 hop──┘

The network decides for itself; this predicts what it will decide, from the same choices: members,
motes on their ways, the base; group by group, or one place for all groups that share a sensor.

Law: what is predicted never costs more than joining everything at the base.
Source: Mihaylov, Jacob, Ives, Guha: Dynamic Join Optimization in Multi-Hop Wireless Sensor
Networks, VLDB 2010, pairwise cost; own: a place for several groups.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aspen.algebra.evaluate import compile_predicate
from aspen.algebra.expr import Col, Expr, Op, columns_in
from aspen.components import connected_groups
from aspen.model.schema import Row, Value
from federation.network import BASE, Device, Network
from federation.shape import Input, Shape, place_of

SHARED_PLACES = 24  # places tried for a whole cluster of groups
Group = tuple[Device, ...]
"""One sensor per input."""


def fixed_row(one: Input, device: Device) -> Row:
    """Returns a sensor's row; what changes is null."""
    return tuple(device.attributes.get(column.name) for column in one.columns)


def groups_of(shape: Shape, members: Sequence[Sequence[Device]]) -> list[Group]:
    """Returns the groups that may ever join.

    Args:
        members: sensors by input.
    """
    partial: list[tuple[Group, Row]] = [((), ())]
    waiting = list(shape.paired)
    columns = []
    for number, one in enumerate(shape.inputs):
        columns += [replace(c, name=f"r{number}.{c.name}") for c in one.columns]
        ready = [c for c in waiting if all(place_of(n)[0] <= number for n in columns_in(c))]
        waiting = [c for c in waiting if c not in ready]
        keep = [compile_predicate(c, columns) for c in ready]
        equality = next((found for c in ready if (found := _equates(c, number))), None)
        index: dict[Value, list[tuple[Device, Row]]] = defaultdict(list)
        names = [column.name for column in columns]
        for device in members[number]:
            row = fixed_row(one, device)
            key = None if equality is None else device.attributes.get(equality[1])
            index[key].append((device, row))
        earlier = None if equality is None else names.index(equality[0])
        partial = [
            ((*group, device), (*row, *mine))
            for group, row in partial
            for device, mine in index.get(None if earlier is None else row[earlier], ())
            if all(test((*row, *mine)) for test in keep)
        ]
    return [group for group, _ in partial]


def _equates(condition: Expr, number: int) -> tuple[str, str] | None:
    """Returns the earlier column and this input's that a condition makes equal, if it does."""
    match condition:
        case Op("=", Col(one), Col(other)):
            first, second = sorted((one, other), key=place_of)
            if place_of(first)[0] < number == place_of(second)[0]:
                return first, place_of(second)[1]
    return None


@dataclass(frozen=True)
class Meeting:
    """Where groups are expected to meet.

    Args:
        places: a mote or `BASE`, by group.
    """

    places: Mapping[Group, str]

    def shipped(self) -> Counter[tuple[int, str, str]]:
        """Count rows that travel: by input, mote they come from, and place."""
        ways = {
            (number, device, place)
            for group, place in self.places.items()
            for number, device in enumerate(group)
            if device.mote != place
        }
        return Counter((number, device.mote, place) for number, device, place in ways)


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

    def alone(self, group: Group, place: str) -> float:
        """Returns the energy of one group at one place, in mJ per epoch."""
        shipped = sum(
            self.shares[number]
            * self.network.move(device.mote, place, self.sizes[number]).energy_mj
            for number, device in enumerate(group)
        )
        return shipped + self.result_share * self._result(place)

    def together(self, places: Mapping[Group, str]) -> float:
        """Returns the energy of many groups, a row shipped once for all at one place."""
        moving = sum(
            times
            * self.shares[number]
            * self.network.move(src, place, self.sizes[number]).energy_mj
            for (number, src, place), times in Meeting(places).shipped().items()
        )
        return moving + self.result_share * sum(self._result(place) for place in places.values())

    def _result(self, place: str) -> float:
        if place == BASE:
            return 0.0
        return self.network.to_base(place, self.result_bytes).energy_mj


def meet(groups: Sequence[Group], prospect: Prospect) -> Meeting:
    """Predict the place of every group."""
    chosen: dict[Group, str] = {}
    for cluster in connected_groups(groups, sensors_of):
        named: Counter[str] = Counter()
        each: dict[Group, str] = {}
        for group in cluster:
            found = candidates(group, prospect.network)
            named.update(found)
            each[group] = min(found, key=lambda p, g=group: (prospect.alone(g, p), p))  # type: ignore[misc]  # mypy infers no lambda with defaults
        likely = sorted(named, key=lambda p: (-named[p], p))[:SHARED_PLACES]
        options: list[dict[Group, str]] = [each]
        options += [dict.fromkeys(cluster, place) for place in (BASE, *likely)]
        costs = [prospect.together(one) for one in options]
        chosen |= options[costs.index(min(costs))]
    return Meeting(chosen)


def candidates(group: Group, network: Network) -> list[str]:
    """Returns the places a group may meet: its members, the motes on their ways, the base."""
    found = {BASE}
    for device in group:
        found.update(network.way(device.mote))
    return sorted(found)


def sensors_of(group: Group) -> list[tuple[int, str]]:
    """The sensors of a group, each as what it is to the join: its input's number and name."""
    return [(number, device.sid) for number, device in enumerate(group)]
