"""Costs, with units: what it takes to bring a stream from its motes to the engine.

A frame's bytes, energy and time are derived in `federation.radio` from data sheets; the ways frames
take are `federation.network`'s. Fragments with joins and aggregates: `federation.estimate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from aspen.algebra.expr import Expr, parts
from aspen.algebra.plan import Filter, Plan, Scan, children
from aspen.errors import AspenError
from aspen.model.schema import Column
from aspen.motes.hardware import FRAME_BYTES, WAKE_S
from aspen.motes.protocol import WIRE_BYTES
from aspen.motes.radio import OPERATOR_MJ
from federation.network import Network
from federation.radio import RadioFrame, total, unicast
from federation.statistics import Statistics

HOPS = 2.5  # own guess, where no network is known: mean path of a mote to the gateway
MICRO_BATCH_MS = 235.0  # measured: transformWithState on one key, 220 to 250 ms


@dataclass(frozen=True, slots=True)
class Term:
    """One kind of cost; a field of `Cost` and one of `Weights` belong to each.

    Args:
        field: of `Cost`.
        word: by which people weigh it, and the field of `Weights`.
        unit: of the field.
        decimals: printed.
        longest: whether of two things at once the longer counts; otherwise they add up.
    """

    field: str
    word: str
    unit: str
    decimals: int
    longest: bool = False


TERMS = (
    Term("bytes_per_s", "bytes", "B/s", 1),
    Term("energy_mj_per_s", "energy", "mJ/s", 3),
    Term("latency_ms", "latency", "ms", 1, longest=True),
    Term("rows_per_s", "rows", "rows/s", 2),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What running something takes, per second of its life; unlike things are never added here.

    Args:
        bytes_per_s: bytes on the air, every hop counted.
        energy_mj_per_s: energy the motes spend.
        latency_ms: from measurement to the engine's answer.
        rows_per_s: rows that cross the border: each is written to the log and read by a lane.
    """

    bytes_per_s: float = 0.0
    energy_mj_per_s: float = 0.0
    latency_ms: float = 0.0
    rows_per_s: float = 0.0

    def beside(self, other: Cost) -> Cost:
        """Returns the cost of both at once: loads add up, the slower one is waited for."""
        return Cost(**{one.field: self._both(other, one, waits=True) for one in TERMS})

    def after(self, other: Cost) -> Cost:
        """Returns the cost of both, one waiting for the other."""
        return Cost(**{one.field: self._both(other, one, waits=False) for one in TERMS})

    def _both(self, other: Cost, term: Term, *, waits: bool) -> float:
        mine, its = getattr(self, term.field), getattr(other, term.field)
        return float(max(mine, its) if waits and term.longest else mine + its)

    @property
    def awaited(self) -> Cost:
        """What is left when somebody else pays the load: the waiting."""
        return Cost(**{one.field: getattr(self, one.field) for one in TERMS if one.longest})

    @property
    def figures(self) -> dict[str, float]:
        """Every term by its field, rounded for people."""
        return {one.field: round(getattr(self, one.field), one.decimals + 1) for one in TERMS}

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, one.field):.{one.decimals}f} {one.unit}" for one in TERMS)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each kind of cost matters; where alone unlike things are added.

    Batteries come first: one mJ/s counts as much as 1,000 B/s or ten seconds of waiting; an
    answer at epochs waits for most of one.

    Args:
        cpu: a millisecond of processor time per second, which the search counts beside `Cost`.
        rows: nothing unless somebody weighs them: a lane takes thousands of rows a second.
    """

    bytes: float = 0.001
    energy: float = 1.0
    latency: float = 0.0001
    cpu: float = 0.05  # own choice: a core is cheap beside a battery
    rows: float = 0.0

    def total(self, cost: Cost) -> float:
        """Returns one number to compare by; it has no unit."""
        return float(sum(getattr(self, one.word) * getattr(cost, one.field) for one in TERMS))

    @classmethod
    def words(cls) -> tuple[str, ...]:
        """Returns the names of the weights."""
        return tuple(field.name for field in fields(cls))


class BadWeights(AspenError, code="federation.bad_weights"):
    """Words that name no weight, or no number that can be one."""


def read_weights(text: str, given: Weights | None = None) -> Weights:
    """Read weights from `name=number` words; the others stay as given.

    Raises:
        BadWeights: an unknown name, or a number below nought.
    """
    found = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (part.strip() for part in word.partition("="))
        if name not in Weights.words():
            raise BadWeights("no such weight", found=name, exists=Weights.words())
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < float("inf"):
            raise BadWeights(
                f"the weight of {name} is a number from 0 up", found=number, attempt="energy=1"
            )
        found[name] = value
    return replace(given or Weights(), **found)


def row_bytes(columns: Sequence[Column]) -> int:
    """Returns the bytes of one row on the air, one frame per row."""
    return FRAME_BYTES + sum(WIRE_BYTES[column.type.family] for column in columns)


def operators(expr: Expr) -> int:
    """Count what a mote computes for one row."""
    return (1 if parts(expr) else 0) + sum(operators(part) for part in parts(expr))


def hop(payload_bytes: float) -> RadioFrame:
    """Returns what one link of a way of `HOPS` is expected to take, where no network is known.

    The base station never sleeps, so the last link of a way needs no strobes.
    """
    asleep, awake = unicast(payload_bytes, WAKE_S), unicast(payload_bytes, 0.0)
    last = 1.0 / HOPS
    return total((awake.times(last), asleep.times(1.0 - last)))


def in_network(plan: Plan, stream: str, statistics: Statistics) -> Cost:
    """Returns the cost of running a chain of selections on the motes and sending what is left.

    Sampling is left out: it is the same for every chain, and `choices` adds it once.

    Args:
        plan: Filters and Projects over the scan of `stream`.
    """
    sent = statistics.rate_hz(stream)
    computing_mj = 0.0
    for node in _upwards(plan):
        if isinstance(node, Filter):
            computing_mj += sent * operators(node.predicate) * OPERATOR_MJ
            sent *= _kept(node, statistics)
    way = _way(stream, row_bytes(plan.columns) - FRAME_BYTES, statistics.network)
    return Cost(
        sent * way.size_bytes,
        computing_mj + sent * way.energy_mj,
        way.lasts_ms + MICRO_BATCH_MS,
        sent,
    )


def _way(stream: str, payload_bytes: float, network: Network | None) -> RadioFrame:
    """Returns what bringing one row of a stream to the base takes, the mean over its sensors."""
    devices = () if network is None else network.of(stream)
    if network is None or not devices:
        return hop(payload_bytes).times(HOPS)
    ways = [network.to_base(device.mote, payload_bytes) for device in devices]
    return total(ways).times(1.0 / len(ways))


def rows_per_s(plan: Plan, stream: str, statistics: Statistics) -> float:
    """Returns the rows per second a chain lets through."""
    rate = statistics.rate_hz(stream)
    for node in _upwards(plan):
        if isinstance(node, Filter):
            rate *= _kept(node, statistics)
    return rate


def _upwards(plan: Plan) -> list[Plan]:
    chain = [plan]
    while children(chain[-1]):
        chain.append(children(chain[-1])[0])
    return chain[::-1]


def _kept(node: Filter, statistics: Statistics) -> float:
    scans = (one for one in _upwards(node) if isinstance(one, Scan))
    return statistics.kept(node.predicate, {one.alias: one.relation for one in scans}).value
