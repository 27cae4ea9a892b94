"""Estimate: what a fragment costs in the network, operator by operator, per epoch.

    scan s   sample and select on every mote          ship s    rows that pass, to where they meet
    keys     a semi- or Bloom-join's keys, to all     result    joined rows from there to the base
    rows     of a fragment without a join             partials  one record per mote and epoch

Nothing is fitted to measurements: frames, strobes and repetitions are derived in `radio`, ways in
`network`, shares in `statistics`; `manage.py bench federation` compares.

Law: costs are never negative; a worse link, a sleepier mote or a less selective condition never
makes an operator that ships rows cheaper.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import repeat

from aspen.algebra.block import NotABlock, column_name, column_of
from aspen.algebra.device_block import DeviceBlock, device_block
from aspen.algebra.evaluate import compile_predicate
from aspen.algebra.expr import Expr, columns_in
from aspen.algebra.plan import Plan
from aspen.algebra.whole import OutOfRange
from aspen.errors import AspenError
from aspen.model.schema import Row, Type
from aspen.motes.hardware import LONGEST_PAYLOAD_BYTES
from aspen.motes.kinds import sample_mj
from aspen.motes.protocol import ANSWER_SHARE, BLOOM_BITS_PER_KEY, BLOOM_HASHES, FILTER_BYTES
from aspen.motes.radio import OPERATOR_MJ
from federation.cost import MICRO_BATCH_MS, Cost, operators
from federation.network import Device, Network
from federation.pairing import Group, Prospect, fixed_row, groups_of, meet
from federation.payloads import COUNT_BYTES, EPOCH_BYTES, Payloads
from federation.radio import RadioFrame, total
from federation.statistics import KnownFigure, Origin, Statistics

UNKNOWN_DEVICES = 8  # own guess for a stream whose sensors nobody counted
SURE = KnownFigure(1.0, Origin.MEASURED)


class NoFragment(AspenError, code="federation.no_fragment"):
    """A plan that no network could run, so that nobody can say what it costs there."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A part of a fragment, and what it is expected to take per epoch, over all motes.

    Args:
        rows: that it makes or moves; frames for `keys`, records for `partials`.
        size_bytes: on the air, every hop and repetition counted.
        energy_mj: of all motes, senders and hearers.
    """

    name: str
    rows: float
    size_bytes: float
    energy_mj: float

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.rows:.4g} rows, {self.size_bytes:.4g} B, "
            f"{self.energy_mj:.4g} mJ per epoch"
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a fragment is expected to cost.

    Args:
        keys: different join values expected, for the size of a Bloom filter.
        shares: part of each input's rows that pass its own conditions.
        joined: part of the groups whose rows all passed that also join.
        measured: whether the network was looked at, and not guessed.
        answers: rows of an epoch's answer.
    """

    method: str
    period_s: float
    operators: tuple[Operator, ...]
    keys: int
    shares: tuple[KnownFigure, ...]
    joined: KnownFigure
    measured: bool
    answers: float = 0.0

    @property
    def bytes_per_epoch(self) -> float:
        """Bytes on the air."""
        return sum(one.size_bytes for one in self.operators)

    @property
    def energy_mj_per_epoch(self) -> float:
        """Energy of all motes for it; idle listening is nobody's."""
        return sum(one.energy_mj for one in self.operators)

    @property
    def cost(self) -> Cost:
        """Per second; an epoch's answer comes when the base closes the epoch."""
        return Cost(
            self.bytes_per_epoch / self.period_s,
            self.energy_mj_per_epoch / self.period_s,
            ANSWER_SHARE * self.period_s * 1000 + MICRO_BATCH_MS,
            self.answers / self.period_s,
        )

    def __str__(self) -> str:
        told = ", ".join(str(one) for one in self.shares)
        where = "measured network" if self.measured else "guessed network"
        lines = [f"{self.method} every {self.period_s:g} s: {self.cost}; keeps {told}; {where}"]
        return "\n  ".join([*lines, *map(str, self.operators)])


def estimate(plan: Plan, period_s: float, method: str, statistics: Statistics) -> Estimate:
    """Returns what running a fragment is expected to cost.

    Args:
        plan: over device streams, as the motes run it; windows of one row are passed over.
        method: one of the motes' `METHODS`; of the last two, input 0 of the join sends the keys.

    Raises:
        NoFragment: the plan is none.
    """
    try:
        network = _network(device_block(plan, lambda _stream, _column: False), statistics)
        block = device_block(plan, network.lasts)
    except NotABlock as fault:
        kind = type(fault.node).__name__
        raise NoFragment(f"motes run no {kind}", exists=("Scan", "Join")) from fault
    model = _Model(block, network, statistics)
    scans = model.scans()
    if block.grouping is not None:
        rest = [model.partials()]
    elif len(block.scans) == 1:
        rest = [model.rows()]
    elif method == "pairwise" and block.paired:
        rest = model.pairwise()
    elif method in ("semi", "bloom"):
        rest = model.reduced(bloom=method == "bloom")
    else:
        rest = model.at_base()
    return Estimate(
        method,
        period_s,
        (*scans, *rest),
        model.keys,
        tuple(model.shares),
        model.joined,
        network.measured,
        model.answers,
    )


