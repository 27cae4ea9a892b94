"""Costs of scans, joins and shipping, for all searches alike, in whole micro-units of one metric.

A cost is first bytes per second, mJ per second, ms of waiting and ms of processor time per second;
only `Metric` adds them. What a set of relations gives depends on the set alone, never on the plan,
so a cheaper way to it is as good in every plan above. Waiting adds up over operators, though two
children may wait side by side: a bound from above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce

from search_support.problem import Attribute, Member, Problem, Route, SearchSite

from aspen.motes.hardware import (
    BACKOFF_S,
    FRAME_BYTES,
    LONGEST_PAYLOAD_BYTES,
    RADIO_BITS_PER_S,
    SUPPLY_V,
)
from aspen.motes.protocol import BLOOM_BITS_PER_KEY, BLOOM_HASHES
from aspen.motes.radio import BYTE_S, OPERATOR_MJ, RX_MW
from federation.cost import Cost, Weights
from federation.radio import TX_MA
from federation.search.joins import MICRO
from federation.search.splits import JoinPartners

KEY_BYTES = 4
REFRESH_S = 10.0  # own choice: how often keys or a Bloom filter of a window are sent anew
BLOOM_FALSE = (1.0 - math.exp(-BLOOM_HASHES / BLOOM_BITS_PER_KEY)) ** BLOOM_HASHES
AIR_MJ_PER_BYTE = BYTE_S * (TX_MA * SUPPLY_V + RX_MW)
"""One byte over one link, sent and received."""
MERGE_TOUCH = 0.6  # own guess: stepping through sorted rows against probing a hash table; ±50 %


@dataclass(frozen=True, slots=True)
class Flow:
    """What a set of relations gives, joined.

    Args:
        rows: rows held at a time.
        rate_hz: rows that come per second.
        row_bytes: payload of a row.
    """

    rows: float
    rate_hz: float
    row_bytes: int

    def __str__(self) -> str:
        return f"{self.rows:.6g} rows, {self.rate_hz:.6g}/s of {self.row_bytes} B"


@dataclass(frozen=True, slots=True)
class Work:
    """What an operator takes: radio and waiting as `Cost`, processors beside it."""

    cost: Cost = field(default_factory=Cost)
    cpu_ms_per_s: float = 0.0

    def beside(self, other: Work) -> Work:
        """Add two; what waits for both waits for one after the other."""
        return Work(self.cost.after(other.cost), self.cpu_ms_per_s + other.cpu_ms_per_s)


def weighed(work: Work, metric: Weights) -> int:
    """Weigh work into one whole number, so that sums compare exactly."""
    total = metric.total(work.cost) + metric.cpu * work.cpu_ms_per_s
    return round(total * MICRO)


class Estimates:
    """Sizes of every set of relations; memoised.

    Source: System R's shares; within a class of equal columns, one over every count of distinct
    values but the least [Selinger et al., SIGMOD 1979].
    """

    def __init__(self, problem: Problem, graph: JoinPartners) -> None:
        self.graph = graph
        self.classes = classes(problem)
        self.members = {one.alias: one for one in problem.members}
        self.thetas = [
            (graph.bit[one.left] | graph.bit[one.right], one.share)
            for one in sorted(problem.thetas, key=lambda o: (*sorted((o.left, o.right)), o.share))
        ]
        self._flows: dict[int, Flow] = {}

    def flow(self, m: int) -> Flow:
        """Returns what a set of relations gives (Fn_nonscansummary, Fn_scansummary)."""
        if m not in self._flows:
            self._flows[m] = self._estimate(m)
        return self._flows[m]

    def _estimate(self, m: int) -> Flow:
        held = [self.members[alias] for alias in self.graph.members(m)]
        kept = math.prod(share for pair, share in self.thetas if pair & m == pair)
        for columns in self.classes.values():
            counts = sorted(self._counts(columns, m).values())
            kept /= math.prod(counts[1:])
        rows = reduce(lambda product, one: product * one.rows, held, kept)
        rate_hz = math.fsum(one.rate_hz * rows / one.rows for one in held)
        return Flow(rows, rate_hz, sum(one.row_bytes for one in held))

    def _counts(self, columns: tuple[Attribute, ...], m: int) -> dict[str, float]:
        counts: dict[str, float] = {}
        for column in columns:
            if self.graph.bit[column.alias] & m:
                member = self.members[column.alias]
                count = dict(member.distinct).get(column.column, member.rows)
                counts[column.alias] = max(counts.get(column.alias, 1.0), min(count, member.rows))
        return counts

    def shared(self, left: int, right: int) -> tuple[str, ...]:
        """Returns the classes of columns that are equal across two sets."""
        held = {n: self.graph.set_of(a.alias for a in of) for n, of in self.classes.items()}
        return tuple(name for name, m in held.items() if m & left and m & right)

    def values(self, name: str, m: int) -> float:
        """Returns the distinct values a class of columns has in a set."""
        return min(self._counts(self.classes[name], m).values())

    def matching(self, keys: int, reduced: int) -> float:
        """Returns the part of one set's rows that have a partner among another's keys, 0 to 1."""
        shared = self.shared(keys, reduced)
        return math.prod(min(1.0, self.values(n, keys) / self.values(n, reduced)) for n in shared)


def scanning(member: Member, site: SearchSite) -> Work:
    """Read a relation where it is at home."""
    return _touching(member.rate_hz, site)


def shipping(rate_hz: float, row_bytes: float, route: Route) -> Work:
    """Send rows along a route, one frame per row if they fit."""
    frames = max(1, math.ceil(row_bytes / LONGEST_PAYLOAD_BYTES))
    on_air = row_bytes + frames * FRAME_BYTES
    bytes_per_s = rate_hz * on_air * max(route.radio_hops, 1.0)
    radio_bytes_per_s = rate_hz * on_air * route.radio_hops
    hop_ms = frames * BACKOFF_S * 1000 + on_air * 8 * 1000 / RADIO_BITS_PER_S
    energy_mj_per_s = radio_bytes_per_s * AIR_MJ_PER_BYTE
    return Work(Cost(bytes_per_s, energy_mj_per_s, route.radio_hops * hop_ms + route.wired_ms))


def joining(left: Flow, right: Flow, out: Flow, site: SearchSite) -> Work:
    """Join two streams where both are: by hashing, or with every row of the other side."""
    if site.hashes:
        touched = left.rate_hz + right.rate_hz + out.rate_hz
    else:
        touched = left.rate_hz * right.rows + right.rate_hz * left.rows + out.rate_hz
    return _touching(touched, site)


def merging(left: Flow, right: Flow, out: Flow, site: SearchSite) -> Work:
    """Join two streams kept in the order of the joined column."""
    return _touching(MERGE_TOUCH * (left.rate_hz + right.rate_hz) + out.rate_hz, site)


def sorting(flow: Flow, site: SearchSite) -> Work:
    """Keep a stream's window in order."""
    return _touching(flow.rate_hz * math.log2(flow.rows + 2), site)


