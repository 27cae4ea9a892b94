"""Sensor network: motes, radio, tree, programs and base stations as one thing to turn by hand.

    net = SensorNetwork(field, sampler, seed=7)
    q = net.deploy(Fragment(plan, period_s=30))
    net.run(120); q.take() → [Answer, …]

Law: the same field, sampler, seed and calls give the same trace, byte for byte.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from aspen.model.schema import Row
from aspen.motes.radio import RX_MW
from sensors_sim.books import Books
from sensors_sim.errors import UnsupportedFragment
from sensors_sim.innet.compile import Fragment, compile_fragment
from sensors_sim.innet.execution import Execution, Sampled
from sensors_sim.innet.gateway import Gateway, QueryHandle
from sensors_sim.innet.joins import Joins
from sensors_sim.innet.planner import JoinPlanner, part_number
from sensors_sim.innet.registry import Registry, Sampler
from sensors_sim.innet.running import Running
from sensors_sim.innet.status import MoteStatus, read_status, write_status
from sensors_sim.motes import Field, MoteSpec, check_mote
from sensors_sim.network.dissemination import Dissemination, QueryChange
from sensors_sim.network.ether import Ether, Trace
from sensors_sim.network.events import Events
from sensors_sim.network.links import Radio, RadioLink
from sensors_sim.network.mote import Mote
from sensors_sim.network.packet import Packet, PacketKind
from sensors_sim.network.tree import Tree

STATUS_SPREAD_S = 1.0
BATTERY_LOOK_S = 60.0


class SensorNetwork(Books):
    """A simulated sensor network.

    Args:
        field: what is installed at the start; programs deployed before time begins are written
            into the motes; later ones travel.
        sampler: what the devices measure.
        seed: decides everything left to chance.
        model: who hears whom.
        status_s: seconds between two status reports of a mote; 0 for none but those joins need.
        trace: gets one line per exchange of frames.
        sampled: is told every row sampled for an epoch: (query, epoch, sensor, row).
    """

    def __init__(
        self,
        field: Field,
        sampler: Sampler,
        seed: int,
        model: Radio | None = None,
        status_s: float = 0.0,
        trace: Trace | None = None,
        sampled: Sampled | None = None,
    ) -> None:
        self._model = model or Radio()
        events, registry = Events(), Registry(field.streams)
        chance = Random(f"{seed}/ether")
        ether = Ether(events, registry.motes, chance, self._model.tx_ma, trace)
        super().__init__(events, registry, ether)
        self.lost: dict[str, int] = {}
        self.statuses: dict[str, MoteStatus] = {}
        self._seed = seed
        self._walls = field.walls
        self._status_s = status_s
        self._tree = Tree(
            events,
            ether,
            registry.motes,
            self._take,
            self._lose,
            self._intercept,
            self._stale,
            self._moved,
        )
        self._joins = Joins(events, ether, registry, self._soon_status)
        self._planner = JoinPlanner(events, self._tree, registry, ether, self._heard_status)
        self._execution = Execution(
            events, self._tree, registry, sampler, self._running, self._joins, sampled
        )
        self._joins.execution = self._execution
        self._dissemination = Dissemination(
            events, ether, self._tree.trickle.reset, self._execution.apply
        )
        self._gateway = Gateway(
            events, self._tree, self._dissemination, registry, self._joins, self._planner
        )
        self.change, self.remove = self._gateway.change, self._gateway.remove
        links = self._model.links(field.motes, field.walls, seed)
        for spec in field.motes:
            self._install(spec)
        self._link(links)
        for mote in self.motes:
            self._boot(mote)

    # Queries.

    def refusal(self, fragment: Fragment) -> str:
        """Say why a fragment cannot run here, in one clause; empty if it can."""
        try:
            compile_fragment(fragment, self._registry.streams)
        except UnsupportedFragment as refused:
            return f"{refused.message} ({refused.found})" if refused.found else refused.message
        return ""

    def deploy(self, fragment: Fragment) -> QueryHandle:
        """Send a fragment into the network; before time begins, write it into the motes.

        Raises:
            UnsupportedFragment: motes cannot run it.
        """
        handle = self._gateway.deploy(fragment)
        if not self.events.handled:
            for mote in self.motes:
                self._dissemination.install_all(mote)
        return handle

    # Time and the world.

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.events.run(self.events.now_s + seconds)

    def run_until(self, at_s: float) -> None:
        """Let time pass up to a moment."""
        self.events.run(at_s)

    def report(self, sid: str, measured: Row, at_s: float) -> None:
        """Let a device measure by itself: programs without a period send it at once.

        Args:
            measured: the stream's measured columns.
            at_s: not before now.
        """
        self.events.at(at_s, self._report, sid, measured)

    def _report(self, sid: str, measured: Row) -> None:
        mote = self.motes[self._registry.mote(self._registry.number(sid))]
        if mote.alive and any(one.sid == sid for one in mote.spec.sensors):
            self._execution.report(mote, sid, measured)

    # Motes.

    def put_mote(self, spec: MoteSpec) -> None:
        """Install a mote, with the programs in force written into it, or replace one's sensors.

        Raises:
            BadWorld: its sensors do not fit their streams.
        """
        check_mote(spec, self._registry.streams)
        known = self._registry.index.get(spec.mote)
        if known is not None and self._stays(self.motes[known], spec):
            mote = self.motes[known]
            mote.spec = spec
            for sensor in spec.sensors:
                self._registry.install(sensor, known)
            return
        if known is not None:
            self.fail(spec.mote)
        mote = self._install(spec)
        self._boot(mote)
        alive = [one.spec for one in self.motes if one.alive]
        self._link(self._model.links(alive, self._walls, self._seed, only=spec.mote))
        self._tree.pull(mote)

    @staticmethod
    def _stays(mote: Mote, spec: MoteSpec) -> bool:
        """Whether only what its sensors know of themselves differs."""
        same = replace(mote.spec, sensors=spec.sensors, battery_mj=spec.battery_mj) == spec
        streams = {one.stream for one in mote.spec.sensors} == {one.stream for one in spec.sensors}
        return same and streams and mote.alive

    def fail(self, name: str) -> None:
        """Let a mote or base station die: it neither sends nor hears until it is revived."""
        mote = self._mote(name)
        if mote.alive:
            mote.die(self.events.now_s)

    def revive(self, name: str) -> None:
        """A mote a new battery: what was in RAM is gone, its neighbours bring the programs."""
        mote = self._mote(name)
        if mote.alive:
            return
        mote.live(self.events.now_s)
        if mote.base:
            self._dissemination.install_all(mote)
        self._tree.trickle.start(mote)
        self._tree.pull(mote)
        self._watch_battery(mote)

    def _watch_battery(self, mote: Mote) -> None:
        """Let a mote die when its battery is flat; look again when it could be, at the earliest."""
        if mote.spec.powered:
            return
        left_mj = mote.battery_left_mj(self.events.now_s)
        if left_mj <= 0.0:
            mote.die(self.events.now_s)
            return
        due_s = self.events.now_s + max(left_mj / RX_MW, BATTERY_LOOK_S)
        self.events.at_mote(mote, due_s, self._watch_battery)

    def _install(self, spec: MoteSpec) -> Mote:
        index = len(self.motes)
        rng = Random(f"{self._seed}/mote/{spec.mote}/{index}")
        mote = Mote(index, spec, rng, self.events.now_s)
        self._registry.add(mote)
        return mote

    def _boot(self, mote: Mote) -> None:
        self._dissemination.install_all(mote)
        self._tree.trickle.start(mote)
        self._watch_battery(mote)
        if self._status_s:
            self.events.at(
                self.events.now_s + mote.rng.random() * self._status_s, self._status_due, mote
            )

    def _link(self, links: dict[tuple[str, str], RadioLink]) -> None:
        for (src, dst), link in links.items():
            one, other = self._mote(src), self._mote(dst)
            one.links[other.index] = link
            one.sleepiest_s = max(one.sleepiest_s, other.wake_s)

    # Inside.

    def _running(self, change: QueryChange) -> Running:
        return self._gateway.running(change)

    def _take(self, mote: Mote, packet: Packet) -> None:
        if mote.base:
            self._gateway.take(mote, packet)
        elif packet.kind is PacketKind.SHIP:
            self._joins.arrived(mote, packet)
        elif packet.kind is PacketKind.ASSIGN:
            self._joins.assign(mote, packet)
            number = part_number(packet.payload).to_bytes(2, "little")
            self._tree.send(
                mote,
                Packet(PacketKind.CONFIRM, packet.query, mote.index, mote.take_number(), number),
            )

    def _lose(self, packet: Packet) -> None:
        kind = packet.kind.value
        self.lost[kind] = self.lost.get(kind, 0) + 1

    def _intercept(self, mote: Mote, packet: Packet) -> bool:
        return packet.kind is PacketKind.PARTIAL and self._execution.intercept(mote, packet)

    def _stale(self, mote: Mote, version: int) -> None:
        self._dissemination.stale(mote, version)

    # Status.

    def _moved(self, mote: Mote) -> None:
        if any(run.program.joins for run in self._execution.programs(mote).values()):
            self._soon_status(mote)

    def _soon_status(self, mote: Mote) -> None:
        if not mote.base and "status" not in mote.state:
            mote.state["status"] = True
            wait_s = 0.2 + STATUS_SPREAD_S * mote.rng.random()
            self.events.at_mote(mote, self.events.now_s + wait_s, self._tell_status)

    def _status_due(self, mote: Mote) -> None:
        self.events.at(self.events.now_s + self._status_s, self._status_due, mote)
        if mote.alive and not mote.base:
            self._tell_status(mote)

    def _tell_status(self, mote: Mote) -> None:
        mote.state.pop("status", None)
        if mote.parent < 0:
            return  # it has no way to tell of; it will, once it has moved
        payload = write_status(mote, self.events.now_s)
        packet = Packet(PacketKind.STATUS, 0, mote.index, mote.take_number(), payload, path=[])
        self._tree.send(mote, packet)

    def _heard_status(self, packet: Packet) -> None:
        status = read_status(packet, self._registry.name, self.events.now_s)
        self.statuses[status.mote] = status
