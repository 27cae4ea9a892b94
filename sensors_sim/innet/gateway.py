"""Gateway: the base stations' common mind. It deploys fragments and turns packets into answers.

    deploy ─► program ─► flood ─► motes ─► packets ─► epoch closes ─► Answer

Law: an epoch is answered once, after nine tenths of it; what comes later is counted, not merged.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from aspen.motes.protocol import ANSWER_SHARE
from sensors_sim.errors import UnknownQuery
from sensors_sim.innet.answers import BaseJoin, Collected, NetworkAnswer, unique
from sensors_sim.innet.codec import decode, encode
from sensors_sim.innet.compile import CompiledFragment, Fragment, compile_fragment
from sensors_sim.innet.joins import Joins, write_keys
from sensors_sim.innet.planner import JoinPlanner
from sensors_sim.innet.program import Method
from sensors_sim.innet.registry import Registry
from sensors_sim.innet.running import Running
from sensors_sim.network.dissemination import Dissemination, QueryChange
from sensors_sim.network.events import Events
from sensors_sim.network.mote import Mote
from sensors_sim.network.packet import Packet, PacketKind
from sensors_sim.network.tree import Tree

KEYS_SHARE = 0.4  # of an epoch after which the base sends a semi-join's keys out
RECENT = 64
QUERIES = 255
ANSWERS_KEPT = 100_000
"""Answers nobody took that a handle keeps; the oldest goes first."""


@dataclass(eq=False)
class QueryHandle:
    """A deployed fragment.

    Args:
        query: its number on the air.
        late: packets that came after their epoch was closed.
    """

    query: int
    fragment: Fragment
    compiled: CompiledFragment
    version: int
    active: bool = True
    late: int = 0
    answers: deque[NetworkAnswer] = field(default_factory=lambda: deque(maxlen=ANSWERS_KEPT))

    def take(self) -> list[NetworkAnswer]:
        """Returns the answers since the last call, at most the newest `ANSWERS_KEPT`."""
        found = list(self.answers)
        self.answers.clear()
        return found


@dataclass(eq=False)
class Gateway:
    """The base stations' software."""

    events: Events
    tree: Tree
    dissemination: Dissemination
    registry: Registry
    joins: Joins
    planner: JoinPlanner
    handles: dict[int, QueryHandle] = field(default_factory=dict)
    _runs: dict[int, Running] = field(default_factory=dict)
    _base_joins: dict[int, BaseJoin] = field(default_factory=dict)
    _collected: dict[tuple[int, int, int], Collected] = field(default_factory=dict)
    _seen: dict[int, dict[int, None]] = field(default_factory=dict)
    _last: int = 0

    # Queries.

    def deploy(self, fragment: Fragment) -> QueryHandle:
        """Send a fragment into the network.

        Raises:
            UnsupportedFragment: motes cannot run it.
        """
        compiled = compile_fragment(fragment, self.registry.streams)
        query = self._free_number()
        handle = QueryHandle(query, fragment, compiled, 0)
        self.handles[query] = handle
        self._publish(handle)
        return handle

    def change(self, handle: QueryHandle, fragment: Fragment) -> None:
        """Put another fragment instead of a running one.

        Raises:
            UnknownQuery: it was removed.
            UnsupportedFragment: motes cannot run the new one; the old one runs on.
        """
        self._require(handle)
        handle.compiled = compile_fragment(fragment, self.registry.streams)
        handle.fragment = fragment
        self._publish(handle)

    def remove(self, handle: QueryHandle) -> None:
        """End a query; rows still on their way are dropped.

        Raises:
            UnknownQuery: it was removed already.
        """
        self._require(handle)
        handle.active = False
        del self.handles[handle.query]
        self.planner.forget(handle.query)
        self._forget(handle.query)
        self.dissemination.publish(handle.query, b"", self.registry.bases())

    def _require(self, handle: QueryHandle) -> None:
        if self.handles.get(handle.query) is not handle:
            raise UnknownQuery(
                f"query {handle.query} is not deployed",
                found=str(handle.query),
                exists=[str(query) for query in self.handles],
            )

    def _free_number(self) -> int:
        for step in range(QUERIES):
            number = (self._last + step) % QUERIES + 1
            if number not in self.handles:
                self._last = number
                return number
        raise UnknownQuery("motes hold 255 queries at most", found=str(len(self.handles)))

    def _forget(self, query: int) -> None:
        """Drop what belongs to the versions of a query so far; packets of theirs are not taken."""
        for version in [v for v, run in self._runs.items() if run.query == query]:
            del self._runs[version]
            self._base_joins.pop(version, None)
        for key in [key for key in self._collected if key[0] == query]:
            del self._collected[key]

    def _publish(self, handle: QueryHandle) -> None:
        self._forget(handle.query)
        body = encode(handle.compiled.program, self.registry.stream_names, self.registry.texts)
        handle.version = self.dissemination.version + 1
        change = self.dissemination.publish(handle.query, body, self.registry.bases())
        assert change.version == handle.version
        run = self.running(change)
        if run.period_s:
            self._plan_close(handle, run, run.epoch_of(self.events.now_s) + 1)
        if run.program.method is Method.PAIRWISE and run.program.joins:
            self.planner.watch(run, handle.fragment)

    def running(self, change: QueryChange) -> Running:
        """Returns the compiled program of a change; every mote decodes the same bytes."""
        found = self._runs.get(change.version)
        if found is None:
            program = decode(change.body, self.registry.stream_names, self.registry.texts)
            found = Running(
                change.query, change.version, program, self.registry.streams, self.registry
            )
            self._runs[change.version] = found
        return found

    # Epochs.

    def _plan_close(self, handle: QueryHandle, run: Running, epoch: int) -> None:
        begin_s = epoch * run.period_s
        if run.program.method in (Method.SEMI, Method.BLOOM):
            self.events.at(begin_s + KEYS_SHARE * run.period_s, self._send_keys, run, epoch)
        self.events.at(begin_s + ANSWER_SHARE * run.period_s, self._close, handle, run, epoch)

    def _close(self, handle: QueryHandle, run: Running, epoch: int) -> None:
        if not handle.active or handle.version != run.version:
            return
        collected = self._collected.pop((run.query, run.version, epoch), None) or Collected()
        # The epoch in which the query began has motes that report and no answer of its own.
        self._collected.pop((run.query, run.version, epoch - 1), None)
        self._plan_close(handle, run, epoch + 1)
        if run.program.grouped:
            rows = handle.compiled.finish(run.aggregator.answer(collected.records))
            motes = collected.records.motes
        else:
            results = collected.rows
            if run.program.joins:
                groups = self.planner.base_groups(run, epoch)
                results = unique([*results, *self._base_join(run).join(collected, groups)])
            rows = [row for _, row in results]
            motes = len({self.registry.mote(s) for group, _ in results for s in group})
        handle.answers.append(
            NetworkAnswer(
                run.query,
                run.version,
                epoch,
                epoch * run.period_s,
                tuple(rows),
                motes,
                self.registry.carriers(run.by_stream),
            )
        )

    def _base_join(self, run: Running) -> BaseJoin:
        found = self._base_joins.get(run.version)
        if found is None:
            found = self._base_joins[run.version] = BaseJoin(run, self.registry.streams)
        return found

    def _send_keys(self, run: Running, epoch: int) -> None:
        collected = self._collected.get((run.query, run.version, epoch))
        if collected is None:
            return
        keys = {
            run.sides.key(0, row)
            for (number, _), rows in collected.sides.items()
            if number == 0
            for row in rows
        }
        for part, payload in enumerate(write_keys(run, keys)):
            for base in self.registry.bases():
                if base.alive:
                    self.joins.flood(base, run, epoch, part, payload)

    # Packets.

    def take(self, base: Mote, packet: Packet) -> None:
        """Take a packet that reached a base station."""
        if packet.target >= 0 and packet.target != base.index and self._passed_on(packet):
            return
        recent = self._seen.setdefault(packet.origin, {})
        if packet.number in recent:
            return
        recent[packet.number] = None
        if len(recent) > RECENT:
            del recent[next(iter(recent))]
        if packet.kind in (PacketKind.STATUS, PacketKind.CONFIRM):
            if packet.path is not None:
                packet.path.append(base.index)
            self.planner.heard(packet)
            return
        handle = self.handles.get(packet.query)
        if handle is None or handle.version != packet.version:
            return
        run = self._runs[packet.version]
        if not run.period_s:
            _, _, row = run.read_row(packet.payload)
            now_s = self.events.now_s
            expected = self.registry.carriers(run.by_stream)
            handle.answers.append(
                NetworkAnswer(run.query, run.version, -1, now_s, (row,), 1, expected)
            )
            return
        self._collect(handle, run, packet)

    def _passed_on(self, packet: Packet) -> bool:
        """Hand a packet to the base station under which its target was last heard."""
        for base in self.registry.bases():
            if base.alive and packet.target in base.down:
                self.tree.send(base, packet)
                return True
        return False

    def _collect(self, handle: QueryHandle, run: Running, packet: Packet) -> None:
        match packet.kind:
            case PacketKind.PARTIAL:
                epoch, records = run.aggregator.read(packet.payload)
                if (collected := self._epoch(handle, run, epoch)) is not None:
                    run.aggregator.merge(collected.records, records)
            case PacketKind.ROW:
                epoch, sensors, row = run.read_row(packet.payload)
                if (collected := self._epoch(handle, run, epoch)) is not None:
                    collected.rows.append((sensors, row))
            case PacketKind.SHIP:
                at_base = packet.target < 0
                epoch, number, sensor, row = run.sides.read(packet.payload, at_base=at_base)
                if (collected := self._epoch(handle, run, epoch)) is not None:
                    if not at_base:
                        self.planner.stray(run, packet.target)
                        collected.strays.add((number, sensor))
                        fixed = self.registry.fixed_row(sensor)
                        row = tuple(b if a is None else a for a, b in zip(row, fixed, strict=True))
                    collected.sides.setdefault((number, sensor), []).append(row)

    def _epoch(self, handle: QueryHandle, run: Running, epoch: int) -> Collected | None:
        if self.events.now_s >= (epoch + ANSWER_SHARE) * run.period_s:
            handle.late += 1
            return None
        return self._collected.setdefault((run.query, run.version, epoch), Collected())