def semi(
    keys: float, reduced: Flow, part: float, there: Route, back: Route, far: SearchSite
) -> Work:
    """Send one side's keys to the other's site and only the rows with a partner back."""
    sent = shipping(1 / REFRESH_S, keys * KEY_BYTES, there)
    return sent.beside(_reducing(reduced, part, back, far))


def bloom(
    keys: float, reduced: Flow, part: float, there: Route, back: Route, far: SearchSite
) -> Work:
    """Send a Bloom filter instead of keys; some rows come back without a partner."""
    sent = shipping(1 / REFRESH_S, math.ceil(keys * BLOOM_BITS_PER_KEY / 8), there)
    return sent.beside(_reducing(reduced, part + (1 - part) * BLOOM_FALSE, back, far))


def _reducing(reduced: Flow, part: float, back: Route, far: SearchSite) -> Work:
    held_back = _touching(reduced.rate_hz, far)
    return held_back.beside(shipping(reduced.rate_hz * part, reduced.row_bytes, back))


def _touching(rows_per_s: float, site: SearchSite) -> Work:
    energy_mj_per_s = rows_per_s * OPERATOR_MJ if site.battery else 0.0
    return Work(Cost(energy_mj_per_s=energy_mj_per_s), rows_per_s * site.row_us / 1000)


def join_graph(problem: Problem) -> JoinPartners:
    """Returns who joins with whom; with those that follow by transitivity, if the problem says."""
    joined = [{one.left, one.right} for one in problem.thetas]
    if problem.closure:
        joined += [{a.alias for a in of} for of in classes(problem).values()]
    else:
        joined += [{one.left.alias, one.right.alias} for one in problem.equalities]
    return JoinPartners((one.alias for one in problem.members), joined)


def classes(problem: Problem) -> dict[str, tuple[Attribute, ...]]:
    """Put columns that must be equal into one class, named after its first column.

    Source: equivalence classes of columns give the edges that follow by transitivity
        [Liu, Ives and Loo, SIGMOD 2016, section 6.2: CUSTOMER with REGION and NATION].
    """
    of: dict[Attribute, set[Attribute]] = {}
    for equality in problem.equalities:
        merged = of.get(equality.left, {equality.left}) | of.get(equality.right, {equality.right})
        for one in merged:
            of[one] = merged
    named = {str(min(members)): tuple(sorted(members)) for members in of.values()}
    return dict(sorted(named.items()))
