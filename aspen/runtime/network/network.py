"""QueryNetwork: N query nodes that keep one recursive view under changes of its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspen.provenance.bdd import new_manager
from aspen.provenance.manager import Manager
from aspen.runtime.collector import uncollected
from aspen.runtime.network.exchange import Exchange, Meter
from aspen.runtime.network.fact import Fact, Place, Value
from aspen.runtime.network.order import depth_first
from aspen.runtime.network.partition import (
    LAN_BANDWIDTH_BYTES_PER_S,
    LAN_LATENCY_S,
    Owner,
    by_hash,
)
from aspen.runtime.network.strategies import PATH_STRATEGIES, STRATEGIES


class QueryNetwork:
    """A view kept by N nodes.

    Args:
        strategy: a name of `STRATEGIES`, or of `PATH_STRATEGIES` for the view `path`.
        nodes: how many there are.
        owner: who owns which place; by hash when left out.
        latency_s: seconds between two nodes; a cluster's when left out.
        bandwidth_bytes_per_s: of each channel.
        ordered: whether a batch's variables are ordered depth first, instead of as they come.

    Law: after `insert` and `delete`, `rows()` is the closure of the live facts, and every node's
        state is empty when no fact is live.
    """

    def __init__(
        self,
        strategy: str,
        nodes: int,
        *,
        owner: Owner | None = None,
        latency_s: Callable[[int, int], float] | None = None,
        bandwidth_bytes_per_s: float = LAN_BANDWIDTH_BYTES_PER_S,
        ordered: bool = False,
    ) -> None:
        self.exchange = Exchange(latency_s or (lambda _a, _b: LAN_LATENCY_S), bandwidth_bytes_per_s)
        self.owner = owner or by_hash(nodes)
        self.manager: Manager = new_manager()
        self.variables: dict[Fact, int] = {}
        self._ordered = ordered
        make = {**STRATEGIES, **PATH_STRATEGIES}[strategy]
        self.peers = [
            make(node, nodes, self.owner, self.exchange, self.manager) for node in range(nodes)
        ]
        self.exchange.takers += self.peers

    @property
    def meter(self) -> Meter:
        """What has been sent and computed since `reset`."""
        return self.exchange.meter

    def reset(self) -> None:
        """Set the meter to zero."""
        self.exchange.meter = Meter()

    def insert(self, facts: Iterable[Fact]) -> float:
        """Add facts, all at once, and wait until the network rests.

        Returns:
            Seconds of virtual time it took, without computing.
        """
        news = [fact for fact in dict.fromkeys(facts) if fact not in self.variables]
        for fact in depth_first(news) if self._ordered else news:
            self.variables[fact] = self.manager.allocate()
        return self._converge("insert", news)

    def delete(self, facts: Iterable[Fact]) -> float:
        """Take facts away, all at once, and wait until the network rests.

        Returns:
            Seconds of virtual time it took, without computing.
        """
        gone = [fact for fact in dict.fromkeys(facts) if fact in self.variables]
        took_s = self._converge("delete", gone)
        for fact in gone:
            # Nothing mentions the variable any more: every channel is empty.
            self.manager.release(self.variables.pop(fact))
        return took_s

    def rows(self) -> set[tuple[Place, Value]]:
        """Give the view."""
        return {row for peer in self.peers for row in peer.rows()}

    def _converge(self, what: str, facts: Iterable[Fact]) -> float:
        began_s = self.exchange.now_s
        heard: dict[int, list[tuple[str, Fact, int]]] = {}
        for fact in facts:
            item = (what, fact, self.variables[fact])
            heard.setdefault(self.owner(fact.home), []).append(item)
        with uncollected():
            for node, items in heard.items():
                self.exchange.tell(node, items)
            self.exchange.run()
            while any(peer.unfinished() for peer in self.peers):
                for node in range(len(self.peers)):
                    self.exchange.tell(node, [("resume",)])
                self.exchange.run()
            for peer in self.peers:
                peer.finish()
        return self.exchange.now_s - began_s
