"""Joins on motes: rows of two or more devices meet where the base has decided, pair by pair.

    seat 7 ──► light 3 (here: both passed, so the result goes on) ──► base
    seat 8 ──► a common ancestor ◄── light 4
    semi, bloom:   input 0 ──► base ──keys, to all──► input 1, only the rows that match ──► base

Law: every group of partners is joined at exactly one node, so no result appears twice.
Source: Mihaylov et al., A Substrate for In-Network Sensor Data Integration, DMSN 2008.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

from aspen.model.schema import Row
from aspen.motes.hardware import LONGEST_PAYLOAD_BYTES
from sensors_sim.innet.execution import Execution
from sensors_sim.innet.program import Method
from sensors_sim.innet.registry import Registry
from sensors_sim.innet.running import Running
from sensors_sim.innet.values import ValueReader, counts, packed
from sensors_sim.network.ether import Ether
from sensors_sim.network.events import Events
from sensors_sim.network.mote import Mote
from sensors_sim.network.packet import Packet, PacketKind

BASE = -1
Group = tuple[int, ...]
"""One sensor per input."""
FLOOD_WAIT_S = 0.05


@dataclass
class Assignment:
    """What one mote is told about one join.

    Args:
        since: the first epoch it holds for.
        ships: where the rows of a sensor go, by (input, sensor).
        groups: the partners joined here.
    """

    since: int
    ships: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    groups: set[Group] = field(default_factory=set)

    def write(self, query: int, version: int) -> list[bytes]:
        """Returns the payloads that carry it; each stands for itself."""
        head = bytes([query]) + counts(version, self.since)
        ships = [
            counts(1 + len(nodes), *key, *(node + 1 for node in nodes))
            for key, nodes in sorted(self.ships.items())
        ]
        groups = [counts(0, *group) for group in sorted(self.groups)]
        room = LONGEST_PAYLOAD_BYTES - 2  # the target's address
        return packed([*ships, *groups], room, head, head)


def read_assignment(payload: bytes, inputs: int, registry: Registry) -> tuple[int, int, Assignment]:
    """Returns the query, its version, and what the payload says about it."""
    source = ValueReader(payload, registry.texts)
    query, version, since = source.byte(), source.count(), source.count()
    found = Assignment(since)
    while not source.done:
        size = source.count()
        if size == 0:
            found.groups.add(tuple(source.count() for _ in range(inputs)))
        else:
            key = (source.count(), source.count())
            found.ships[key] = tuple(source.count() - 1 for _ in range(size - 1))
    return query, version, found


class Meeting:
    """The rows of one epoch that have come to one node, and the groups joined there."""

    def __init__(self, run: Running) -> None:
        self.rows: dict[tuple[int, int], list[Row]] = {}
        self._run = run

    def add(
        self, number: int, sensor: int, row: Row, groups: set[Group]
    ) -> list[tuple[Group, Row]]:
        """Add a row; give the results it completes among the groups joined here."""
        self.rows.setdefault((number, sensor), []).append(row)
        found = []
        for group in sorted(one for one in groups if one[number] == sensor):
            sides = [
                [row] if n == number else self.rows.get((n, member), [])
                for n, member in enumerate(group)
            ]
            for chosen in product(*sides):
                whole = tuple(value for side in chosen for value in side)
                if self._run.joined is None or self._run.joined(whole):
                    found.append((group, self._run.outputs(whole)))
        return found


@dataclass(eq=False)
class Joins:
    """What joins need on motes.

    Args:
        tell_status: lets a mote tell the base where it stands.
    """

    events: Events
    ether: Ether
    registry: Registry
    tell_status: Callable[[Mote], None]
    execution: Execution = field(init=False)

    def installed(self, mote: Mote, run: Running) -> None:
        """Let the base, and the motes in between, know the way to whom they will have to reach."""
        waits = any(
            number > 0 for one in mote.spec.sensors for number in run.by_stream.get(one.stream, ())
        )
        if run.program.method is Method.PAIRWISE or (
            run.program.method is not Method.BASE and waits
        ):
            self.tell_status(mote)

    @staticmethod
    def ended(mote: Mote, run: Running) -> None:
        """Forget what the base had decided."""
        mote.state.pop(("plans", run.query, run.version), None)

    def sampled(
        self, mote: Mote, run: Running, epoch: int, rows: list[tuple[int, int, Row]]
    ) -> None:
        """Send rows to where they meet their partners."""
        method = run.program.method
        for number, sensor, row in rows:
            if method in (Method.SEMI, Method.BLOOM) and number > 0:
                held = mote.state.setdefault(("held", run.query, epoch), [])
                held.append((number, sensor, row))
                self.events.at(
                    self.events.now_s + run.period_s,
                    mote.state.pop,
                    ("held", run.query, epoch),
                    None,
                )
                continue
            assignment = self._assignment(mote, run, epoch)
            nodes: tuple[int, ...] = (BASE,)
            if assignment is not None:
                nodes = assignment.ships.get((number, sensor), ())
            for node in nodes:
                if node == mote.index:
                    self._meet(mote, run, epoch, (number, sensor, row))
                else:
                    self._ship(mote, run, epoch, (number, sensor, row), node)

    def _ship(
        self, mote: Mote, run: Running, epoch: int, side: tuple[int, int, Row], node: int
    ) -> None:
        number, sensor, row = side
        payload = run.sides.write(epoch, number, sensor, row, to_base=node == BASE)
        packet = self.execution.packet(mote, PacketKind.SHIP, run, payload, node)
        wait_s = mote.rng.random() * min(0.5, run.period_s / 8)
        self.events.at_mote(mote, self.events.now_s + wait_s, self.execution.tree.send, packet)

    def arrived(self, mote: Mote, packet: Packet) -> None:
        """Take a row that was shipped to this mote."""
        run = self.execution.programs(mote).get(packet.query)
        if run is None or run.version != packet.version:
            return
        epoch, number, sensor, row = run.sides.read(packet.payload, at_base=False)
        self._meet(mote, run, epoch, (number, sensor, row))

    def _meet(self, mote: Mote, run: Running, epoch: int, side: tuple[int, int, Row]) -> None:
        assignment = self._assignment(mote, run, epoch)
        if assignment is None:
            return
        key = ("meeting", run.query, run.version, epoch)
        meeting: Meeting | None = mote.state.get(key)
        if meeting is None:
            meeting = mote.state[key] = Meeting(run)
            self.events.at(self.events.now_s + run.period_s, mote.state.pop, key, None)
        for group, row in meeting.add(*side, assignment.groups):
            payload = run.write_row(epoch, group, row)
            packet = self.execution.packet(mote, PacketKind.ROW, run, payload)
            self.execution.tree.send(mote, packet)

    def assign(self, mote: Mote, packet: Packet) -> None:
        """Take what the base has decided; parts of one decision add up."""
        run = self.execution.programs(mote).get(packet.payload[0])
        if run is None:
            return
        _, version, part = read_assignment(packet.payload, len(run.program.inputs), self.registry)
        if version != run.version:
            return
        plans: dict[int, Assignment] = mote.state.setdefault(("plans", run.query, version), {})
        plan = plans.setdefault(part.since, Assignment(part.since))
        plan.ships |= part.ships
        plan.groups |= part.groups
        for old in sorted(plans)[:-3]:
            del plans[old]

    @staticmethod
    def _assignment(mote: Mote, run: Running, epoch: int) -> Assignment | None:
        plans: dict[int, Assignment] = mote.state.get(("plans", run.query, run.version), {})
        valid = [since for since in plans if since <= epoch]
        return plans[max(valid)] if valid else None

    # Semi-joins and Bloom-joins: keys go out once, past every mote that has others behind it.

    def flood(self, mote: Mote, run: Running, epoch: int, part: int, payload: bytes) -> None:
        """Pass keys on, the first time a mote hears them; let the matching rows go."""
        key = ("keys", run.query, run.version, epoch, part)
        if key in mote.state:
            return
        mote.state[key] = True
        self.events.at(self.events.now_s + 2 * run.period_s, mote.state.pop, key, None)
        self.events.at(
            self.events.now_s + mote.rng.random() * FLOOD_WAIT_S,
            self._pass_on,
            mote,
            (run, epoch, part, payload),
        )
        if mote.base or self.execution.programs(mote).get(run.query) is not run:
            return
        held = mote.state.get(("held", run.query, epoch), [])
        kept = []
        keys = read_keys(run, payload, self.registry)
        for side in held:
            mine = run.sides.key(side[0], side[2])
            if run.sides.may_hold(part, payload, mine) if keys is None else mine in keys:
                self._ship(mote, run, epoch, side, BASE)
            else:
                kept.append(side)
        held[:] = kept

    def _pass_on(self, mote: Mote, content: tuple[Running, int, int, bytes]) -> None:
        if not mote.alive or not (mote.base or mote.down):
            return  # nobody was ever heard behind this mote
        run, _, _, payload = content
        size = len(payload) + 4  # version, epoch, part
        self.ether.broadcast(mote, PacketKind.KEYS, run.query, size, self._hear_keys, content)

    def _hear_keys(self, mote: Mote, _src: Mote, content: tuple[Running, int, int, bytes]) -> None:
        self.flood(mote, *content)


def write_keys(run: Running, keys: set[bytes]) -> list[bytes]:
    """Returns the payloads that carry join keys, or one Bloom filter of them."""
    if not keys:
        return []
    if run.program.method is Method.BLOOM:
        return run.sides.bloom(keys)
    return packed([counts(len(key)) + key for key in sorted(keys)], LONGEST_PAYLOAD_BYTES - 4)


def read_keys(run: Running, payload: bytes, registry: Registry) -> set[bytes] | None:
    """Returns the keys of a payload; None for a Bloom filter, which must be asked."""
    if run.program.method is Method.BLOOM:
        return None
    source = ValueReader(payload, registry.texts)
    keys: set[bytes] = set()
    while not source.done:
        keys.add(bytes(source.byte() for _ in range(source.count())))
    return keys
