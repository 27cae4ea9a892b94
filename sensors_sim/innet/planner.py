"""Planner: the base decides where each group joins, tells the motes, and hears that they know.

    program out ─► members report their way ─► choose nodes ─► assign ─► confirm ─► from epoch k on

Law: until an assignment holds, rows are joined at the base; no epoch is joined by two plans. Rows
whose node has died come to the base, which joins them and soon assigns their groups elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from aspen.model.schema import Type
from aspen.motes.protocol import DOUBLE_BYTES, WIRE_BYTES
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.joins import BASE, Assignment, Group
from sensors_sim.innet.placement import GroupAssignment, Prices, Shares, assign_groups, groups_of
from sensors_sim.innet.registry import Registry
from sensors_sim.innet.running import Running
from sensors_sim.innet.status import read_near
from sensors_sim.innet.values import Wire, WireType
from sensors_sim.network.ether import Ether
from sensors_sim.network.events import Events
from sensors_sim.network.packet import Packet, PacketKind
from sensors_sim.network.tree import Tree

PATIENCE_S = 20.0  # to wait for members that have not reported their way
LOOK_S = 1.0
LEAD_S = 10.0  # between sending an assignment and its first epoch
PACE_S = 0.3  # a base tells sleeping motes one by one: strobes, and what comes back meanwhile
GATHER_S = 60.0  # late members are waited for together
REPEAT_S = 3.0
REPEATS = 3
STRAYS = 3  # rows that missed a node before it is given up
_WIRE_BYTES = {
    WireType.INT: WIRE_BYTES[Type.INT],
    WireType.SCALED: WIRE_BYTES[Type.FLOAT],
    WireType.DOUBLE: DOUBLE_BYTES,
    WireType.TEXT: WIRE_BYTES[Type.TEXT],
    WireType.BOOL: WIRE_BYTES[Type.BOOL],
}


@dataclass
class Watched:
    """One join in the network."""

    run: Running
    fragment: Fragment
    began_s: float
    plans: list[tuple[int, set[Group]]] = field(default_factory=list)
    told: set[int] = field(default_factory=set)
    assigned: GroupAssignment | None = None
    replanning: bool = False
    unheard: set[int] = field(default_factory=set)
    orders: dict[int, Assignment] = field(default_factory=dict)


@dataclass(eq=False)
class JoinPlanner:
    """Assigns joins to nodes.

    Args:
        heard_status: gets every status packet.
        paths: from each mote that has reported, up to its base station.
    """

    events: Events
    tree: Tree
    registry: Registry
    ether: Ether
    heard_status: Callable[[Packet], None]
    paths: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _near: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _heard_s: dict[int, float] = field(default_factory=dict)
    _watched: dict[int, Watched] = field(default_factory=dict)
    _open: dict[tuple[int, int], int] = field(default_factory=dict)  # not confirmed: their query
    _strays: dict[int, int] = field(default_factory=dict)
    _shunned: set[int] = field(default_factory=set)

    def watch(self, run: Running, fragment: Fragment) -> None:
        """Plan a join as soon as its members have reported."""
        self._watched[run.query] = watched = Watched(run, fragment, self.events.now_s)
        self.events.at(self.events.now_s + LOOK_S, self._look, watched)

    def forget(self, query: int) -> None:
        """A query was removed."""
        self._watched.pop(query, None)
        self._give_up({key for key, asking in self._open.items() if asking == query})

    def _give_up(self, keys: set[tuple[int, int]]) -> None:
        for key in keys:
            del self._open[key]

    def assigned(self, query: int) -> GroupAssignment | None:
        """Returns the decision in force, None while everything is joined at the base."""
        watched = self._watched.get(query)
        return None if watched is None else watched.assigned

    def heard(self, packet: Packet) -> None:
        """Take a status or a confirmation."""
        if packet.kind is PacketKind.STATUS:
            self.paths[packet.origin] = tuple(packet.path or ())
            self._near[packet.origin] = read_near(packet)
            self._heard_s[packet.origin] = self.events.now_s
            self._shunned -= set(packet.path or ())  # whoever carried it lives
            self.heard_status(packet)
            for watched in self._watched.values():
                if packet.origin in watched.unheard:  # its partners join at the base so far
                    watched.unheard.discard(packet.origin)
                    self._soon(watched, GATHER_S)
        else:
            number = int.from_bytes(packet.payload, "little")
            self._open.pop((packet.origin, number), None)

    def stray(self, run: Running, node: int) -> None:
        """A row never found the mote it was to be joined at; after some, join elsewhere."""
        self._strays[node] = self._strays.get(node, 0) + 1
        watched = self._watched.get(run.query)
        if self._strays[node] < STRAYS or watched is None or watched.replanning:
            return
        del self._strays[node]
        self._shunned.add(node)
        watched.orders.clear()  # a mote that rebooted has forgotten what it was told
        self._soon(watched, LOOK_S)

    def _soon(self, watched: Watched, wait_s: float) -> None:
        if not watched.replanning:
            watched.replanning = True
            self.events.at(self.events.now_s + wait_s, self._replan, watched)

    def _replan(self, watched: Watched) -> None:
        watched.replanning = False
        if self._watched.get(watched.run.query) is watched:
            self.plan(watched.run.query)

    def base_groups(self, run: Running, epoch: int) -> set[Group] | None:
        """Returns the groups the base joins in an epoch; None for all."""
        watched = self._watched.get(run.query)
        if watched is None or watched.run is not run:
            return None
        valid = [groups for since, groups in watched.plans if since <= epoch]
        return valid[-1] if valid else None

    def _look(self, watched: Watched) -> None:
        if self._watched.get(watched.run.query) is not watched:
            return
        now_s = self.events.now_s
        motes = {self.registry.mote(s) for s in self.registry.members(watched.run.by_stream)}
        waiting = [m for m in motes if self._heard_s.get(m, -1.0) < watched.began_s]
        if waiting and now_s < watched.began_s + PATIENCE_S:
            self.events.at(now_s + LOOK_S, self._look, watched)
        else:
            self.plan(watched.run.query)

    def plan(self, query: int) -> None:
        """Assigns all groups of a join by what is known now, and tells the motes what is new."""
        watched = self._watched[query]
        run, program = watched.run, watched.run.program
        if program.paired is None:
            return  # any row may meet any other: there are no lasting partners to assign
        sensors = self.registry.members(run.by_stream)
        groups = groups_of(program, sensors, self.registry)
        watched.unheard = {self.registry.mote(s) for s in sensors} - set(self.paths)
        shares = watched.fragment.shares or (1.0,) * len(program.inputs)
        watched.assigned = assign_groups(
            groups,
            self.registry.mote,
            Prices(
                {m: path for m, path in self.paths.items() if not self._shunned & set(path)},
                self.ether.hop_mj,
                self._near,
            ),
            Shares(shares, watched.fragment.joined_share),
            [4 + _size(wires) for wires in run.sides.wires],
            2 + 2 * len(program.inputs) + _size(one.wire for one in program.outputs),
        )
        self.tell(watched, watched.assigned, sensors)

    def tell(self, watched: Watched, assigned: GroupAssignment, sensors: Sequence[int]) -> None:
        """Lets an assignment hold from an epoch by which every mote knows it."""
        run = watched.run
        everyone = watched.told | {self.registry.mote(s) for s in sensors}
        bases = sum(base.alive for base in self.registry.bases())
        turn_s = PACE_S * len(everyone) / max(bases, 1)
        since = run.epoch_of(self.events.now_s + LEAD_S + 2 * turn_s) + 1
        orders = assigned.assignments(since, self.registry.mote)
        mine = orders.pop(BASE, Assignment(since))
        watched.plans = [*watched.plans[-2:], (since, mine.groups)]
        everyone |= set(orders)
        watched.told = everyone
        open_ = {index for index, _ in self._open}
        for index in sorted(everyone):
            order, old = orders.get(index, Assignment(since)), watched.orders.get(index)
            same = old is not None and (old.ships, old.groups) == (order.ships, order.groups)
            watched.orders[index] = order
            if same and index not in open_:
                continue  # what it was told holds on
            self._give_up(
                {k for k, asking in self._open.items() if (k[0], asking) == (index, run.query)}
            )
            for payload in order.write(run.query, run.version):
                self._assign(run, index, payload, turn_s)

    def _assign(
        self, run: Running, index: int, payload: bytes, turn_s: float, tries: int = 0
    ) -> None:
        bases = [base for base in self.registry.bases() if base.alive]
        if not bases:
            return
        base = next((one for one in bases if index in one.down), bases[0])
        packet = Packet(
            PacketKind.ASSIGN,
            run.query,
            base.index,
            base.take_number(),
            payload,
            run.version,
            index,
        )
        key = (index, part_number(payload))
        self._open[key] = run.query
        self.tree.send(base, packet)
        if tries < REPEATS:
            due_s = self.events.now_s + REPEAT_S + turn_s
            self.events.at(due_s, self._repeat, run, index, payload, turn_s, tries + 1)

    def _repeat(self, run: Running, index: int, payload: bytes, turn_s: float, tries: int) -> None:
        if (index, part_number(payload)) in self._open and run.query in self._watched:
            self._assign(run, index, payload, turn_s, tries)


def part_number(payload: bytes) -> int:
    """Returns the two bytes by which a mote confirms an assignment: its check sum."""
    return sum((index + 1) * byte for index, byte in enumerate(payload)) & 0xFFFF


def _size(wires: Iterable[Wire]) -> int:
    return sum(_WIRE_BYTES[wire.type] for wire in wires)
