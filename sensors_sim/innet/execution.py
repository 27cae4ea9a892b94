"""Execution: what a mote does with its programs: sample, select, fold, send.

    epoch of 30 s   |sample ··· slot 3 ··· slot 2 ··· slot 1 ··· base closes|  deeper ones first

Law: under no loss the base's answer of an epoch equals the plan's answer over the samples taken.
Under loss, rows and records are missing and none is invented: COUNT is never above the truth.
Source: [TAG], sections 3 and 4; own where a report follows a measurement instead of an epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aspen.model.schema import Row
from aspen.motes.kinds import sample_mj
from aspen.motes.protocol import ANSWER_SHARE
from sensors_sim.innet.partial import Partials
from sensors_sim.innet.registry import Registry, Sampler
from sensors_sim.innet.running import Running
from sensors_sim.network.dissemination import QueryChange
from sensors_sim.network.events import Events
from sensors_sim.network.mote import Mote
from sensors_sim.network.packet import Packet, PacketKind
from sensors_sim.network.tree import Tree

if TYPE_CHECKING:
    from sensors_sim.innet.joins import Joins

SPREAD_S = 0.5  # rows of one epoch leave within this time, so that neighbours do not talk at once

Sampled = Callable[[int, int, int, Row], None]
"""Query, epoch, sensor, row: told to tests that keep the books."""


@dataclass(eq=False)
class Execution:
    """Runs programs on all motes.

    Args:
        running: the compiled program of a change.
        sampled: is told every row sampled for an epoch, before any predicate; or None.
    """

    events: Events
    tree: Tree
    registry: Registry
    sampler: Sampler
    running: Callable[[QueryChange], Running]
    joins: Joins
    sampled: Sampled | None = None

    def apply(self, mote: Mote, change: QueryChange) -> None:
        """Start, replace or end a query on a mote."""
        programs: dict[int, Running] = mote.state.setdefault("programs", {})
        ended = programs.pop(change.query, None)
        if ended is not None:
            self.joins.ended(mote, ended)
        if not change.body or mote.base:
            return
        run = self.running(change)
        programs[change.query] = run
        if run.period_s and any(one.stream in run.by_stream for one in mote.spec.sensors):
            self._plan(mote, run)
            if run.program.joins:
                self.joins.installed(mote, run)

    def programs(self, mote: Mote) -> dict[int, Running]:
        """Returns what a mote runs."""
        found: dict[int, Running] = mote.state.get("programs", {})
        return found

    # Epochs.

    def _plan(self, mote: Mote, run: Running, after: int = 0) -> None:
        """Plan the next epoch by the mote's own clock; one set back must not repeat an epoch."""
        now_s = self.events.now_s
        local_s = now_s + mote.clock.error_s(now_s)
        epoch = max(run.epoch_of(local_s), after) + 1
        due_s = mote.clock.when_s(epoch * run.period_s, now_s)
        self.events.at_mote(mote, due_s, self._epoch, run, epoch)

    def _epoch(self, mote: Mote, run: Running, epoch: int) -> None:
        if self.programs(mote).get(run.query) is not run:
            return
        self._plan(mote, run, epoch)
        rows = self._sample(mote, run, epoch)
        if run.program.joins:
            self.joins.sampled(mote, run, epoch, rows)
        elif run.program.grouped:
            if rows:
                self._fold(mote, run, epoch, [row for _, _, row in rows])
        else:
            for _, sensor, row in rows:
                payload = run.write_row(epoch, (sensor,), run.outputs(row))
                due_s = self.events.now_s + mote.rng.random() * SPREAD_S
                packet = self.packet(mote, PacketKind.ROW, run, payload)
                self.events.at_mote(mote, due_s, self.tree.send, packet)

    @staticmethod
    def packet(
        mote: Mote, kind: PacketKind, run: Running, payload: bytes, target: int = -1
    ) -> Packet:
        """Returns a packet of a query."""
        return Packet(kind, run.query, mote.index, mote.take_number(), payload, run.version, target)

    def _sample(self, mote: Mote, run: Running, epoch: int) -> list[tuple[int, int, Row]]:
        """Measure once per sensor; give (input, sensor, row) for the rows that pass."""
        now_s = self.events.now_s
        local_s = now_s + mote.clock.error_s(now_s)
        found: list[tuple[int, int, Row]] = []
        spent_mj = 0.0
        for one in mote.spec.sensors:
            inputs = run.by_stream.get(one.stream)
            if inputs is None:
                continue
            number = self.registry.number(one.sid)
            spent_mj += sample_mj(self.registry.streams[one.stream].relation.device)
            for measured in self.sampler.sample(one.sid, now_s):
                row = self.registry.row(number, measured, local_s)
                if self.sampled is not None:
                    self.sampled(run.query, epoch, number, row)
                for input_ in inputs:
                    spent_mj += run.work_mj[input_]
                    keep = run.keep[input_]
                    if keep is None or keep(row):
                        found.append((input_, number, row))
        mote.charge(run.query, 0, spent_mj)
        return found

    # Partial aggregation.

    def _fold(self, mote: Mote, run: Running, epoch: int, rows: list[Row]) -> None:
        pending = self._pending(mote, run, epoch)
        for row in rows:
            run.aggregator.fold(pending, run.outputs(row), run.arguments(row))
        pending.motes += 1

    def _pending(self, mote: Mote, run: Running, epoch: int) -> Partials:
        """Returns a mote's records of an epoch; the first one plans when they are sent."""
        key = ("partial", run.query, run.version, epoch)
        found: Partials | None = mote.state.get(key)
        if found is None:
            found = mote.state[key] = Partials()
            slot_s = ANSWER_SHARE * run.period_s / (run.program.slots + 2)
            slot = run.program.slots + 1 - min(mote.hops, run.program.slots)
            due_s = mote.clock.when_s(
                epoch * run.period_s + (slot + 0.5 * mote.rng.random()) * slot_s,
                self.events.now_s,
            )
            self.events.at_mote(mote, due_s, self._send_partials, run, epoch)
        return found

    def _send_partials(self, mote: Mote, run: Running, epoch: int) -> None:
        records: Partials = mote.state.pop(("partial", run.query, run.version, epoch))
        for payload in run.aggregator.write(epoch, records):
            packet = self.packet(mote, PacketKind.PARTIAL, run, payload)
            packet.hops = records.hops
            self.tree.send(mote, packet)

    def intercept(self, mote: Mote, packet: Packet) -> bool:
        """Take a child's records in, if this mote runs the query."""
        run = self.programs(mote).get(packet.query)
        if run is None or run.version != packet.version or not run.program.grouped:
            return False
        epoch, records = run.aggregator.read(packet.payload)
        pending = self._pending(mote, run, epoch)
        pending.hops = max(pending.hops, packet.hops)
        run.aggregator.merge(pending, records)
        return True

    # Reports.

    def report(self, mote: Mote, sid: str, measured: Row) -> None:
        """Let a device's own measurement run through the programs that want it at once."""
        now_s = self.events.now_s
        number = self.registry.number(sid)
        stream = self.registry.attached(number).stream
        local_s = now_s + mote.clock.error_s(now_s)
        row = self.registry.row(number, measured, local_s)
        device = self.registry.streams[stream].relation.device
        mote.charge(0, 0, sample_mj(device))
        for run in self.programs(mote).values():
            if run.period_s or stream not in run.by_stream:
                continue
            mote.charge(run.query, 0, run.work_mj[0])
            keep = run.keep[0]
            if keep is None or keep(row):
                payload = run.write_row(0, (number,), run.outputs(row))
                self.tree.send(mote, self.packet(mote, PacketKind.ROW, run, payload))
