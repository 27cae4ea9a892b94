"""QueryNetwork: N query nodes that keep one recursive view under changes of its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import thread_time

from aspen.provenance.bdd import Bdd
from aspen.runtime.collector import uncollected
from tests.dfs_order import DepthFirstOrder, arrange
from tests.experiments.network.exchange import Exchange, Meter
from tests.experiments.network.fact import Fact, Value, Vertex
from tests.experiments.network.partition import (
    LAN_BANDWIDTH_BYTES_PER_S,
    LAN_LATENCY_S,
    Owner,
    by_hash,
)
from tests.experiments.network.strategies import PATH_STRATEGIES, STRATEGIES

REARRANGE_SHARE = 0.1
"""Variables that come or go, over all, before the diagrams follow the order. Moving them costs
80 ms where a link's insertion costs 13 ms (400 links, dense)."""


class QueryNetwork:
    """A view kept by N nodes.

    Args:
        strategy: a name of `STRATEGIES`, or of `PATH_STRATEGIES` for the view `path`.
        nodes: how many there are.
        owner: who owns which vertex; by hash when left out.
        latency_s: seconds between two nodes; a cluster's when left out.
        bandwidth_bytes_per_s: of each channel.
        ordered: whether variables are kept in depth-first order, instead of as they come, where
            annotations are diagrams.

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
        ordered: bool = True,
    ) -> None:
        self.exchange = Exchange(latency_s or (lambda _a, _b: LAN_LATENCY_S), bandwidth_bytes_per_s)
        self.owner = owner or by_hash(nodes)
        self.manager = Bdd()
        self.variables: dict[Fact, int] = {}
        make = {**STRATEGIES, **PATH_STRATEGIES}[strategy]
        self.peers = [
            make(node, nodes, self.owner, self.exchange, self.manager) for node in range(nodes)
        ]
        self.exchange.takers += self.peers
        self._drift = 0
        diagrams = self.peers[0].diagrams
        self.order: DepthFirstOrder[Fact] | None = (
            DepthFirstOrder() if ordered and diagrams else None
        )

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
        for fact in news:
            self.variables[fact] = self.manager.allocate()
            if self.order is not None:
                self.order.add(fact, fact.edges)
        self._drift += len(news)
        self._arrange()
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
            if self.order is not None:
                self.order.remove(fact)
        self._drift += len(gone)
        return took_s

    def rows(self) -> set[tuple[Vertex, Value]]:
        """Returns the view."""
        return {row for peer in self.peers for row in peer.rows()}

    def _arrange(self) -> None:
        """Move the variables to their levels; one server's work, charged to the first node.

        The walk's first edges come lowest: a step of the recursion puts an edge in front of a
        path, whose function then stays whole, and is shared with the row of the path itself.
        """
        if self.order is None or self._drift < REARRANGE_SHARE * len(self.variables):
            return
        self._drift = 0
        began_s = thread_time()
        variables = [self.variables[fact] for fact in self.order.items()]
        arrange(self.manager, variables[::-1])
        self.meter.cpu_s[0] += thread_time() - began_s

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
