"""Measure: what pieces of queries take in the simulated network, from its own accounts.

All pieces of one query run side by side, epoch by epoch, over the same tree and the same values;
what it takes to bring programs and assignments out is reported apart. Answers are compared with the
plan's answer over the samples the piece itself took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aspen.model.schema import Row
from federation.estimate import Estimate
from federation.network import Device, Network
from federation.statistics import Statistics
from sensors_sim.innet.answers import NetworkAnswer
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.gateway import QueryHandle
from sensors_sim.innet.program import Method
from sensors_sim.motes import Field
from sensors_sim.network.energy import Account
from sensors_sim.network.links import Radio
from sensors_sim.network.packet import PacketKind
from sensors_sim.sensor_network import SensorNetwork
from tests.bench.federation_field import KINDS, STREAMS, Even, Hashed, streams_of
from tests.bench.federation_ways import Piece
from tests.federation_support.histograms import histogram_of
from tests.motes.measure import assign_joins, computing_mj, message_accounts
from tests.oracle import evaluate

FORM_S = 240.0
SETTLE_S = 240.0  # programs and assignments have arrived, and hold
WRITTEN_S = 120.0  # the same, where programs need not travel
SETTLE_S_PER_MOTE = 1.5  # each base tells sleeping motes one by one
FORGET_S = 240.0  # news of removals has died down
BETWEEN = 0.97  # of an epoch: its answer is given, the next one has not begun
WARM_SENSORS = 40  # whose values the histograms are made of
CHECKED = 2  # answers of each piece compared with the oracle
OPERATORS = {
    PacketKind.SHIP.value: "ship",
    PacketKind.KEYS.value: "keys",
    PacketKind.ROW.value: "rows",
    PacketKind.PARTIAL.value: "partials",
}
SETUP = (PacketKind.PROGRAM.value, PacketKind.ASSIGN.value, PacketKind.CONFIRM.value)
Spent = dict[str, tuple[float, float]]
"""Bytes and mJ by operator."""


@dataclass
class Measured:
    """What a piece took.

    Args:
        operators: bytes and mJ per epoch.
        setup: bytes and mJ of bringing it out, once.
        answers: how many were compared, how many were exactly right.
        rows: rows of right answers, those missing, those that were wrong.
    """

    piece: Piece
    operators: Spent
    setup: tuple[float, float]
    answers: tuple[int, int]
    rows: tuple[int, int, int]
    late: int = 0

    @property
    def energy_mj(self) -> float:
        """Of all motes, per epoch."""
        return sum(mj for _, mj in self.operators.values())

    @property
    def sent_bytes(self) -> float:
        """On the air, per epoch."""
        return sum(size for size, _ in self.operators.values())


@dataclass
class Bed:
    """A network that has formed, and what was sampled in it.

    Args:
        period_s: of every epoch.
        epochs: measured at a time; the world repeats itself after so many.
        written: whether programs are written into motes before they are switched on, each time
            anew, instead of travelling: news to a thousand sleeping motes take long to simulate.
        even: whether what a stream's values pass is true of each sensor, too, however few epochs.
    """

    field_: Field
    model: Radio
    period_s: float
    epochs: int
    written: bool = False
    even: bool = False
    seed: int = 7
    samples: dict[tuple[int, int], dict[str, Counter[Row]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        world = Even if self.even else Hashed
        self.world = world(self.field_, self.seed, self.period_s, self.epochs)
        self._streams = streams_of(self.field_)
        self._sids = [one.sid for mote in self.field_.motes for one in mote.sensors]
        self.net = self._switched_on()
        self.net.run(FORM_S)

    def _switched_on(self) -> SensorNetwork:
        return SensorNetwork(self.field_, self.world, self.seed, self.model, sampled=self._note)

    def _note(self, query: int, epoch: int, sensor: int, row: Row) -> None:
        stream = self._streams[self._sids[sensor]]
        self.samples.setdefault((query, epoch), {}).setdefault(stream, Counter())[row] += 1

    def statistics(self) -> Statistics:
        """Look at the network, and at the values of some sensors."""
        histograms = {}
        for stream in KINDS:
            sids = [sid for sid, one in self._streams.items() if one == stream][:WARM_SENSORS]
            values = [self.world.value(sid, n) for sid in sids for n in range(self.epochs)]
            name = f"{stream}.{STREAMS[stream].measured[0]}"
            histograms[name] = histogram_of(values)
        counts = {kind: float(list(self._streams.values()).count(kind)) for kind in KINDS}
        return Statistics(
            rates_hz={kind: count / self.period_s for kind, count in counts.items()},
            counts=counts,
            histograms=histograms,
            devices={name: one.relation.device for name, one in STREAMS.items()},
            network=self.network(),
        )

    def network(self) -> Network:
        """Read what the network tells of itself."""
        return network_of(self.net, self.field_, self.model.tx_ma)

    def measure(
        self, pieces: Iterable[Piece], estimates: Mapping[str, Estimate]
    ) -> dict[str, Measured]:
        """Run pieces side by side.

        Args:
            estimates: by text of the piece; a network is told what is expected of its joins.

        Returns:
            By text of the piece.
        """
        if self.written:
            self.net = self._switched_on()
        net = self.net
        handles = {piece.text: (piece, self._deploy(piece, estimates)) for piece in pieces}
        self._settle()
        begin = self._begin()
        before = {text: self._spent(handle) for text, (_, handle) in handles.items()}
        for _, handle in handles.values():
            handle.take()
        net.run_until((begin + self.epochs + BETWEEN) * self.period_s)
        found = {}
        for text, (piece, handle) in handles.items():
            after = self._spent(handle)
            operators = _grown(before[text], after, self.epochs, OPERATORS.values())
            operators |= _grown(before[text], after, self.epochs, ("scan",))
            answers = handle.take()
            setup = [after.get(kind, (0.0, 0.0)) for kind in SETUP]
            right, rows = self._compared(piece, handle, answers)
            found[text] = Measured(
                piece,
                operators,
                (sum(size for size, _ in setup), sum(mj for _, mj in setup)),
                right,
                rows,
                handle.late,
            )
            if not self.written:
                net.remove(handle)
        self.samples.clear()
        if not self.written:
            net.run(FORGET_S)
        return found

    def measure_places(
        self,
        piece: Piece,
        known: Estimate,
        tries: Sequence[Mapping[tuple[str, ...], str]],
    ) -> list[float]:
        """Run a join several times side by side, its groups at given places.

        Returns:
            Energy in mJ per epoch of each.
        """
        handles = [self._deploy(piece, {piece.text: known}) for _ in tries]
        self._settle()
        for handle, places in zip(handles, tries, strict=True):
            assign_joins(self.net, handle, places)
        self._settle(len(tries))
        begin = self._begin()
        before = [_total_mj(self._spent(handle)) for handle in handles]
        self.net.run_until((begin + self.epochs + BETWEEN) * self.period_s)
        found = [
            (_total_mj(self._spent(handle)) - old) / self.epochs
            for handle, old in zip(handles, before, strict=True)
        ]
        for handle in handles:
            self.net.remove(handle)
        self.samples.clear()
        self.net.run(FORGET_S + SETTLE_S)
        return found

    def _settle(self, queries: int = 1) -> None:
        bases = sum(mote.base for mote in self.net.motes)
        told_s = SETTLE_S_PER_MOTE * len(self.net.motes) / bases * queries
        self.net.run((WRITTEN_S if self.written else SETTLE_S) + told_s)

    def _begin(self) -> int:
        """Let the present epoch end; give its number."""
        begin = int(self.net.now_s // self.period_s) + 1
        self.net.run_until((begin + BETWEEN) * self.period_s)
        return begin

    def _deploy(self, piece: Piece, estimates: Mapping[str, Estimate]) -> QueryHandle:
        known = estimates[piece.text]
        fragment = Fragment(
            piece.plan,
            self.period_s,
            piece.method,
            max(1, known.keys),
            tuple(one.value for one in known.shares) if piece.method is Method.PAIRWISE else (),
            known.joined.value,
        )
        return self.net.deploy(fragment)

    def _spent(self, handle: QueryHandle) -> Spent:
        accounts: dict[str, Account] = message_accounts(self.net, handle)
        found = {
            OPERATORS.get(kind, kind): (float(one.sent_bytes), one.energy_mj)
            for kind, one in accounts.items()
        }
        found["scan"] = (0.0, computing_mj(self.net, handle))
        return found

    def _compared(
        self, piece: Piece, handle: QueryHandle, answers: Sequence[NetworkAnswer]
    ) -> tuple[tuple[int, int], tuple[int, int, int]]:
        right = rows = missing = wrong = 0
        checked = answers[:CHECKED]
        for answer in checked:
            tables = self.samples.get((handle.query, answer.epoch), {})
            wanted = _rounded(Counter(evaluate(piece.plan, tables)).elements())
            given = _rounded(answer.rows)
            right += wanted == given
            rows += wanted.total()
            missing += (wanted - given).total()
            wrong += (given - wanted).total()
        return (len(checked), right), (rows, missing, wrong)


def network_of(net: SensorNetwork, installed: Field, tx_ma: float) -> Network:
    """Take what a network tells of itself into the optimizer's knowledge."""
    kinds = {name: stream.relation.device for name, stream in installed.streams.items()}
    wakes_s = {mote.mote: mote.wake_s for mote in installed.motes if not mote.base}
    return Network.known(
        wakes_s,
        net.parents(),
        {pair: estimated for pair, (estimated, _) in net.links().items()},
        [
            Device(one.sid, one.stream, mote.mote, kinds[one.stream], one.attributes)
            for mote in installed.motes
            for one in mote.sensors
        ],
        tx_ma,
        (name for name in net.forwarders() if name in wakes_s),
    )


def _total_mj(spent: Spent) -> float:
    return sum(mj for _, mj in spent.values())


def _grown(before: Spent, after: Spent, epochs: int, names: Iterable[str]) -> Spent:
    found = {}
    for name in names:
        (size, mj), (old_size, old_mj) = after.get(name, (0.0, 0.0)), before.get(name, (0.0, 0.0))
        found[name] = ((size - old_size) / epochs, (mj - old_mj) / epochs)
    return {name: one for name, one in found.items() if any(one)}


def _rounded(rows: Iterable[Row]) -> Counter[Row]:
    """Count rows; sums of computed values may differ in their last digit."""
    return Counter(
        tuple(round(value, 6) if isinstance(value, float) else value for value in row)
        for row in rows
    )