def _network(block: DeviceBlock, statistics: Statistics) -> Network:
    known = statistics.network
    streams = {one.relation: one for one in block.scans}
    if known is not None and all(known.of(stream) for stream in streams):
        return known
    return Network.guessed(
        {
            stream: (
                statistics.devices.get(stream, ""),
                max(1, round(statistics.counts.get(stream, UNKNOWN_DEVICES))),
                [
                    column.name.rpartition(".")[2]
                    for column in one.columns
                    if column.type is Type.TEXT
                ],
            )
            for stream, one in streams.items()
        }
    )


class _Model:
    """The operators of one fragment over one network."""

    def __init__(self, block: DeviceBlock, network: Network, statistics: Statistics) -> None:
        self.block = block
        self.network = network
        self._statistics = statistics
        self.members: list[list[Device]] = []
        self.shares: list[KnownFigure] = []
        for number, own in enumerate(block.own):
            self.members.append(self._those(number, [one for one in own if self._lasts(one)]))
            self.shares.append(self._kept(one for one in own if not self._lasts(one)))
        self.joined = self._kept(block.joined)
        self._sizes = Payloads(block, network)

    # What is known.

    def _lasts(self, expr: Expr) -> bool:
        read = map(self.block.column, columns_in(expr))
        return all(self.network.lasts(stream, column.name) for stream, column in read)

    def _those(self, number: int, lasting: Sequence[Expr]) -> list[Device]:
        devices = self.network.of(self.block.scans[number].relation)
        if not lasting or not self.network.measured:
            return list(devices)
        scan = self.block.scans[number]
        columns = [
            replace(column, name=column_name(number, index), nullable=True)
            for index, column in enumerate(scan.columns)
        ]
        keep = [compile_predicate(condition, columns) for condition in lasting]
        rows = [(device, fixed_row(scan, device)) for device in devices]
        try:
            return [device for device, row in rows if all(test(row) for test in keep)]
        except OutOfRange:
            return list(devices)  # an estimate is no place for an error

    def _kept(self, conditions: Iterable[Expr]) -> KnownFigure:
        found = (self._statistics.kept(self.block.by_stream(one)) for one in conditions)
        return reduce(KnownFigure.times, found, SURE)

    # Operators.

    def scans(self) -> list[Operator]:
        """Sample every sensor, and select."""
        found, sampled = [], set()
        for number, own in enumerate(self.block.own):
            stream = self.block.scans[number].relation
            devices = self.network.of(stream)
            work = 1 + sum(map(operators, own))
            energy_mj = len(devices) * work * OPERATOR_MJ
            if stream not in sampled:
                energy_mj += sum(sample_mj(device.kind) for device in devices if device.kind)
            sampled.add(stream)
            rows = len(self.members[number]) * self.shares[number].value
            found.append(Operator(f"scan {number} {stream}", rows, 0.0, energy_mj))
        return found

    def rows(self) -> Operator:
        """Send the rows that pass."""
        return self._ship("rows", 0, self._sizes.result)

    def at_base(self) -> list[Operator]:
        """Send all rows that pass to the base, which joins."""
        return [
            self._ship(f"ship {number}", number, self._sizes.side(number, to_base=True))
            for number in range(len(self.block.scans))
        ]

    def _ship(self, name: str, number: int, payload: float, part: Sequence[float] = ()) -> Operator:
        kept = self.shares[number].value
        return _moving(
            name,
            (
                (kept * times, self.network.to_base(device.mote, payload))
                for device, times in zip(self.members[number], part or repeat(1.0), strict=False)
            ),
        )

    def pairwise(self) -> list[Operator]:
        """Let partners meet where it costs least; send on what joins."""
        shares = [one.value for one in self.shares]
        at_base = [self._sizes.side(n, to_base=True) for n in range(len(shares))]
        on_way = [self._sizes.side(n, to_base=False) for n in range(len(shares))]
        prospect = Prospect(self.network, shares, self.joined.value, on_way, self._sizes.result)
        meeting = meet(self.groups, prospect)
        moves: list[list[tuple[float, RadioFrame]]] = [[] for _ in shares]
        for (number, src, node), times in meeting.shipped().items():
            size = (on_way if node else at_base)[number]
            moves[number].append((times * shares[number], self.network.move(src, node, size)))
        result = _moving(
            "result",
            (
                (
                    groups * prospect.result_share,
                    self.network.to_base(node, self._sizes.result),
                )
                for node, groups in Counter(meeting.nodes.values()).items()
                if node
            ),
        )
        return [*(_moving(f"ship {number}", one) for number, one in enumerate(moves)), result]

    def reduced(self, *, bloom: bool) -> list[Operator]:
        """Send input 0 up, its keys out, and the rows of input 1 that match."""
        first = self._ship("ship 0", 0, self._sizes.side(0, to_base=True))
        sending = Counter(self._key(0, device) for device in self.members[0])
        kept = self.shares[0].value
        present = {key: 1.0 - (1.0 - kept) ** many for key, many in sending.items()}
        expected = sum(present.values())
        some = 1.0 - (1.0 - kept) ** len(self.members[0])
        bits = 8 * max(1, math.ceil(self.keys * BLOOM_BITS_PER_KEY / 8))
        if bloom:
            filters = max(1, math.ceil(bits / (8 * FILTER_BYTES)))
            frames, payload = some * filters, math.ceil(bits / 8 / filters) + 4.0
        else:
            data = expected * (1 + self._sizes.key)
            frames = max(some, data / (LONGEST_PAYLOAD_BYTES - 4))
            payload = 4.0 + (data / frames if frames else 0.0)
        reached = self._forwarders()
        out = self.network.flood(payload, reached)
        spoken = len(reached) + self.network.bases
        keys = Operator("keys", frames * spoken, frames * out.size_bytes, frames * out.energy_mj)
        wrongly = (
            (1.0 - math.exp(-BLOOM_HASHES * expected / bits)) ** BLOOM_HASHES if bloom else 0.0
        )
        part = []
        for device in self.members[1]:
            chance = present.get(self._key(1, device), 0.0)
            part.append(chance + (some - chance) * wrongly)
        second = self._ship("ship 1", 1, self._sizes.side(1, to_base=True), part)
        return [first, keys, second]

    @cached_property
    def groups(self) -> list[Group]:
        """The sensors that may be partners."""
        return groups_of(self.block, self.members)

    @cached_property
    def answers(self) -> float:
        """Rows of an epoch's answer."""
        if self.block.grouping is not None:
            many = Counter(map(self._group, self.members[0])).values()
            return sum(1.0 - (1.0 - self.shares[0].value) ** one for one in many)
        possible = (
            float(len(self.groups)) if self.block.paired else math.prod(map(len, self.members))
        )
        return possible * math.prod(one.value for one in self.shares) * self.joined.value

    def _key(self, number: int, device: Device) -> Row:
        return tuple(
            device.attributes.get(self.block.column(name)[1].name)
            for pair in self.block.equal
            for name in pair
            if column_of(name)[0] == number
        )

    @cached_property
    def keys(self) -> int:
        """Different join values that input 0 is expected to send at most."""
        if len(self.block.scans) == 1 or not self.members[0]:
            return 0
        return len({self._key(0, device) for device in self.members[0]})

    def _forwarders(self) -> list[str]:
        """Returns the motes that pass keys on: behind them somebody was heard, or will be."""
        found = set(self.network.forwarders) | {
            mote
            for members in self.members
            for device in members
            for mote in self.network.way(device.mote)[1:]
        }
        return sorted(found)

    def partials(self) -> Operator:
        """Send one record per mote that has or forwards any, merged at every parent."""
        kept = self.shares[0].value
        below: dict[str, Counter[Row]] = defaultdict(Counter)
        for device in self.members[0]:
            key = self._group(device)
            for mote in self.network.way(device.mote):
                below[mote][key] += 1
        group_bytes = self._sizes.output + self._sizes.states
        head = EPOCH_BYTES + COUNT_BYTES
        records: list[tuple[float, RadioFrame]] = []
        for mote, keys in below.items():
            some = 1.0 - (1.0 - kept) ** sum(keys.values())
            if some <= 0.0:
                continue
            groups = sum(1.0 - (1.0 - kept) ** many for many in keys.values()) / some
            frames = max(1.0, math.ceil(groups * group_bytes / (LONGEST_PAYLOAD_BYTES - head)))
            hop = self.network.hop(mote, head + groups * group_bytes / frames)
            records.append((some * frames, hop))
        return _moving("partials", records)

    def _group(self, device: Device) -> Row:
        key: list[object] = []
        for one in self.block.outputs:
            for name in sorted(columns_in(one)):
                column = self.block.column(name)[1].name
                key.append(device.attributes.get(column, device.sid))
        return tuple(key)  # type: ignore[arg-type]  # attribute values or names


def _moving(name: str, moves: Iterable[tuple[float, RadioFrame]]) -> Operator:
    """Returns the operator that moves so many rows, each along its way."""
    every = list(moves)
    taken = total(way.times(rows) for rows, way in every)
    return Operator(name, sum(rows for rows, _ in every), taken.size_bytes, taken.energy_mj)
