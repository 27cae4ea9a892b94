"""Exchange: FIFO channels between query nodes in virtual time, with a meter on every channel.

    node 0 ──turn──▸ packet ── latency + bytes / bandwidth ──▸ turn of node 1 ──▸ …

A turn takes in all packets that have arrived at one node at one instant, and sends at most one
packet per receiver. Virtual time does not include computing: that is measured, per node, so that
the order of events (hence every count) depends on nothing but the inputs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from time import thread_time
from typing import Any, Protocol

from aspen.errors import AspenError
from tests.experiments.network.sizes import PACKET_BYTES

Item = tuple[Any, ...]
"""(what it is, its contents …): one thing said to a node."""


class TurnedOut(AspenError):
    """A network that has not come to rest within its budget."""

    code = "aspen.network.no_convergence"


class Taker(Protocol):
    """Whoever takes items in: a query node."""

    def turn(self, items: Sequence[Item]) -> None:
        """Take in what has arrived at one instant, and send what follows from it."""
        ...


@dataclass(slots=True)
class Meter:
    """What has been sent and computed since the last `reset`.

    Args:
        bytes_from: per sending node.
        packets: messages, whatever they hold.
        items: contents of the messages by kind; one row, link or notice each.
        cpu_s: computing time per node.
    """

    bytes_from: Counter[int] = field(default_factory=Counter)
    packets: int = 0
    items: Counter[str] = field(default_factory=Counter)
    cpu_s: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def bytes(self) -> int:
        """Bytes sent by all nodes."""
        return sum(self.bytes_from.values())

    @property
    def cpu_total_s(self) -> float:
        """Computing time of all nodes: what one core needs."""
        return sum(self.cpu_s.values())

    @property
    def cpu_busiest_s(self) -> float:
        """Computing time of the node that computed longest."""
        return max(self.cpu_s.values(), default=0.0)


class Exchange:
    """All channels and the clock.

    Args:
        latency_s: seconds from one node to another; above 0.
        bandwidth_bytes_per_s: of each channel.
    """

    def __init__(
        self, latency_s: Callable[[int, int], float], bandwidth_bytes_per_s: float
    ) -> None:
        self.takers: list[Taker] = []
        self.now_s = 0.0
        self.meter = Meter()
        self.cpu_budget_s = float("inf")
        self._latency_s = latency_s
        self._bandwidth = bandwidth_bytes_per_s
        self._events: list[tuple[float, int, int, Sequence[Item]]] = []
        self._order = count()
        self._free_s: dict[tuple[int, int], float] = {}

    def send(self, sender: int, receiver: int, items: Sequence[Item], size_bytes: int) -> None:
        """Put one packet on a channel; packets of one channel arrive in the order sent."""
        total = size_bytes + PACKET_BYTES
        meter = self.meter
        meter.packets += 1
        meter.bytes_from[sender] += total
        for item in items:
            meter.items[item[0]] += 1
        channel = (sender, receiver)
        left_s = max(self.now_s, self._free_s.get(channel, 0.0)) + total / self._bandwidth
        self._free_s[channel] = left_s
        arrives_s = left_s + self._latency_s(sender, receiver)
        heappush(self._events, (arrives_s, next(self._order), receiver, items))

    def tell(self, node: int, items: Sequence[Item], at_s: float | None = None) -> None:
        """Let a node hear something from outside, or from its own alarm clock: no message."""
        when_s = self.now_s if at_s is None else max(at_s, self.now_s)
        heappush(self._events, (when_s, next(self._order), node, items))

    def run(self) -> None:
        """Deliver until every channel is empty.

        Raises:
            TurnedOut: the computing budget is used up.
        """
        events, meter = self._events, self.meter
        while events:
            now_s, _, node, items = heappop(events)
            self.now_s = now_s
            taken = list(items)
            while events and events[0][0] == now_s and events[0][2] == node:
                taken += heappop(events)[3]
            began_s = thread_time()
            self.takers[node].turn(taken)
            meter.cpu_s[node] += thread_time() - began_s
            if meter.cpu_total_s > self.cpu_budget_s:
                events.clear()
                raise TurnedOut(
                    f"the nodes have computed {self.cpu_budget_s:.0f} s and still send",
                    attempt="choose a strategy that ships less, such as absorption-lazy",
                )
